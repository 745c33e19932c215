import { parseCount, parseDuration } from '../../config/quantity.ts';
import { isArchiveUrl } from '../../core/paths.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { defineCommand, type Line, type OptionsOf } from '../line/command.ts';
import {
  CONDITION_FLAGS,
  FILES_FROM_FLAG,
  FORMAT_FLAG,
  MODEL_FLAGS,
  SELECTION_FLAGS,
  UNPACKING_FLAGS,
} from '../line/flags.ts';

/** '127.0.0.1:9464' or '[::1]:9464'. Port 0: the system chooses one. */
function parsePlace(text: string): Result<string, string> {
  const [, port = ''] = /^(?:\[[\da-f:.]+\]|[^:\s[\]]+):(\d{1,5})$/i.exec(text) ?? [];
  return port === '' || Number(port) > 65_535 ? err('It must be a host and a port: 127.0.0.1:9464.') : ok(text);
}

const FLAGS = [
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
  {
    flags: '--metrics <host:port>',
    description: 'serve /metrics for Prometheus, /healthz and /readyz there',
    parse: parsePlace,
  },
  {
    flags: '--archive-wait <duration>',
    description: 'wait this long for a database that is away at the start (5m)',
    parse: parseDuration,
  },
  {
    flags: '--grace <duration>',
    description: 'after SIGTERM, finish the files in work for this long (30s)',
    parse: parseDuration,
  },
  { flags: '-i, --in-place', description: 'with --add: replace the transcripts, atomically' },
  FILES_FROM_FLAG,
  FORMAT_FLAG,
  ...CONDITION_FLAGS,
  ...SELECTION_FLAGS,
  ...MODEL_FLAGS,
  ...UNPACKING_FLAGS,
] as const;

type WorkLine = Line<OptionsOf<typeof FLAGS>>;

/** Works on jobs from a queue that many machines share, and fills and shows that queue. */
export const command = defineCommand({
  operands: { syntax: '[transcript...]', description: 'with --add: files, folders or globs' },
  flags: FLAGS,
  examples: [
    ['compact work --add -i logs --archive postgres://db/logs', 'adds a job for each transcript'],
    ['compact work --folder logs --archive postgres://db/logs', 'works on jobs until all are done'],
    ['compact work --status --archive postgres://db/logs', 'shows the progress of the queue'],
  ],
  findConflict,
  session: (line) => ({
    needs: actionOf(line) === 'work' ? ['selection', 'model', 'archive', 'embedding'] : ['archive'],
  }),
  run: async (session, line) => {
    if (!isArchiveUrl(session.settings.archive.path))
      return session.refuse('a shared queue needs an archive in Postgres: --archive postgres://user@host/database');
    const { addJobs, pickJobOptions, retryJobs, showQueue } = await import('./work/queue.ts');
    const options = pickJobOptions(line.options);
    const action = actionOf(line);
    if (action !== 'add' && Object.keys(options).length > 0)
      return session.refuse('each job has its own compaction options: give them with --add');
    if (action === 'work') return (await import('./work/worker.ts')).runWorker(session, line.options);
    if (action === 'add') return addJobs(session, line, options);
    return action === 'status' ? showQueue(session) : retryJobs(session);
  },
});

function actionOf({ options: { add, status, retry } }: WorkLine): 'work' | 'add' | 'status' | 'retry' {
  return add === true ? 'add' : status === true ? 'status' : retry === true ? 'retry' : 'work';
}

function findConflict(line: WorkLine): string | null {
  const { operands, options } = line;
  const { filesFrom, folder = [], concurrency, keepRunning, metrics, archiveWait, grace } = options;
  const action = actionOf(line);
  const namesFiles = operands.length > 0 || filesFrom !== undefined;
  const ofWorker = concurrency ?? metrics ?? archiveWait ?? grace ?? keepRunning;
  const ofModel = options.provider ?? options.model ?? options.baseUrl ?? options.maxCost;
  if (operands.includes('-')) return 'jobs are for files, not for standard input (-)';
  if (action !== 'add' && namesFiles) return 'transcripts are named with --add, which adds a job for each';
  if (action === 'add' && !namesFiles) return 'no transcript named: --add takes files, folders or globs';
  if (action !== 'work' && (ofWorker !== undefined || folder.length > 0))
    return '--folder, --concurrency, --keep-running, --metrics, --archive-wait and --grace are for a worker, so --add, --status and --retry take none of them';
  if (action === 'work' && folder.length === 0)
    return 'name the folders that this worker may work in: --folder DIR, once for each';
  if (action === 'add' && ofModel !== undefined)
    return 'a job does not say which model summarizes: give --provider, --model, --base-url and --max-cost to the workers';
  if (action !== 'work' && (options.rules === false || (options.rule ?? options.dropRule) !== undefined))
    return 'jobs carry no rules: give --rule, --drop-rule and --no-rules to the workers';
  return null;
}
