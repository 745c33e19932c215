import { resolve } from 'node:path';
import { gatherInputs, type InputLine } from '../../inputs/gather.ts';
import { countOf, formatCount } from '../../../messages/quantities.ts';
import { reportJson } from '../../../messages/text.ts';
import { renderQueue } from '../../render/batch.ts';
import type { WorkAddReport, WorkRetryReport } from '../../reports.ts';
import type { Session } from '../../session.ts';
import { EXIT_CODES, type ExitCode } from '../../terminal/exit-codes.ts';
import { createJob, fileOfJob, type JobOptions } from './job-data.ts';

/** Adds a job for each transcript, with these options. */
export async function addJobs(session: Session, line: InputLine, options: JobOptions): Promise<ExitCode> {
  const gathered = await gatherInputs(session, line, { skipsCompacted: true });
  if (typeof gathered === 'number') return gathered;
  const { workingFolder } = session.terminal.host;
  const jobs = gathered.inputs.map(({ path, isNamed }) =>
    createJob({ path: resolve(workingFolder, path), isNamed }, options),
  );
  const added = await session.useCases.addJobs(jobs);
  if (!added.ok) return session.fail(added.error);
  const known = jobs.length - added.value;
  const rest = known === 0 ? '' : `; ${formatCount(known)} had an open job already`;
  const report: WorkAddReport = { schema: 'compact/work-add@1', added: added.value, known };
  tell(session, report, `${countOf(added.value, 'job')} added${rest}.`);
  return gathered.failures.length > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}

/** Puts the failed jobs back. */
export async function retryJobs(session: Session): Promise<ExitCode> {
  const retried = await session.useCases.retryJobs();
  if (!retried.ok) return session.fail(retried.error);
  const report: WorkRetryReport = { schema: 'compact/work-retry@1', retried: retried.value };
  tell(session, report, `${countOf(retried.value, 'failed job')} put back.`);
  return EXIT_CODES.done;
}

function tell({ reporter, asked }: Session, report: object, sentence: string): void {
  if (asked.outputOptions.json) reporter.answerPiece(reportJson(report));
  else reporter.report([sentence]);
}

/** Exit code 1 if any job failed. */
export async function showQueue(session: Session): Promise<ExitCode> {
  const { reporter, useCases, asked } = session;
  const read = await useCases.readQueue(fileOfJob);
  if (!read.ok) return session.fail(read.error);
  if (!read.value.exists && !asked.outputOptions.json)
    reporter.report(["There is no queue yet. 'compact work --add' creates one."]);
  else session.answer(read.value, () => renderQueue(read.value, reporter.answerTheme));
  return read.value.failed > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}
