import { EXIT_CODES, type ExitCode, interruptionCode } from '../exit-codes.ts';
import { renderExport, renderMerge, renderUncollected } from '../render/exchange.ts';
import { renderFailure } from '../render/failure.ts';
import { reportJson } from '../render/json-lines.ts';
import type { Session } from '../session.ts';
import type { ArchiveInvocation } from './archive-line.ts';

/** Merges, exports and imports archives. */
export async function runExchange(session: Session, invocation: ArchiveInvocation): Promise<ExitCode> {
  return invocation.action === 'export' ? runExport(session, invocation) : runMerge(session, invocation);
}

async function runExport(
  { reporter, terminal, useCases }: Session,
  { selectors, export: { jsonl, parquet, since, until }, outputOptions }: ArchiveInvocation,
): Promise<ExitCode> {
  const filter = {
    conversation: selectors.flatMap((one) => (one.kind === 'conversation' ? one.id : []))[0] ?? null,
    source: selectors.flatMap((one) => (one.kind === 'source' ? one.glob : []))[0] ?? null,
    since,
    until,
  };
  const exported = await useCases.exportArchive({
    folder: parquet ?? jsonl ?? '',
    encoding: parquet === null ? 'jsonl' : 'parquet',
    filter,
  });
  if (!exported.ok) {
    if (exported.error.kind === 'interrupted') return interruptionCode(terminal.signal);
    reporter.error(renderFailure(exported.error));
    return EXIT_CODES.failed;
  }
  if (outputOptions.json) reporter.answerPiece(reportJson(exported.value));
  else if (outputOptions.verbosity !== 'quiet') reporter.answer([renderExport(exported.value)]);
  return EXIT_CODES.done;
}

async function runMerge(
  { reporter, terminal, useCases }: Session,
  { action, operands, maxLineBytes, outputOptions }: ArchiveInvocation,
): Promise<ExitCode> {
  const merged =
    action === 'import'
      ? await useCases.importArchive({ folder: operands[0] ?? '', maxLineBytes })
      : await useCases.mergeArchives({ others: operands });
  if (!merged.ok) {
    if (merged.error.kind === 'interrupted') return interruptionCode(terminal.signal);
    reporter.error(renderFailure(merged.error));
    return EXIT_CODES.failed;
  }
  reporter.report(renderUncollected(merged.value));
  if (outputOptions.json) reporter.answerPiece(reportJson(merged.value));
  else if (outputOptions.verbosity !== 'quiet') reporter.answer(renderMerge(merged.value, reporter.answerTheme));
  return EXIT_CODES.done;
}
