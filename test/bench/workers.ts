import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { openPostgresQueue } from '../../src/adapters/queue/queue.ts';
import { chatLine, prose } from '../support/chat.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { classifyRepeats, type PaidModel, quantile, type Repeat, servePaidModel } from './paid-calls.ts';

// Workers that share a queue on a real server: `npm run dev -- kills:workers --files 2000` kills one every five seconds,
// `--outage 30` stops the database for 30 seconds, `--rate` compares four workers with one.
const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '200' },
    workers: { type: 'string', default: '8' },
    'kill-every': { type: 'string', default: '5' },
    outage: { type: 'string' },
    rate: { type: 'boolean', default: false },
  },
});
const count = Number(values.files);
const ANSWER_MS = 200;
/** The shortest that the queue takes, so that the jobs of killed workers come back soon. */
const HEARTBEAT_SECONDS = 10;
const SUMMARY = 'They talked about the numbered topics and decided to go on with each of them.';
const PROGRAM = join(import.meta.dirname, '../../bin/compact.js');

type Scene = {
  readonly folder: string;
  readonly archive: string;
  readonly model: PaidModel;
  readonly server: PostgresServer;
  readonly compact: (...args: readonly string[]) => SpawnSyncReturns<string>;
};

/** The workers by their places. */
const living = new Map<number, { readonly id: number; readonly child: ReturnType<typeof spawn> }>();

/** A queue with a job for each of many small transcripts. */
async function withJobs(options: readonly string[], use: (scene: Scene) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'compact-workers-'));
  const server = startPostgres();
  const model = await servePaidModel({ summary: SUMMARY, answerMs: ANSWER_MS });
  const archive = server.url;
  const cleanUp = (): void => {
    for (const { child } of living.values()) child.kill('SIGKILL');
    server.remove();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', cleanUp); // after Ctrl-C too
  try {
    mkdirSync(join(folder, 'logs'));
    for (let at = 0; at < count; at += 1) writeFileSync(join(folder, 'logs', `${at}.jsonl`), talk(at));
    const wait = async (): Promise<void> => undefined;
    const notice = (): void => undefined;
    const queue = await openPostgresQueue({
      url: archive,
      create: true,
      heartbeatSeconds: HEARTBEAT_SECONDS,
      notice,
      wait,
    });
    if (!queue.ok) throw new Error(JSON.stringify(queue.error));
    await queue.value?.close();
    const compact: Scene['compact'] = (...args) =>
      spawnSync(process.execPath, [PROGRAM, ...args, '--archive', archive], {
        cwd: folder,
        env: environmentIn(folder),
        encoding: 'utf8',
        maxBuffer: 2 ** 30,
      });
    const added = compact('work', '--add', '-i', ...options, 'logs');
    if (added.status !== 0) throw new Error(added.stderr);
    await use({ folder, archive, model, server, compact });
  } finally {
    model.close();
    process.off('exit', cleanUp);
    cleanUp();
  }
}

function environmentIn(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, HOME: join(folder, 'home'), CI: '1' };
}

/** Works until the queue is empty, and kills one worker after another meanwhile; a new one takes the place of each. */
async function work({ folder, archive, model }: Scene, workers: number, killEverySeconds: number | null) {
  const ended = new AbortController();
  const state = { begun: 0, kills: 0, problems: [] as string[], endOf: new Map<number, number>() };
  const runWorker = async (slot: number): Promise<void> => {
    for (;;) {
      state.begun += 1;
      const id = state.begun;
      const line = [
        'work',
        '--folder',
        'logs',
        '--provider',
        'ollama',
        '--model',
        'm',
        '--base-url',
        model.urlFor(id),
        '-q',
      ];
      const child = spawn(process.execPath, [PROGRAM, ...line, '--archive', archive], {
        cwd: folder,
        env: environmentIn(folder),
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true, // its fair share of a busy machine, as if it had been started by itself
      });
      living.set(slot, { id, child });
      const [errors] = await Promise.all([readText(child.stderr), once(child, 'close')]);
      if (child.signalCode === 'SIGKILL') continue;
      state.endOf.set(id, Date.now());
      living.delete(slot);
      if (child.exitCode === 0) ended.abort(); // all jobs are done, so that the others may end too
      else state.problems.push(errors);
      return;
    }
  };
  const kill = async (): Promise<void> => {
    if (killEverySeconds === null) return;
    for (let next = 0; ; next += 1) {
      await sleep(killEverySeconds * 1000, undefined, { signal: ended.signal });
      const slots = [...living.values()];
      const worker = slots[next % slots.length];
      if (worker?.child.kill('SIGKILL') !== true) continue;
      state.kills += 1;
      state.endOf.set(worker.id, Date.now());
    }
  };
  const killing = kill().catch(() => undefined); // aborted when all is done
  await Promise.all(Array.from({ length: workers }, (_, slot) => runWorker(slot)));
  ended.abort();
  await killing;
  return state;
}

async function killWorkers(): Promise<void> {
  await withJobs([], async (scene) => {
    const begunMs = performance.now();
    const { kills, problems, endOf } = await work(scene, Number(values.workers), Number(values['kill-every']));
    const seconds = (performance.now() - begunMs) / 1000;
    const load = loadavg().map((average) => average.toFixed(1));
    process.stdout.write(
      `${count} transcripts, ${values.workers} workers, ${kills} killed, ${seconds.toFixed(0)} s, load ${load.join(' ')}\n`,
    );
    checkFiles(scene, problems);
    await checkPayments(scene, endOf);
  });
}

/** Prints what became of the files, and fails unless each was compacted once or left alone. */
function checkFiles({ folder, compact }: Scene, problems: readonly string[]): void {
  const texts = Array.from({ length: count }, (_, at) => readFileSync(join(folder, 'logs', `${at}.jsonl`), 'utf8'));
  const untouched = texts.filter((text, at) => text === talk(at)).length;
  const compactedOnce = texts.filter((text) => text.split(SUMMARY).length === 2).length;
  const status = JSON.parse(compact('work', '--status', '--json').stdout);
  const listed = JSON.parse(compact('archive', 'list', '--json').stdout);
  const verified = compact('verify', '-q', 'logs');
  process.stdout.write(
    `${compactedOnce} compacted once, ${untouched} untouched, ${listed.compactions.length} compactions in the archive, ` +
      `verify exits ${verified.status}\n${JSON.stringify(status)}\n${problems.join('')}${verified.stderr}`,
  );
  const isWhole = compactedOnce + untouched === count && untouched === status.failed;
  if (!isWhole || problems.length > 0 || verified.status !== 0) process.exitCode = 1;
}

/** A worker stores an answer within this time even on a machine that is overloaded. */
const MAX_STORING_MS = 2000;

/**
 * Prints which answers were paid twice and why, and fails if that could have been avoided. A call that is cut off may
 * cost something too: that is the provider's decision.
 */
async function checkPayments({ archive, model: { calls } }: Scene, endOf: ReadonlyMap<number, number>): Promise<void> {
  const summaries = await readSummaries(archive);
  const stored = new Set(summaries.map(({ text }) => text));
  const repeats = classifyRepeats(calls, { endOf, stored });
  const lost = repeats.flatMap((one) => (one.kind === 'lost' ? [one.afterMs] : [])).toSorted((a, b) => a - b);
  const countOf = (kind: Repeat['kind']): number => repeats.filter((one) => one.kind === kind).length;
  const answered = new Map(calls.map(({ text, answeredMs }) => [text, answeredMs]));
  const delays = summaries.map(({ text, atMs }) => atMs - (answered.get(text) ?? atMs));
  const requests = new Set(calls.map(({ request }) => request)).size;
  const cutOff = calls.filter(({ answeredMs }) => answeredMs === null).length;
  const [median, most, worst] = [0.5, 0.99, 1].map((part) => `${quantile(delays, part)} ms`);
  process.stdout.write(
    `${requests} different requests, ${calls.length} calls, ` +
      `${cutOff + countOf('unheard')} of them cut off: their worker was killed while it waited\n` +
      `handed to the database after the answer was sent: half within ${median}, 99 % within ${most}, all within ${worst}\n` +
      `${repeats.length - countOf('unheard')} paid twice: ${countOf('two-workers')} asked by two workers at once, ` +
      `${countOf('not-found')} stored but not found, ${lost.length} whose worker was killed before it could store the answer` +
      `${lost.length === 0 ? '' : ` (${lost.join(', ')} ms after it was sent)`}\n`,
  );
  const isAvoidable = countOf('two-workers') + countOf('not-found') > 0 || lost.some((ms) => ms > MAX_STORING_MS);
  if (isAvoidable) process.exitCode = 1;
}

/** `atMs`: right before it was stored. */
async function readSummaries(url: string): Promise<readonly { readonly text: string; readonly atMs: number }[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('SELECT text, created_at_ms FROM compact.summaries');
  await client.end();
  return rows.map((row) => ({ text: String(row.text), atMs: Number(row.created_at_ms) }));
}

/** Stops the database while workers are busy, and starts it again. */
async function outlast(seconds: number): Promise<void> {
  await withJobs([], async (scene) => {
    const { model, server } = scene;
    const begunMs = performance.now();
    const stopServer = async (): Promise<void> => {
      while (model.calls.length < count / 4) await sleep(100);
      server.stop();
      await sleep(seconds * 1000);
      server.start();
    };
    const [{ problems, endOf }] = await Promise.all([work(scene, Number(values.workers), null), stopServer()]);
    const lasted = ((performance.now() - begunMs) / 1000).toFixed(1);
    process.stdout.write(`${count} transcripts in ${lasted} s, the database was gone for ${seconds} s\n`);
    checkFiles(scene, problems);
    await checkPayments(scene, endOf);
  });
}

/** Answers a second by four workers and by one, each for as many jobs. */
async function compareRates(): Promise<void> {
  const rates: number[] = [];
  for (const workers of [1, 4]) {
    await withJobs(['--chunk-size', '2'], async (scene) => {
      const { problems } = await work(scene, workers, null);
      const times = scene.model.calls.map(({ askedMs }) => askedMs);
      const answers = times.length;
      const rate = answers / ((Math.max(...times) - Math.min(...times) + ANSWER_MS) / 1000);
      rates.push(rate);
      process.stdout.write(`${workers} workers: ${answers} answers, ${rate.toFixed(2)} a second\n${problems.join('')}`);
    });
  }
  const [one = 1, four = 0] = rates;
  process.stdout.write(`four workers do ${(four / one).toFixed(2)} times as much as one\n`);
  if (four / one < 3.8) process.exitCode = 1;
}

/** Twenty messages, most of which are summarized. */
function talk(seed: number): string {
  return Array.from(
    { length: 20 },
    (_, at) =>
      `${chatLine({ role: at % 2 === 0 ? 'user' : 'assistant', content: `${seed}: ${prose(seed * 31 + at, 60)}` })}\n`,
  ).join('');
}

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
if (values.rate) await compareRates();
else if (values.outage === undefined) await killWorkers();
else await outlast(Number(values.outage));
