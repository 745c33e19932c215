import { createOutage } from '../../app/search/embeddings/query-vectors.ts';
import type { Created, Mask } from '../../compose/services.ts';
import type { UseCases } from '../../compose/use-cases.ts';
import { parseSince } from '../../config/quantity.ts';
import { ok, type Result } from '../../core/result.ts';
import { defineCommand, EXIT_CODES } from '../line/command.ts';
import { ARCHIVE_FLAG, CONFIG_FLAG, LOG_FLAG, MAX_UNPACKED_FLAG, readSource, readTime } from '../line/flags.ts';
import { createCompactContext, resolveFolders } from '../mcp/compact-context.ts';
import { createMemoryExpand } from '../mcp/memory-expand.ts';
import { createMemoryRead } from '../mcp/memory-read.ts';
import { writeInstructions } from '../mcp/scope.ts';
import { readPackageVersion } from '../../system/package-version.ts';
import { renderBug } from '../../messages/problems.ts';
import { safeText } from '../../messages/text.ts';
import { createEmbeddingsIfAny } from '../runs/services.ts';

export const command = defineCommand({
  operands: { syntax: '[folder...]', description: 'where compact_context may compact transcripts' },
  flags: [
    {
      flags: '--allow-compact',
      description: 'offer the tool compact_context, which compacts transcripts in these folders',
    },
    {
      flags: '--source <file>',
      description: 'show only what was archived from this transcript: a path, or the end of one (default: everything)',
    },
    {
      flags: '--since <time>',
      description:
        'show only what was said since this day (2026-03-02) or time (2026-03-02T09:30Z) (default: everything)',
      parse: parseSince,
    },
    { flags: '--redact', description: 'mask secrets in what is shown (by default nothing is masked)' },
    MAX_UNPACKED_FLAG,
    CONFIG_FLAG,
    ARCHIVE_FLAG,
    { flags: '-q, --quiet', description: 'errors only, on stderr', conflicts: 'verbose' },
    { flags: '-v, --verbose', description: 'print more details, on stderr' },
    LOG_FLAG,
  ],
  examples: [
    ['compact mcp', 'serves standard input and output; agents start it'],
    ['claude mcp add --scope user compact -- compact mcp', 'adds it to Claude Code'],
  ],
  fix: ({ outputOptions, settings }) => ({
    // stdout is for the protocol only, and the client does not show colors.
    outputOptions: { ...outputOptions, json: false, color: 'never', showProgress: false },
    // Clients start the server in any folder, and nobody reads its messages.
    settings: { ...settings, project: 'ignored' },
  }),
  findConflict: ({ operands, options }) =>
    options.allowCompact === true && operands.length === 0
      ? '--allow-compact needs the folders whose transcripts may be compacted'
      : null,
  session: { needs: [] },
  run: async (session, { operands, options }) => {
    const { terminal, reporter, openUseCases, settings } = session;
    const allowed = resolveFolders(operands, terminal.host.workingFolder);
    if (!allowed.ok) return session.refuse(allowed.error);
    const folders = options.allowCompact === true ? allowed.value : null;
    const { redact: masksSecrets = false } = options;
    const scope = { source: readSource(options), since: readTime(options.since) };
    const createMask = async (useCases: UseCases): Promise<Result<Created<Mask> | null, string>> =>
      masksSecrets ? useCases.createMask(settings.privacy.redact_rules) : ok(null);
    const firstMask = await createMask(session.useCases);
    if (!firstMask.ok) return session.refuse(firstMask.error);
    reporter.report((firstMask.value?.warnings ?? []).map(safeText));
    const openMasked = async (signal: AbortSignal): Promise<UseCases> => {
      const useCases = openUseCases(signal);
      const mask = await createMask(useCases);
      if (mask.ok) return mask.value === null ? useCases : withMask(useCases, mask.value.value);
      await useCases.close();
      throw new Error(mask.error);
    };
    if (terminal.stdin.kind === 'terminal') reporter.report([AT_A_TERMINAL]);
    // The protocol's library is slow to load, and only this command needs it.
    const { serve } = await import('../mcp/serve.ts');
    const outage = createOutage();
    const ending = new AbortController();
    const indexing =
      settings.archive.index === 'never'
        ? null
        : indexAside(openUseCases(AbortSignal.any([terminal.signal, ending.signal])));
    await serve({
      input: terminal.stdin.open(),
      write: (line) => {
        reporter.answerPiece(line);
        return !terminal.stdout.isClosed();
      },
      signal: terminal.signal,
      notice: (sentence) => reporter.report([`compact mcp: ${safeText(sentence)}`]),
      version: readPackageVersion(),
      instructions: writeInstructions(scope, { masksSecrets, folders }),
      tools: [
        createMemoryRead({
          openUseCases: openMasked,
          createEmbeddings: (useCases) =>
            createEmbeddingsIfAny({ ...session, useCases }, { instead: 'this search uses words only', outage }),
          asksService: settings.embedding.provider !== null,
          archivePath: settings.archive.path,
          scope,
        }),
        createMemoryExpand(openMasked, scope),
        createCompactContext(session, folders),
      ],
      onBug: (error) => {
        reporter.error(renderBug(error).trimEnd());
        return 'This is a bug in compact; the details for a report are in the log of the server.';
      },
    });
    ending.abort();
    await indexing;
    return EXIT_CODES.done;
  },
});

/** Brings the search index up to date while the first calls come in. A call tells what is wrong with the archive. */
async function indexAside(useCases: UseCases): Promise<void> {
  try {
    await useCases.indexArchive({ maxBytes: null });
  } finally {
    await useCases.close();
  }
}

/** Use cases that mask secrets in everything they show. */
function withMask(useCases: UseCases, mask: Mask): UseCases {
  return {
    ...useCases,
    searchArchive: (request) => useCases.searchArchive({ ...request, mask }),
    showArchived: (request) => useCases.showArchived({ ...request, mask }),
    showOriginals: (request, onLine) => useCases.showOriginals({ ...request, mask }, onLine),
  };
}

const AT_A_TERMINAL =
  'compact mcp expects an agent on standard input, not a person: add it to your agent as an MCP server (docs/agents.md shows how). Ctrl-C ends it.';
