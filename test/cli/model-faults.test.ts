import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { readArchiveRows } from '../support/archive-rows.ts';
import { type FaultRow, printFaultTable } from '../support/fault-table.ts';
import { eachFault, type ModelFault } from '../support/model-faults.ts';
import { KEY, type ModelScene, openModelScene, paidTexts, summary, talkOf } from '../support/model-scene.ts';
import { failing } from '../support/model-server/reply.ts';
import { startModelServer } from '../support/model-server/start.ts';
import { type Ended, runHere } from '../support/program.ts';
import { waitsMs } from '../support/quick-waits.ts';

const rows: FaultRow[] = [];
after(() => {
  if (process.env['FAULT_TABLE'] === '1') printFaultTable(rows);
});

suite('a fault of the service at every request', () => {
  for (const { fault, provider } of eachFault()) {
    const { what, reply, says, calls, settings = {} } = fault;
    test(`${provider}: ${what}: exit 1 after ${calls} calls, and everything is unchanged`, async (t) => {
      const server = await startModelServer(t, () => reply(provider));
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
      rows.push({ fault: what, provider, ...found });
      assert.deepEqual(found, { exit: 1, calls, isUnchanged: true, archived: 0, strangers: [], stdout: '' });
      assertTold(ended, { scene, says });
      assertWaited(fault);
    });
  }
});

suite('a fault in the middle', () => {
  for (const { fault, provider } of eachFault()) {
    const { what, reply, says, calls, settings = {} } = fault;
    if (['401', '529', 'a refusal', 'a reset', 'a hang'].includes(what)) {
      test(`${provider}: ${what} at the third chunk of five: two are remembered, and the next run asks for three`, async (t) => {
        const state = { isBroken: true };
        const server = await startModelServer(t, (_, index) =>
          state.isBroken && index >= 2 ? reply(provider) : summary(`Part ${index + 1} was told.`),
        );
        const scene = openModelScene(t, { provider, url: server.url, transcript: talkOf(20), settings });
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

function assertWaited({ waits = [] }: ModelFault): void {
  const seconds = waitsMs.map((ms) => Math.ceil(ms / 1000));
  if (waits !== 'until a date') return assert.deepEqual(seconds, waits);
  assert.ok(seconds.length === 2 && seconds.every((wait) => wait >= 29 && wait <= 31), seconds.join(', '));
}
