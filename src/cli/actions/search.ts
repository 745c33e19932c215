import type { SearchReport } from '../../app/contract/archive-reports.ts';
import { chooseEmbeddingIfAny } from '../choose-embedding.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { SearchInvocation } from '../invocation.ts';
import { readQueryGroups } from '../query-lines.ts';
import { renderFailure } from '../render/failure.ts';
import { reportJson } from '../render/json-lines.ts';
import { noArchive } from '../render/no-archive.ts';
import { safeText } from '../render/safe-text.ts';
import { clipText } from '../render/width.ts';
import { type CommandRequest, inSession, type Session, type Stage } from '../session.ts';

export async function runSearch(stage: Stage, invocation: SearchInvocation): Promise<ExitCode> {
  const request: CommandRequest = {
    ...invocation,
    format: null,
    command: 'compact search',
    needs: ['archive'],
    wants: invocation.order === 'best' ? ['embedding'] : [],
    endsWithStdout: true,
  };
  return inSession(stage, request, async (session) => {
    if (invocation.order === 'best') {
      await chooseEmbeddingIfAny(session, { instead: 'search is by words alone' });
    }
    return invocation.query === '-' ? answerLines(session, invocation) : answerOne(session, invocation);
  });
}

async function answerOne(session: Session, invocation: SearchInvocation): Promise<ExitCode> {
  const { voice, useCases, settings } = session;
  const found = await useCases.searchArchive(invocation);
  if (!found.ok) {
    voice.error(renderFailure(found.error));
    return EXIT_CODES.failed;
  }
  const report = found.value;
  if (invocation.manner.json) voice.answerPiece(reportJson(report));
  else {
    const { renderSearchReport } = await import('../render/search.ts');
    const isVerbose = invocation.manner.verbosity === 'verbose';
    const { answerTheme: theme, answerWidthColumns: widthColumns } = voice;
    voice.answer(renderSearchReport(report, { theme, widthColumns, isVerbose }));
  }
  if (report.archive === null) voice.report([noArchive(settings.archive.path)]);
  else if (report.hits.length === 0) voice.report([`${clipText(safeText(report.query), 60)}: nothing found.`]);
  return EXIT_CODES.done;
}

/** A line of JSON for every line that comes in, as soon as it is known: who asks waits for it before asking again. */
async function answerLines(session: Session, invocation: SearchInvocation): Promise<ExitCode> {
  const { voice, useCases, settings, terminal } = session;
  let hasFailed = false;
  let hasToldOfNone = false;
  const answer = async (query: string, upcoming: readonly string[]): Promise<void> => {
    const found = await useCases.searchArchive({ ...invocation, query, upcoming });
    const report = found.ok ? found.value : withoutAnswer(query, renderFailure(found.error));
    voice.answerPiece(reportJson(report));
    if (!found.ok) {
      voice.error(renderFailure(found.error));
      hasFailed = true;
    } else if (report.archive === null && !hasToldOfNone) {
      voice.report([noArchive(settings.archive.path)]);
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
