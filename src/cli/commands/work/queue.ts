import { createHash } from 'node:crypto';
import { isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { err, ok, type Result } from '../../../core/result.ts';
import { countOf, formatCount } from '../../../messages/quantities.ts';
import { gatherInputs, type InputLine } from '../../inputs/gather.ts';
import type { NewJob } from '../../../ports/queue.ts';
import { renderQueue } from '../../render/batch.ts';
import type { WorkAddReport, WorkRetryReport } from '../../reports.ts';
import type { Session } from '../../session.ts';
import { EXIT_CODES, type ExitCode } from '../../terminal/exit-codes.ts';

/**
 * The options of the command line that a job keeps. None of them says which model is asked, where, or what it is told (rules): that is
 * decided where a worker runs, so that a job can neither send a transcript away nor put words into a summary.
 */
const OPTIONS = {
  inPlace: z.literal(true).exactOptional(),
  format: z.string().exactOptional(),
  target: z.int().positive().exactOptional(),
  ifOver: z.int().positive().exactOptional(),
  ifOverBudget: z.literal(true).exactOptional(),
  conversation: z.string().exactOptional(),
  minRetention: z.number().min(0).max(1).exactOptional(),
  minSaving: z.number().nonnegative().exactOptional(),
  olderThan: z.number().exactOptional(),
  keepRecent: z.int().nonnegative().exactOptional(),
  keepRecentTokens: z.int().nonnegative().exactOptional(),
  chunkSize: z.int().positive().exactOptional(),
  maxSummaryTokens: z.int().positive().exactOptional(),
  summaryTokens: z.int().positive().exactOptional(),
  keepInvalid: z.literal(true).exactOptional(),
  fresh: z.literal(true).exactOptional(),
};
const VERSION = 1;

const JOB = z.strictObject({
  version: z.literal(VERSION),
  path: z.string().refine(isAbsolute, 'must be absolute'),
  /** It was named itself, not found in a folder or by a glob. */
  isNamed: z.boolean(),
  options: z.strictObject(OPTIONS),
});

export type JobData = z.infer<typeof JOB>;
export type JobOptions = JobData['options'];

/** What of a command line is stored with its jobs. */
export function pickJobOptions(options: object): JobOptions {
  const given = Object.entries(options).filter(([name, value]) => Object.hasOwn(OPTIONS, name) && value !== undefined);
  return JOB.shape.options.parse(Object.fromEntries(given));
}

export function createJob(file: Pick<JobData, 'path' | 'isNamed'>, options: JobOptions): NewJob {
  const data: JobData = { version: VERSION, path: file.path, isNamed: file.isNamed, options };
  return { key: createHash('sha256').update(file.path).digest('hex'), data };
}

/** The error says what is wrong with the job, and what to do about it. */
export function parseJob(data: unknown): Result<JobData, string> {
  const parsed = JOB.safeParse(data);
  if (parsed.success) return ok(parsed.data);
  const { issues } = parsed.error;
  const unknown = issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : []));
  const newer =
    unknown.length > 0
      ? `it has options that this version does not know (${unknown.join(', ')})`
      : issues.some(({ path }) => path[0] === 'version') && 'it is of another version';
  if (newer !== false) return err(`the job is from a newer version: ${newer}. Update compact on this machine.`);
  const [issue] = issues;
  return err(`the job cannot be read: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`);
}

/** The file of a job, for people, whatever else is wrong with it. */
export function fileOfJob(data: unknown): string {
  const named = z.looseObject({ path: z.string() }).safeParse(data);
  return named.success ? named.data.path : 'a job without a file';
}

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

export async function retryJobs(session: Session): Promise<ExitCode> {
  const retried = await session.useCases.retryJobs();
  if (!retried.ok) return session.fail(retried.error);
  const report: WorkRetryReport = { schema: 'compact/work-retry@1', retried: retried.value };
  tell(session, report, `${countOf(retried.value, 'failed job')} put back.`);
  return EXIT_CODES.done;
}

function tell({ reporter, asked }: Session, report: object, sentence: string): void {
  if (asked.outputOptions.json) reporter.answerJson(report);
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
