import { createHash } from 'node:crypto';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { err, ok, type Result } from '../../../core/result.ts';
import type { NewJob } from '../../../ports/queue.ts';

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

/** newer: a newer version of this program added it. Each problem is a clause. */
export type JobProblem = { readonly kind: 'newer' | 'invalid'; readonly problem: string };

export function parseJob(data: unknown): Result<JobData, JobProblem> {
  const parsed = JOB.safeParse(data);
  if (parsed.success) return ok(parsed.data);
  const unknown = parsed.error.issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : []));
  if (unknown.length > 0)
    return err({ kind: 'newer', problem: `it has options that this version does not know (${unknown.join(', ')})` });
  const hasOtherVersion = parsed.error.issues.some(({ path }) => path[0] === 'version');
  if (hasOtherVersion) return err({ kind: 'newer', problem: 'it is of another version' });
  const [issue] = parsed.error.issues;
  return err({ kind: 'invalid', problem: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}` });
}

/** The file of a job, for people, whatever else is wrong with it. */
export function fileOfJob(data: unknown): string {
  const named = z.looseObject({ path: z.string() }).safeParse(data);
  return named.success ? named.data.path : 'a job without a file';
}
