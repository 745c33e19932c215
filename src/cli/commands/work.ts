import { resolve } from 'node:path';
import type { Failure } from '../../app/contract/failure.ts';
import type { WorkSummary } from '../../app/jobs/work.ts';
import { parseCount } from '../../config/quantity.ts';
import { isArchiveUrl } from '../../core/paths.ts';
import type { Result } from '../../core/result.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from '../exit-codes.ts';
import type { JobOptions } from '../job-data.ts';
import { countOf, formatCount } from '../render/quantities.ts';
import type { WorkAddReport, WorkRetryReport } from '../reports.ts';
import { type CliContext, fail, type Session } from '../session.ts';
import type { WorkInvocation } from '../work-jobs.ts';
import { defineCommand, inSession } from './command.ts';
import {
  CONDITION_FLAGS,
  FILES_FROM_FLAG,
  FORMAT_FLAG,
  MAX_UNPACKED_FLAG,
  MODEL_FLAGS,
  OUTPUT_FLAGS,
  readOutputOptions,
  readSettings,
  SELECTION_FLAGS,
  SETTINGS_FLAGS,
} from './options.ts';

/** Works on jobs from a queue that many machines share, and fills and shows that queue. */
export const workCommand = defineCommand({
  operands: { syntax: '[transcript...]', description: 'with --add: files, folders or globs' },
  flags: [
    { flags: '--add', description: 'add a job for each transcript, with the compaction options of this line' },
    {
      flags: '--status',
      description: 'show what is open, active, done and failed; exit code 1 if any failed',
      conflicts: ['add', 'retry'],
    },
    { flags: '--retry', description: 'put the failed jobs back', conflicts: 'add' },
    {
      flags: '--concurrency <n>',
      description: 'jobs at a time (offline: the number of cores, at most 8; else 1)',
      parse: parseCount,
    },
    {
      flags: '--folder <dir>',
      description: 'for a worker: only do jobs for transcripts in this folder; required, repeatable',
      isRepeatable: true,
    },
    { flags: '--keep-running', description: 'wait for more jobs when all are done' },
    { flags: '-i, --in-place', description: 'with --add: replace the transcripts, atomically' },
    FILES_FROM_FLAG,
    FORMAT_FLAG,
    ...CONDITION_FLAGS,
    ...SELECTION_FLAGS,
    ...MODEL_FLAGS,
    MAX_UNPACKED_FLAG,
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    ['compact work --add -i logs --archive postgres://db/logs', 'adds a job for each transcript'],
    ['compact work --folder logs --archive postgres://db/logs', 'works on jobs until all are done'],
    ['compact work --status --archive postgres://db/logs', 'shows the progress of the queue'],
  ],
  read: ({ options, args }): WorkInvocation => ({
    kind: 'work',
    action:
      options.add === true ? 'add' : options.status === true ? 'status' : options.retry === true ? 'retry' : 'work',
    operands: args,
    filesFrom: options.filesFrom ?? null,
    folders: options.folder ?? [],
    concurrency: options.concurrency ?? null,
    keepsRunning: options.keepRunning === true,
    options,
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict,
  run,
});

function findConflict({
  action,
  operands,
  filesFrom,
  folders,
  concurrency,
  keepsRunning,
  options,
}: WorkInvocation): string | null {
  const namesFiles = operands.length > 0 || filesFrom !== null;
  if (operands.includes('-')) return 'jobs are for files, not for standard input (-)';
  if (action !== 'add' && namesFiles) return 'transcripts are named with --add, which adds a job for each';
  if (action === 'add' && !namesFiles) return 'no transcript named: --add takes files, folders or globs';
  if (action !== 'work' && (concurrency !== null || keepsRunning || folders.length > 0))
    return '--folder, --concurrency and --keep-running are for a worker, so --add, --status and --retry take none of them';
  if (action === 'work' && folders.length === 0)
    return 'name the folders that this worker may work in: --folder DIR, once for each';
  const { provider, model, baseUrl } = options;
  if (action === 'add' && (provider ?? model ?? baseUrl) !== undefined)
    return 'a job does not say which model summarizes: give --provider, --model and --base-url to the workers';
  if (action !== 'work' && (options.rules === false || (options.rule ?? options.dropRule) !== undefined))
    return 'jobs carry no rules: give --rule, --drop-rule and --no-rules to the workers';
  return null;
}

async function run(context: CliContext, invocation: WorkInvocation): Promise<ExitCode> {
  const needs =
    invocation.action === 'work' ? (['selection', 'model', 'archive', 'embedding'] as const) : (['archive'] as const);
  const format = invocation.options.format ?? null;
  return inSession(context, { ...invocation, command: 'compact work', format, needs }, async (session) => {
    if (!isArchiveUrl(session.settings.archive.path))
      return session.refuse('a shared queue needs an archive in Postgres: --archive postgres://user@host/database');
    const { pickJobOptions } = await import('../job-data.ts');
    const options = pickJobOptions(invocation.options);
    if (invocation.action !== 'add' && Object.keys(options).length > 0)
      return session.refuse('each job has its own compaction options: give them with --add');
    switch (invocation.action) {
      case 'add':
        return add(session, invocation, options);
      case 'status':
        return showStatus(session, invocation);
      case 'retry': {
        const retried = await session.useCases.retryJobs();
        if (!retried.ok) return fail(session, retried.error);
        const report: WorkRetryReport = { schema: 'compact/work-retry@1', retried: retried.value };
        await answer(session, invocation, report, [`${countOf(retried.value, 'failed job')} put back.`]);
        return EXIT_CODES.done;
      }
      default: {
        const { runWorker } = await import('../work-jobs.ts');
        return endWork(session, await runWorker(session, invocation));
      }
    }
  });
}

async function answer(
  { reporter }: Session,
  { outputOptions }: WorkInvocation,
  report: object,
  lines: readonly string[],
): Promise<void> {
  if (!outputOptions.json) return reporter.report(lines);
  const { reportJson } = await import('../render/text.ts');
  reporter.answerPiece(reportJson(report));
}

async function add(session: Session, invocation: WorkInvocation, options: JobOptions): Promise<ExitCode> {
  const { operands, filesFrom } = invocation;
  const { gatherInputs } = await import('../gather.ts');
  const { createJob } = await import('../job-data.ts');
  const gathered = await gatherInputs(session, operands, { skipsCompacted: true, filesFrom });
  if (typeof gathered === 'number') return gathered;
  const { workingFolder } = session.terminal.host;
  const jobs = gathered.inputs.map(({ path, isNamed }) =>
    createJob({ path: resolve(workingFolder, path), isNamed }, options),
  );
  const added = await session.useCases.addJobs(jobs);
  if (!added.ok) return fail(session, added.error);
  const known = jobs.length - added.value;
  const rest = known === 0 ? '' : `; ${formatCount(known)} had an open job already`;
  const report: WorkAddReport = { schema: 'compact/work-add@1', added: added.value, known };
  await answer(session, invocation, report, [`${countOf(added.value, 'job')} added${rest}.`]);
  return gathered.failures.length > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}

async function showStatus(session: Session, { outputOptions }: WorkInvocation): Promise<ExitCode> {
  const { reporter, useCases } = session;
  const { fileOfJob } = await import('../job-data.ts');
  const read = await useCases.readQueue(fileOfJob);
  if (!read.ok) return fail(session, read.error);
  if (outputOptions.json) {
    const { reportJson } = await import('../render/text.ts');
    reporter.answerPiece(reportJson(read.value));
  } else if (!read.value.exists) {
    reporter.report(["There is no queue yet. 'compact work --add' creates one."]);
  } else {
    const { renderQueue } = await import('../render/work.ts');
    reporter.answer(renderQueue(read.value, reporter.answerTheme));
  }
  return read.value.failed > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}

type Worked = { readonly result: Result<WorkSummary, Failure>; readonly failed: number } | ExitCode;

function endWork(session: Session, worked: Worked): ExitCode {
  if (typeof worked === 'number') return worked;
  const { result, failed } = worked;
  const { signal } = session.terminal;
  if (!result.ok) return signal.aborted ? interruptionCode(signal) : fail(session, result.error);
  if (result.value.stopped !== null) {
    session.reporter.error(`${result.value.stopped} This worker has stopped and put its jobs back in the queue.`);
    return EXIT_CODES.failed;
  }
  if (signal.aborted) return interruptionCode(signal);
  return failed > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}
