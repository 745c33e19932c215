import { reportJson } from '../../render/text.ts';
import { noArchive } from '../../render/problems.ts';
import type { Session } from '../../session.ts';
import type { Line } from '../../line/line.ts';

/** Prints the report of an action, and says if there is no archive yet. */
export function answer<T extends { readonly archive: string | null }>(
  { reporter, settings }: Session,
  { outputOptions }: Line,
  report: T,
  render: (report: T) => readonly string[],
): void {
  if (outputOptions.json) reporter.answerPiece(reportJson(report));
  else reporter.answer(render(report));
  if (report.archive === null) reporter.report([noArchive(settings.archive.path)]);
}
