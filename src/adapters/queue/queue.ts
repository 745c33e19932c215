import { type JobWithMetadata, PgBoss } from 'pg-boss';
import { err, ok, type Result } from '../../core/result.ts';
import type { ArchiveFailure } from '../../ports/archive.ts';
import type { FailedJob, JobQueue, QueueStatus, TakenJob } from '../../ports/queue.ts';
import { readFields, readInteger, type Row } from '../archive/rows.ts';
import { guardMethods, type Place, toFailure } from '../archive/postgres/failure.ts';
import { prepareSchema } from '../archive/postgres/migrate.ts';
import {
  connectPool,
  createRetry,
  type OpenPostgresOptions,
  parseTarget,
  STATEMENT_TIMEOUT_MS,
  type Target,
  withOptions,
} from '../archive/postgres/open.ts';
import { createSql } from '../archive/postgres/sql.ts';

const QUEUE = 'compact';
/** Jobs that failed for good. */
const DEAD = 'compact-failed';
const MAX_ATTEMPTS = 3;
const RETRY_DELAY_SECONDS = 5;
/** A worker that gave no sign of life for this long is dead, and its job goes to another one. */
const HEARTBEAT_SECONDS = 60;
const HEARTBEATS_PER_LIMIT = 4;
/** How often workers look for dead ones. */
const SUPERVISE_SECONDS = 10;
const MAX_CONNECTIONS = 4;
const DAY_SECONDS = 86_400;
/** A queue may wait for its workers, but not for ever. */
const RETENTION_SECONDS = 365 * DAY_SECONDS;
const DONE_SECONDS = 7 * DAY_SECONDS;
/** Signs of life prove that a job is alive, so its time is hardly limited. */
const EXPIRE_SECONDS = 23 * 3600;
const JOBS_PER_STATEMENT = 1000;

type OpenQueueOptions = OpenPostgresOptions & {
  /** How long to wait for a server that is away, unless aborted; 0 or undefined: not at all. */
  readonly maxWaitMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** At least 10, which is the shortest that pg-boss takes. */
  readonly heartbeatSeconds?: number;
};

/** Opens the queue beside an archive in Postgres, in the same schema; null: there is none, and `create` is false. */
export async function openPostgresQueue(options: OpenQueueOptions): Promise<Result<JobQueue | null, ArchiveFailure>> {
  const target = parseTarget(options.url);
  if (!target.ok) return target;
  const { path } = target.value.place;
  const open = async (): Promise<Result<JobQueue | null, ArchiveFailure>> => {
    const failure = await prepareArchive(options, target.value);
    return failure === null ? ok(await openQueue(options, target.value)) : err(failure);
  };
  try {
    return await createRetry({ ...options, path, maxOutageMs: options.maxWaitMs ?? 0 })(open);
  } catch (error) {
    return err(describe(error, target.value.place));
  }
}

/** The queue names every schema, so its connections look into no other. */
const SEARCH_PATH = 'pg_catalog';

/** Makes the archive that the queue is beside, before anything of the queue runs. */
async function prepareArchive({ url, create }: OpenQueueOptions, target: Target): Promise<ArchiveFailure | null> {
  const driver = connectPool(url, target.schema);
  try {
    const prepared = await prepareSchema(
      createSql(driver, (work) => work()),
      { ...target, create, isQueue: true },
    );
    return prepared.ok ? null : prepared.error;
  } finally {
    await driver.close();
  }
}

/** Null: there is none. Throws the errors of the driver and the queue. */
async function openQueue(options: OpenQueueOptions, target: Target): Promise<JobQueue | null> {
  const { schema } = target;
  const connection = withOptions(options.url, SEARCH_PATH);
  const boss = new PgBoss({
    connectionString: connection.connectionString,
    options: `${connection.options} -c statement_timeout=${STATEMENT_TIMEOUT_MS}`,
    schema,
    application_name: 'compact work',
    max: MAX_CONNECTIONS,
    migrate: options.create,
    createSchema: false,
    supervise: options.create,
    schedule: false,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    reindex: false,
    monitorVacuum: false,
  });
  // Supervision tries again by itself; every other error also rejects the call that it belongs to.
  boss.on('error', () => undefined);
  try {
    await boss.start();
    if (options.create) await createQueues(boss, options.heartbeatSeconds ?? HEARTBEAT_SECONDS);
    const { place } = target;
    const retry = createRetry({ path: place.path, notice: options.notice, wait: options.wait });
    return guardMethods(createQueue(boss, schema, retry), place);
  } catch (error) {
    // If it cannot be asked, the first error says why.
    const isMissing = !options.create && !(await boss.isInstalled().catch(() => true));
    await boss.stop({ graceful: false }).catch(() => undefined);
    if (isMissing) return null;
    throw error;
  }
}

function describe(error: unknown, place: Place): ArchiveFailure {
  const failure = toFailure(error, place);
  if (failure !== null) return failure;
  if (!(error instanceof Error)) throw error;
  const isOld = error.message === 'pg-boss database requires migrations';
  const advice = isOld ? "Run 'compact work' with the newest version of compact once." : 'Check the database.';
  return { kind: 'cannot-open', path: place.path, reason: `its job queue cannot be used: ${error.message}`, advice };
}

async function createQueues(boss: PgBoss, heartbeatSeconds: number): Promise<void> {
  const common = { retentionSeconds: RETENTION_SECONDS, deleteAfterSeconds: DONE_SECONDS };
  // Both do nothing if the queue is there.
  await boss.createQueue(DEAD, common);
  await boss.createQueue(QUEUE, {
    ...common,
    policy: 'exclusive',
    deadLetter: DEAD,
    retryLimit: MAX_ATTEMPTS - 1,
    retryDelay: RETRY_DELAY_SECONDS,
    expireInSeconds: EXPIRE_SECONDS,
    heartbeatSeconds,
  });
}

function createQueue(boss: PgBoss, schema: string, retry: <T>(work: () => Promise<T>) => Promise<T>): JobQueue {
  const heartbeats = new Map<string, NodeJS.Timeout>();
  const state: { firstLook: Promise<void> | null } = { firstLook: null };
  const endHeartbeat = ({ id }: TakenJob): void => {
    clearInterval(heartbeats.get(id));
    heartbeats.delete(id);
  };
  const select = async (sql: string, values: readonly unknown[]): Promise<readonly Row[]> =>
    (await retry(() => boss.getDb().executeSql(sql, [...values]))).rows;
  return {
    add: async (jobs) => {
      let added = 0;
      for (let from = 0; from < jobs.length; from += JOBS_PER_STATEMENT) {
        const some = jobs.slice(from, from + JOBS_PER_STATEMENT);
        const rows = some.map(({ key, data }) => ({ singletonKey: key, data }));
        added += (await retry(() => boss.insert(QUEUE, rows, { returnId: true })))?.length ?? 0;
        const keys = some.map(({ key }) => key);
        await select(`DELETE FROM ${schema}.job WHERE name = $1 AND singleton_key = ANY($2)`, [DEAD, keys]);
      }
      return added;
    },
    take: async () => {
      // The timer looks for dead workers after SUPERVISE_SECONDS, and workers that keep dying may not live that long.
      state.firstLook ??= boss.supervise(QUEUE).catch(() => undefined);
      await state.firstLook;
      const [job] = await retry(() => boss.fetch<object>(QUEUE, { includeMetadata: true }));
      if (job === undefined) return null;
      const taken = toTaken(job);
      const everyMs = ((job.heartbeatSeconds ?? HEARTBEAT_SECONDS) * 1000) / HEARTBEATS_PER_LIMIT;
      // A sign of life that does not arrive is followed by the next one.
      const beat = (): void => void boss.touch(QUEUE, attemptOf(taken)).catch(() => undefined);
      heartbeats.set(job.id, setInterval(beat, everyMs));
      return taken;
    },
    finish: async (job, usage) => {
      await retry(() => boss.complete(QUEUE, attemptOf(job), usage && { usage }));
      endHeartbeat(job);
    },
    fail: async (job, reason, usage) => {
      await retry(() => boss.fail(QUEUE, attemptOf(job), { message: reason, usage }));
      endHeartbeat(job);
    },
    giveBack: async (job, delaySeconds, usage) => {
      await select(GIVE_BACK(schema), [
        job.id,
        job.attempt - 1,
        delaySeconds,
        usage ? JSON.stringify({ usage }) : null,
      ]);
      endHeartbeat(job);
    },
    status: async () => toStatus((await select(STATUS(schema), [QUEUE, DEAD]))[0] ?? {}),
    listFailed: async (limit) => (await retry(() => boss.findJobs<object>(DEAD, { limit }))).map(toFailed),
    retryFailed: () => retry(() => boss.redrive(DEAD)),
    close: async () => {
      for (const timer of heartbeats.values()) clearInterval(timer);
      await boss.stop({ graceful: false });
    },
  };
}

/** Names the attempt, so that a worker that was given up for dead cannot settle a job that another one has now. */
function attemptOf({ id, attempt }: TakenJob): { readonly id: string; readonly retryCount: number } {
  return { id, retryCount: attempt - 1 };
}

function toTaken({ id, data, retryCount, retryLimit, output }: JobWithMetadata): TakenJob {
  const { usage } = Object(output) as { readonly usage?: Row }; // as this program stored it
  const spent = usage === undefined ? null : toSpending(usage);
  return { id, data, attempt: retryCount + 1, maxAttempts: retryLimit + 1, ...(spent !== null && { spent }) };
}

/** pg-boss itself puts jobs back this way that it has taken but not begun; its public methods would count an attempt. */
const GIVE_BACK = (schema: string): string => `
UPDATE ${schema}.job SET state = 'created', started_on = NULL, heartbeat_on = NULL, start_after = now() + $3::int * interval '1 second',
  output = $4::jsonb
WHERE name = '${QUEUE}' AND id = $1 AND state = 'active' AND retry_count = $2`;

const SPENT = ['calls', 'inputTokens', 'cachedInputTokens', 'outputTokens'] as const;

const RECENT = "name = $1 AND state = 'completed' AND completed_on > now() - interval '5 minutes'";
const STATUS = (schema: string): string => `
SELECT count(*) FILTER (WHERE name = $1 AND state IN ('created', 'retry'))::int AS open,
  count(*) FILTER (WHERE name = $1 AND state = 'active')::int AS active,
  count(*) FILTER (WHERE name = $1 AND state = 'completed')::int AS done,
  count(*) FILTER (WHERE name = $2)::int AS failed,
  count(*) FILTER (WHERE ${RECENT})::int AS recent,
  coalesce(ceil(extract(epoch FROM now() - greatest(min(started_on) FILTER (WHERE ${RECENT}), now() - interval '5 minutes')))::int, 0) AS seconds,
  ${SPENT.map((name) => `coalesce(sum((output->'usage'->>'${name}')::float8) FILTER (WHERE name = $1), 0) AS "${name}"`).join(',\n  ')},
  sum((output->'usage'->>'cost')::float8) FILTER (WHERE name = $1) AS cost,
  max(output->'usage'->>'listedOn') FILTER (WHERE name = $1) AS "listedOn"
FROM ${schema}.job WHERE name IN ($1, $2)`;

function toStatus(row: Row): QueueStatus {
  const [recent, seconds] = [readInteger(row, 'recent'), readInteger(row, 'seconds')];
  const counts = { open: readInteger, active: readInteger, done: readInteger, failed: readInteger };
  return {
    ...readFields(row, counts),
    perMinute: recent === 0 ? null : (recent * 60) / Math.max(1, seconds),
    usage: toSpending(row),
  };
}

function toSpending(row: Row): QueueStatus['usage'] {
  const { cost, listedOn } = row;
  const [calls, inputTokens, cachedInputTokens, outputTokens] = SPENT.map((name) => readInteger(row, name));
  if (!calls) return null;
  return {
    calls,
    inputTokens: inputTokens ?? 0,
    cachedInputTokens: cachedInputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cost: typeof cost === 'number' ? cost : null,
    ...(typeof listedOn === 'string' && { listedOn }),
  };
}

function toFailed({ data, sourceOutput, output }: JobWithMetadata): FailedJob {
  const message = findMessage(sourceOutput) ?? findMessage(output) ?? 'unknown';
  return { data, reason: message === 'job heartbeat timeout' ? `its worker died ${MAX_ATTEMPTS} times` : message };
}

/** pg-boss wraps its own reasons in `value`. */
function findMessage(output: unknown): string | null {
  if (typeof output !== 'object' || output === null) return null;
  if ('message' in output && typeof output.message === 'string') return output.message;
  return 'value' in output ? findMessage(output.value) : null;
}
