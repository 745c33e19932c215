import { addAbortSignal, type Readable } from 'node:stream';
import type { SearchReport } from '../../app/contract/archive-reports.ts';
import type { SearchRequest } from '../../app/contract/requests.ts';
import { parseCount, parseSince, parseUntil } from '../../config/quantity.ts';
import type { Role } from '../../core/message.ts';
import { createEmbeddingsIfAny } from '../create-services.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { CommonRequest } from '../invocation.ts';
import { renderFailure } from '../render/failure.ts';
import { clipText, reportJson, safeText } from '../render/text.ts';
import { noArchive } from '../render/problems.ts';
import type { CliContext, CommandRequest, Session } from '../session.ts';
import type { Embeddings } from '../../compose/services.ts';
import { defineCommand, inSession } from './command.ts';
import { OUTPUT_FLAGS, readOutputOptions, readSettings, readSource, readTime, SETTINGS_FLAGS } from './options.ts';

/** `query` '-': one query per line on standard input. */
export type SearchInvocation = CommonRequest &
  SearchRequest & {
    readonly kind: 'search';
    /** Search captured files instead of what compactions archived. */
    readonly isCaptured: boolean;
  };

const DEFAULT_LIMIT = 10;
const ROLES = ['user', 'assistant', 'system', 'tool'] as const satisfies readonly Role[];

export const searchCommand = defineCommand({
  operands: { syntax: '<query...>', description: 'words or any text; or - for one query per line on standard input' },
  flags: [
    { flags: '--messages', description: 'messages only', conflicts: 'batches' },
    { flags: '--batches', description: 'summaries only' },
    { flags: '--conversation <id>', description: 'only from this conversation' },
    { flags: '--role <role>', description: 'only messages of this role', choices: ROLES, conflicts: 'batches' },
    {
      flags: '--since <time>',
      description: 'only what was said since this day (2026-03-02) or time (2026-03-02T09:30Z)',
      parse: parseSince,
    },
    {
      flags: '--until <time>',
      description: 'only what was said until this day, or before this time',
      parse: parseUntil,
    },
    { flags: '--source <file>', description: 'only from this transcript: a path, or the end of one' },
    {
      flags: '--captures',
      description: 'search captured transcripts instead (slower: they have no index)',
      conflicts: ['messages', 'batches', 'conversation', 'newest'],
    },
    { flags: '--limit <n>', description: `at most this many results (${DEFAULT_LIMIT})`, parse: parseCount },
    { flags: '--newest', description: 'most recently archived first, instead of best first' },
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    ['compact search parser config', 'finds messages and summaries with any of these words'],
    ['compact search --messages --since 7d "why port 8080?"', 'searches messages of the last week'],
  ],
  read: ({ options, args }): SearchInvocation => ({
    kind: 'search',
    query: args.join(' '),
    isCaptured: options.captures === true,
    conversation: options.conversation ?? null,
    role: options.role ?? null,
    since: readTime(options.since),
    until: readTime(options.until),
    source: readSource(options),
    kinds: options.messages === true ? 'messages' : options.batches === true ? 'batches' : 'all',
    order: options.newest === true ? 'newest' : 'best',
    limit: options.limit ?? DEFAULT_LIMIT,
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict: ({ query, isCaptured }) =>
    isCaptured && query === '-' ? '--captures takes one query, not standard input (-)' : null,
  run,
});

async function run(context: CliContext, invocation: SearchInvocation): Promise<ExitCode> {
  const isByMeaning = invocation.order === 'best' && !invocation.isCaptured;
  const request: CommandRequest = {
    ...invocation,
    format: null,
    command: 'compact search',
    needs: ['archive'],
    wants: isByMeaning ? ['embedding'] : [],
    endsWithStdout: true,
  };
  return inSession(context, request, async (session) => {
    if (invocation.isCaptured) return answerCaptured(session, invocation);
    const instead = 'this search uses words only';
    const embeddings = isByMeaning ? await createEmbeddingsIfAny(session, { instead }) : null;
    const request = { ...invocation, embeddings };
    return invocation.query === '-' ? answerLines(session, request) : answerOne(session, request);
  });
}

async function answerCaptured(session: Session, invocation: SearchInvocation): Promise<ExitCode> {
  const { reporter, useCases } = session;
  const found = await useCases.searchCaptured(invocation, reporter.progress);
  if (!found.ok) {
    if (found.error.kind !== 'interrupted') reporter.error(renderFailure(found.error));
    return EXIT_CODES.failed;
  }
  if (invocation.outputOptions.json) reporter.answerPiece(reportJson(found.value));
  else {
    const { renderCapturedHits } = await import('../render/search.ts');
    const { answerTheme: theme, answerWidthColumns: widthColumns } = reporter;
    reporter.answer(renderCapturedHits(found.value, { theme, widthColumns }));
  }
  reportNothing(session, found.value);
  return EXIT_CODES.done;
}

function reportNothing(
  { reporter, settings }: Session,
  { archive, hits, query }: Pick<SearchReport, 'archive' | 'query'> & { readonly hits: readonly unknown[] },
): void {
  if (archive === null) reporter.report([noArchive(settings.archive.path)]);
  else if (hits.length === 0) reporter.report([`${clipText(safeText(query), 60)}: nothing found.`]);
}

type Search = SearchInvocation & { readonly embeddings: Embeddings | null };

async function answerOne(session: Session, invocation: Search): Promise<ExitCode> {
  const { reporter, useCases } = session;
  const found = await useCases.searchArchive(invocation);
  if (!found.ok) {
    reporter.error(renderFailure(found.error));
    return EXIT_CODES.failed;
  }
  const report = found.value;
  if (invocation.outputOptions.json) reporter.answerPiece(reportJson(report));
  else {
    const { renderSearchReport } = await import('../render/search.ts');
    const isVerbose = invocation.outputOptions.verbosity === 'verbose';
    const { answerTheme: theme, answerWidthColumns: widthColumns } = reporter;
    reporter.answer(renderSearchReport(report, { theme, widthColumns, isVerbose }));
  }
  reportNothing(session, report);
  return EXIT_CODES.done;
}

/** Prints one line of JSON for each input line as soon as it is known: the caller waits for it before the next query. */
async function answerLines(session: Session, invocation: Search): Promise<ExitCode> {
  const { reporter, useCases, settings, terminal } = session;
  let hasFailed = false;
  let hasToldOfNone = false;
  const answer = async (query: string, upcoming: readonly string[]): Promise<void> => {
    const found = await useCases.searchArchive({ ...invocation, query, upcoming });
    const report = found.ok ? found.value : withoutAnswer(query, renderFailure(found.error));
    reporter.answerPiece(reportJson(report));
    if (!found.ok) {
      reporter.error(renderFailure(found.error));
      hasFailed = true;
    } else if (report.archive === null && !hasToldOfNone) {
      reporter.report([noArchive(settings.archive.path)]);
      hasToldOfNone = true;
    }
  };
  for await (const queries of readQueryGroups(terminal.stdin.open(), terminal.signal)) {
    for (const [at, query] of queries.entries()) {
      await answer(query, queries.slice(at + 1));
      if (terminal.stdout.isClosed() || terminal.signal.aborted) break;
    }
    if (terminal.stdout.isClosed()) break;
  }
  return hasFailed ? EXIT_CODES.failed : EXIT_CODES.done;
}

function withoutAnswer(query: string, error: string): SearchReport {
  return { schema: 'compact/search@1', query, hits: [], archive: null, error };
}

const LF = 0x0a;
/** Anything longer is cut off: no query is a megabyte long. */
const MAX_LINE_BYTES = 1024 * 1024;

/** At most this many lines wait to be searched together. */
const MAX_GROUP = 64;

/**
 * Yields lines as soon as they arrive, in the groups in which they arrive, without LF or CRLF; a last line without an ending counts. Ends
 * quietly when it is interrupted.
 */
export async function* readQueryGroups(
  source: Readable,
  signal: AbortSignal,
  maxLineBytes = MAX_LINE_BYTES,
): AsyncGenerator<readonly string[]> {
  let pieces: Buffer[] = [];
  let keptBytes = 0;
  const keep = (piece: Buffer): void => {
    const kept = piece.subarray(0, maxLineBytes - keptBytes);
    if (kept.length > 0) pieces.push(kept);
    keptBytes += kept.length;
  };
  const take = (): string => {
    const line = Buffer.concat(pieces).toString();
    pieces = [];
    keptBytes = 0;
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  };
  try {
    for await (const data of addAbortSignal(signal, source)) {
      const chunk: Buffer = Buffer.isBuffer(data) ? data : Buffer.from(String(data));
      let start = 0;
      let group: string[] = [];
      for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
        keep(chunk.subarray(start, end));
        start = end + 1;
        group.push(take());
        if (group.length < MAX_GROUP) continue;
        yield group;
        group = [];
      }
      if (group.length > 0) yield group;
      keep(chunk.subarray(start));
    }
    if (keptBytes > 0) yield [take()];
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
