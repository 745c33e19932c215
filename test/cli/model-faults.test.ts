import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { readArchiveRows } from '../support/archive-rows.ts';
import { HELD_MS } from '../support/held-deadlines.ts';
import {
  KEY,
  type ModelScene,
  openModelScene,
  paidTexts,
  type Provider,
  type Settings,
  summary,
  talkOf,
} from '../support/model-scene.ts';
import { answer, failing, type Reply } from '../support/model-server/reply.ts';
import { startModelServer } from '../support/model-server/start.ts';
import { type Ended, runHere } from '../support/program.ts';
import { waitsMs } from '../support/quick-waits.ts';

/** What a service does to every request, and what then becomes of a chunk of four messages, which can be halved once. */
type Fault = {
  readonly what: string;
  readonly reply: Reply | ((provider: Provider) => Reply);
  /** What the user is told of it. */
  readonly says: RegExp;
  readonly calls: number;
  /** Whole seconds before each call that was waited for; 'until a date': about half a minute each. */
  readonly waits?: readonly number[] | 'until a date';
  readonly settings?: Settings;
  readonly providers?: readonly Provider[];
};

const SOME = 'They looked into the build, and found the port that was wrong.';
const CONTROLS = '\n\u001b[31mred\r\u2028';
const SLOW_DOWN = /answered 429 \(slow down\)/;
/** Ollama is asked by the same code as other servers of OpenAI's kind. */
const BOTH: readonly Provider[] = ['anthropic', 'openai-compat'];

/** On the second, as the header has it, half a minute from now. */
const soon = (): string => new Date(Math.ceil(Date.now() / 1000) * 1000 + 30_000).toUTCString();
const tooLong = (provider: Provider): Reply =>
  provider === 'anthropic'
    ? failing(400, 'prompt is too long: 9 tokens > 8 maximum')
    : failing(400, 'no room', { code: 'context_length_exceeded' });

/** One of each kind. Of which kind a fault is: adapters/model/service-failures.test.ts and answers.test.ts, core/summary-check.test.ts. */
const FAULTS: readonly Fault[] = [
  {
    what: '401 that repeats the key',
    reply: failing(401, `no such key: ${KEY}`),
    says: /answered 401 \(no such key: \[key\]\): check the key/,
    calls: 1,
  },
  {
    what: '404',
    reply: failing(404, 'no such model'),
    says: /answered 404 \(no such model\): .*ollama list/,
    calls: 1,
    providers: ['ollama'],
  },
  { what: '429', reply: failing(429, 'slow down'), says: SLOW_DOWN, calls: 3, waits: [1, 2] },
  {
    what: '429 until a date',
    reply: () => failing(429, 'slow down', { headers: { 'retry-after': soon() } }),
    says: SLOW_DOWN,
    calls: 3,
    waits: 'until a date',
  },
  {
    what: '429 for a day',
    reply: failing(429, 'slow down', { headers: { 'retry-after': '86400' } }),
    says: SLOW_DOWN,
    calls: 3,
    waits: [60, 60],
  },
  {
    what: '500 with control characters',
    reply: failing(500, `oops${CONTROLS}`),
    says: /answered 500 \(oops \[31mred\)/,
    calls: 3,
    waits: [1, 2],
  },
  { what: 'an empty answer', reply: summary(''), says: /no text/, calls: 6 },
  {
    what: 'an answer that is cut off at the token limit',
    reply: (provider) => summary(SOME, { stop: provider === 'anthropic' ? 'max_tokens' : 'length' }),
    says: /cut off at the token limit \(test-model\): max_summary_tokens allows more/,
    calls: 4,
  },
  {
    what: 'an error as the answer, with control characters',
    reply: summary(`API Error: 502 Bad Gateway${CONTROLS}`),
    says: /an error message: API Error: .*red/,
    calls: 6,
  },
  {
    what: 'a reset',
    reply: { kind: 'reset' },
    says: /closed the connection \(ECONNRESET\)/,
    calls: 3,
    waits: [1, 2],
  },
  {
    // As long as the test holds the deadline, once with all of it and three times with half of it.
    what: 'a stream that hangs half-way',
    reply: answer(SOME, { half: 'hang' }),
    says: /did not complete its answer within 123\.456 s: compaction_timeout allows more/,
    calls: 4,
    waits: [1, 1, 2],
    settings: { compaction_timeout: HELD_MS },
  },
  {
    what: 'a context that is too long',
    reply: tooLong,
    says: /answered 400 \((?:prompt is too long|no room)/,
    calls: 2,
  },
  {
    what: 'a prompt that is cut in silence',
    reply: answer(SOME, { usage: { input: 9, output: 9 } }),
    says: /read 9 tokens of about \d+, so it has cut the request: give the model a larger context/,
    calls: 2,
    providers: ['ollama'],
  },
];

const replyOf = ({ reply }: Fault, provider: Provider): Reply =>
  typeof reply === 'function' ? reply(provider) : reply;

suite('a fault of the service at every request', () => {
  for (const fault of FAULTS) {
    const { what, says, calls, settings = {}, providers = BOTH } = fault;
    for (const provider of providers) {
      test(`${provider}: ${what}: exit 1 after ${calls} calls, and everything is unchanged`, async (t) => {
        const server = await startModelServer(t, () => replyOf(fault, provider));
        const scene = openModelScene(t, { provider, url: server.url, transcript: talkOf(4), settings });
        const before = scene.sha256();
        waitsMs.splice(0);
        const ended = await runHere(['-i', ...scene.args]);
        const found = {
          exit: ended.code,
          calls: server.requests.length,
          isUnchanged: scene.sha256() === before,
          archived: archivedRows(scene),
          strangers: scene.strangers(),
          stdout: ended.stdout,
        };
        assert.deepEqual(found, { exit: 1, calls, isUnchanged: true, archived: 0, strangers: [], stdout: '' });
        assertTold(ended, { scene, says });
        assertWaited(fault);
      });
    }
  }
});

suite('a fault in the middle', () => {
  for (const fault of FAULTS) {
    const { what, says, calls, settings = {} } = fault;
    if (!/^(?:401|500|an empty|a reset|a stream)/.test(what)) continue;
    test(`${what} at the third chunk of five: two are remembered, and the next run asks for three`, async (t) => {
      const state = { isBroken: true };
      const server = await startModelServer(t, (_, index) =>
        state.isBroken && index >= 2 ? replyOf(fault, 'openai-compat') : summary(`Part ${index + 1} was told.`),
      );
      const scene = openModelScene(t, {
        provider: 'openai-compat',
        url: server.url,
        transcript: talkOf(20),
        settings,
      });
      const before = scene.sha256();
      const ended = await runHere(['-i', ...scene.args]);
      assert.deepEqual(
        [ended.code, server.requests.length, scene.sha256() === before, scene.strangers()],
        [1, 2 + calls, true, []],
      );
      assert.match(ended.stderr, says);
      assert.deepEqual([paidTexts(scene.archive).length, archivedRows(scene)], [2, 2]);
      state.isBroken = false;
      const next = await runHere(['-i', ...scene.args]);
      assert.deepEqual([next.code, server.requests.length], [0, 2 + calls + 3], next.stderr);
      assert.match(scene.text(), /Part 1 was told\./);
      assert.match(scene.text(), /Part 2 was told\./);
    });
  }
});

test('a fault when the summaries are summarized: all of them are remembered, and the next run asks for that one alone', async (t) => {
  const state = { isBroken: true };
  const server = await startModelServer(t, (_, index) =>
    state.isBroken && index === 5 ? failing(403, 'not for you') : summary(`Part ${index + 1} was told.`),
  );
  const settings = { clip_first: 1, clip_last: 1 };
  const scene = openModelScene(t, { provider: 'anthropic', url: server.url, transcript: talkOf(20), settings });
  const before = scene.sha256();
  const ended = await runHere(['-i', ...scene.args]);
  assert.deepEqual(
    [ended.code, server.requests.length, scene.sha256() === before, paidTexts(scene.archive).length],
    [1, 6, true, 5],
  );
  state.isBroken = false;
  const next = await runHere(['-i', ...scene.args]);
  assert.deepEqual([next.code, server.requests.length], [0, 7], next.stderr);
  assert.match(scene.text(), /Part 7 was told\..*Part 5 was told\./);
});

/** Rows of everything that the archive has a table for. */
function archivedRows({ archive }: ModelScene): number {
  return Object.values(readArchiveRows(archive)?.counts ?? {}).reduce((sum, count) => sum + count, 0);
}

function assertTold({ stderr }: Ended, { scene, says }: { readonly scene: ModelScene; readonly says: RegExp }): void {
  const lines = stderr.trimEnd().split('\n');
  const last = lines.at(-1) ?? '';
  const spent = /^ It took [\d,]+ calls?, [\d,]+ tokens? in, [\d,]+ out\.$/;
  const [told, rest = ''] = last.split(
    '. The file is unchanged. Once that is solved, another run asks only for what is missing. You can also use another provider.',
  );
  assert.ok(told?.startsWith(`${scene.file}: no summary: `) === true && (rest === '' || spent.test(rest)), stderr);
  assert.match(last, says);
  assert.match(last, /127\.0\.0\.1:\d+ |\(test-model\)/);
  // All else are waits, and each is told.
  assert.equal(lines.length - 1, waitsMs.length, stderr);
  for (const line of lines.slice(0, -1)) assert.match(line, /; (?:trying again|asking for half of it) in \d+ s/);
  // oxlint-disable-next-line no-control-regex -- those are looked for
  assert.doesNotMatch(stderr, /[\u0000-\u0009\u000b-\u001f\u2028]/);
  assert.ok(!stderr.includes(KEY), 'the key is told');
}

function assertWaited({ waits = [] }: Fault): void {
  const seconds = waitsMs.map((ms) => Math.ceil(ms / 1000));
  if (waits !== 'until a date') return assert.deepEqual(seconds, waits);
  assert.ok(seconds.length === 2 && seconds.every((wait) => wait >= 29 && wait <= 31), seconds.join(', '));
}
