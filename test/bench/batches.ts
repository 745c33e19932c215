import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { compactLive, DIALECTS, type Dialect, replyTo } from '../app/jobs/scene.ts';
import { type Fate, type Moment, MOMENTS, serveBatches } from '../support/batch-server.ts';
import { chatLine, prose } from '../support/chat.ts';
import { summary } from '../support/model-scene.ts';
import { serveModels } from '../support/model-server/server.ts';
import { createWorkbench } from '../support/workbench.ts';
import type { BatchChildAnswer, BatchChildRequest } from './batches-child.ts';

// Many small transcripts through batches of a mock provider, killed at every kind of step: `npm run dev -- kills:batches --files 10000`.
const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '200' },
    dialect: { type: 'string' },
    // How many transcripts are compared with what a live run makes of them.
    compared: { type: 'string', default: '100' },
  },
});
const count = Number(values.files);
const CHILD = join(import.meta.dirname, 'batches-child.ts');
const PROGRAM = join(import.meta.dirname, '../../bin/compact.js');
/** Every so many-th transcript is long, grows while its batch runs, or is changed by hand. */
const EVERY = { long: 10, grown: 50, changed: 101 } as const;

type Stop = NonNullable<BatchChildRequest['stopAfter']>['step'] | Moment;
/** Where a run is killed, and how many transcripts (or batches) are past it by then, as a share. */
type Kill = readonly [Stop, number];
const SUBMIT_KILLS: readonly Kill[] = [
  ['planned', 1 / 10],
  ['claimed', 0],
  ['uploading', 0],
  ['created', 0],
  ['sent', 0],
  ['recorded', 0],
  ['planned', 1 / 4],
  ['uploading', 0],
  ['created', 0],
];
const COLLECT_KILLS: readonly Kill[] = [
  ['polled', 0],
  ['downloading', 0],
  ['answers-stored', 0],
  ['answers-recorded', 1 / 800],
  ['downloading', 0],
  ['apply: prepared', 1 / 50],
  ['apply: written', 1 / 50],
  ['apply: looked', 1 / 50],
  ['apply: renamed', 1 / 20],
  ['apply: applied', 1 / 20],
  ['collected', 1 / 10],
  ['collected', 1 / 5],
  ['claimed', 0],
  ['uploading', 0],
  ['created', 0],
  ['sent', 0],
  ['recorded', 0],
  ['polled', 0],
  ['answers-stored', 0],
  ['downloading', 0],
  ['apply: renamed', 1 / 50],
];

for (const dialect of DIALECTS.filter((one) => values.dialect === undefined || one === values.dialect))
  await runOne(dialect);

async function runOne(dialect: Dialect): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'compact-batches-'));
  const clock = { ms: Date.parse('2026-11-20T08:00:00.000Z') };
  const kills = new Map<Stop, number>();
  const usage = { cpuSeconds: 0, peakMb: 0 };
  const moment = { wanted: null as Moment | null, kill: async (): Promise<void> => undefined };
  const server = await serveBatches({
    reply: replyTo,
    now: () => new Date(clock.ms),
    onMoment: async (one) => {
      if (one === moment.wanted) await moment.kill();
    },
  });
  const pathOf = (at: number): string => join(folder, `talk-${at}.jsonl`);
  const tries = new Map<string, number>();
  for (let at = 0; at < count; at += 1) writeFileSync(pathOf(at), talk(at));

  /** One run of the program. Killed: null. */
  const run = async (action: BatchChildRequest['action'], kill: Kill | null): Promise<BatchChildAnswer | null> => {
    // Longer than is waited for a batch of a run that was killed.
    clock.ms += 310_000;
    const [stop, share] = kill ?? [null, 0];
    const isMoment = (one: Stop | null): one is Moment => MOMENTS.some((known) => known === one);
    const request: BatchChildRequest = {
      folder,
      url: server.url,
      dialect,
      action,
      nowMs: clock.ms,
      maxRequests: Math.max(2, Math.ceil(count / 4)),
      stopAfter: stop === null || isMoment(stop) ? null : { step: stop, count: Math.ceil(share * count) || 1 },
    };
    const child = spawn(process.execPath, [CHILD, JSON.stringify(request)], {
      stdio: ['ignore', 'pipe', 'inherit'],
      // Starting is most of the work of a run that is soon killed.
      env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'code') },
    });
    const closed = once(child, 'close');
    const end = async (): Promise<void> => {
      readUsage(child.pid ?? 0);
      child.kill('SIGKILL');
      await closed;
    };
    moment.wanted = isMoment(stop) ? stop : null;
    moment.kill = end;
    let answer: BatchChildAnswer | null = null;
    for await (const line of createInterface({ input: child.stdout })) {
      answer = JSON.parse(line);
      if (answer === 'stopped') await end();
      else readUsage(child.pid ?? 0);
    }
    await closed;
    moment.wanted = null;
    const wasKilled = child.signalCode === 'SIGKILL';
    if (!wasKilled && child.exitCode !== 0) throw new Error(`${action} ended with ${child.exitCode}`);
    if (wasKilled && stop !== null) kills.set(stop, (kills.get(stop) ?? 0) + 1);
    process.stderr.write(
      `${dialect} ${action}${stop === null ? '' : `, ${wasKilled ? 'killed at' : 'never came to'} ${stop}`}: ` +
        `${usage.cpuSeconds.toFixed(0)} s, ${usage.peakMb} MB so far, ${server.batches.length} batches\n`,
    );
    return wasKilled ? null : answer;
  };
  /** Of a process that still runs, from Linux. */
  const readUsage = (pid: number): void => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    usage.cpuSeconds += (Number(fields[11]) + Number(fields[12])) / 100;
    const [, peakKb = '0'] = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    usage.peakMb = Math.max(usage.peakMb, Math.round(Number(peakKb) / 1024));
  };
  const begunMs = performance.now();
  try {
    for (const kill of SUBMIT_KILLS) await run('submit', kill);
    await run('submit', null);
    for (let at = 0; at < count; at += 1) {
      if (isChanged(at)) writeFileSync(pathOf(at), talk(at).slice(1000));
      else if (isGrown(at)) appendFileSync(pathOf(at), tail(at));
    }
    for (const kill of COLLECT_KILLS) {
      server.finish(fateOf(tries));
      await run('collect', kill);
    }
    let states: BatchChildAnswer | null = null;
    for (let round = 0; round < 10 && !isDone(states); round += 1) {
      server.finish(fateOf(tries));
      states = await run('collect', null);
    }
    const { collected = 0, left = 0 } = states === null || states === 'stopped' ? {} : states;
    const compared = await compareWithLive(folder, dialect);
    const verify = spawn(
      process.execPath,
      [PROGRAM, 'verify', '--quiet', '--archive', join(folder, 'archive.db'), ...unchanged().map(pathOf)],
      { stdio: 'inherit', env: { ...process.env, HOME: folder } },
    );
    await once(verify, 'close');
    const paid = [...server.paid.values()];
    const twice = paid.filter((times) => times > 1).length;
    process.stdout.write(
      `${dialect}: ${count} transcripts: ${collected} compacted, ${left} left alone because they were changed; ` +
        `${paid.length} requests paid in ${server.batches.length} batches, ${twice} of them twice; ` +
        `${compared.same} of ${compared.all} have the bytes of a live run; verify ended with ${verify.exitCode}; ` +
        `${usage.cpuSeconds.toFixed(0)} s of processor time, ${usage.peakMb} MB at most, ` +
        `${((performance.now() - begunMs) / 1000).toFixed(0)} s\n` +
        `  killed at: ${[...kills].map(([stop, times]) => `${stop} ${times}`).join(', ')}\n`,
    );
    const isAsExpected =
      twice === 0 && collected === unchanged().length && collected + left === count && compared.same === compared.all;
    if (!isAsExpected || verify.exitCode !== 0) process.exitCode = 1;
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compacts some transcripts live and compares the bytes. */
async function compareWithLive(folder: string, dialect: Dialect): Promise<{ same: number; all: number }> {
  const models = await serveModels(({ body }) => summary(replyTo(body)));
  const bench = createWorkbench();
  const every = Math.max(1, Math.floor(count / Number(values.compared)));
  const compared = { same: 0, all: 0 };
  try {
    for (const at of unchanged().filter((one) => one % every === 0)) {
      const name = `talk-${at}.jsonl`;
      bench.write(name, talk(at));
      const live = await compactLive(bench, name, { dialect, url: models.url });
      const expected = isGrown(at) ? Buffer.concat([live, Buffer.from(tail(at))]) : live;
      compared.all += 1;
      if (expected.equals(readFileSync(join(folder, name)))) compared.same += 1;
    }
  } finally {
    await models.close();
    bench.remove();
  }
  return compared;
}

/** One request in 40 is not answered the first time. */
function fateOf(tries: Map<string, number>): (asked: { readonly customId: string }) => Fate {
  return ({ customId }) => {
    const times = (tries.get(customId) ?? 0) + 1;
    tries.set(customId, times);
    const at = createHash('sha256').update(customId).digest().readUInt16BE() % 120;
    return times > 1 ? 'succeeded' : at === 0 ? 'errored' : at === 1 ? 'expired' : at === 2 ? 'lost' : 'succeeded';
  };
}

function isDone(states: BatchChildAnswer | null): boolean {
  return states !== null && states !== 'stopped' && (states.collected ?? 0) + (states.left ?? 0) === count;
}

function isChanged(at: number): boolean {
  return at % EVERY.changed === EVERY.changed - 1;
}

function isGrown(at: number): boolean {
  return at % EVERY.grown === 1;
}

function unchanged(): readonly number[] {
  return Array.from({ length: count }, (_, at) => at).filter((at) => !isChanged(at));
}

/** Six messages, of which two stay; a long one has chunks that are merged. */
function talk(seed: number): string {
  return Array.from({ length: seed % EVERY.long === 0 ? 30 : 6 }, (_, at) => message(seed, at)).join('');
}

/** What the producer adds while the batch runs. */
function tail(seed: number): string {
  return message(seed, 100) + message(seed, 101);
}

function message(seed: number, at: number): string {
  const role = at % 2 === 0 ? 'user' : 'assistant';
  return `${chatLine({ role, content: `${seed}: ${prose(seed * 31 + at, 60)}` })}\n`;
}
