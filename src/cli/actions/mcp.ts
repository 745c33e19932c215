import { createOutage } from '../../app/search/embeddings/query-vectors.ts';
import { ok, type Result } from '../../core/result.ts';
import { chooseEmbeddingIfAny } from '../choose-embedding.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from '../exit-codes.ts';
import type { McpInvocation } from '../invocation.ts';
import { type AllowedFolder, resolveFolder } from '../mcp/allowed-path.ts';
import { createCompactContext } from '../mcp/compact-context.ts';
import { writeInstructions } from '../mcp/instructions.ts';
import { createMemoryExpand } from '../mcp/memory-expand.ts';
import { createMemoryRead } from '../mcp/memory-read.ts';
import { readPackageVersion } from '../package-version.ts';
import { renderBug } from '../render/bug.ts';
import { renderFailure } from '../render/failure.ts';
import { safeText } from '../render/safe-text.ts';
import { inSession, type Session, type Stage } from '../session.ts';
import type { UseCases } from '../use-cases.ts';

export async function runMcp(stage: Stage, invocation: McpInvocation): Promise<ExitCode> {
  return inSession(stage, { ...invocation, format: null, command: 'compact mcp', needs: [] }, async (session) => {
    const { terminal, voice, openUseCases, settings } = session;
    const folders: AllowedFolder[] = [];
    for (const folder of invocation.folders) {
      const resolved = resolveFolder(folder, terminal.surroundings.workingFolder);
      if (!resolved.ok) return session.refuse(renderFailure({ kind: 'file', failure: resolved.error }));
      folders.push(resolved.value);
    }
    const { scope, masksSecrets } = invocation;
    const choose = async (useCases: UseCases): Promise<Result<readonly string[], string>> =>
      masksSecrets ? useCases.chooseMask(settings.privacy.redact_rules) : ok([]);
    const masking = await choose(session.useCases);
    if (!masking.ok) return session.refuse(masking.error);
    voice.report(masking.value.map(safeText));
    const openMasked = async (signal: AbortSignal): Promise<UseCases> => {
      const useCases = openUseCases(signal);
      const chosen = await choose(useCases);
      if (chosen.ok) return useCases;
      useCases.close();
      throw new Error(chosen.error);
    };
    if (terminal.stdin.kind === 'terminal') voice.report([AT_A_TERMINAL]);
    // The protocol's library takes a while to load, and no other command needs it.
    const { serve } = await import('../mcp/serve.ts');
    const outage = createOutage();
    await serve({
      input: terminal.stdin.open(),
      write: (line) => {
        voice.answerPiece(line);
        return !terminal.stdout.isClosed();
      },
      signal: terminal.signal,
      notice: (sentence) => voice.report([`compact mcp: ${safeText(sentence)}`]),
      version: readPackageVersion(),
      instructions: writeInstructions({ ...invocation, folders }),
      tools: [
        createMemoryRead({
          openUseCases: openMasked,
          chooseEmbedding: (useCases) =>
            chooseEmbeddingIfAny({ ...session, useCases }, { instead: 'search is by words alone', outage }),
          asksService: settings.embedding.provider !== null,
          archivePath: settings.archive.path,
          scope,
        }),
        createMemoryExpand(openMasked, scope),
        createCompactContext({ session, invocation, folders }),
      ],
      onBug: (error) => tellOfBug(session, error),
    });
    return terminal.signal.aborted ? interruptionCode(terminal.signal) : EXIT_CODES.done;
  });
}

const AT_A_TERMINAL =
  'compact mcp speaks with a program on standard input, not with a person: add it to an agent as an MCP server (the README says how). Ctrl-C ends it.';

function tellOfBug({ voice }: Session, error: unknown): string {
  voice.error(renderBug(error).trimEnd());
  return 'This is a bug in compact; the lines for a report are in the log of the server.';
}
