import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import { planErasure } from '../../../../src/app/archive/select.ts';
import { restoreFile } from '../../../../src/app/restore/restore-file.ts';
import { prose } from '../../../support/chat.ts';
import { readMembers, zipOf, type ZipLayout } from '../../../support/zip.ts';
import { benchFor, benchWith, reportOf, type Workbench } from '../../../support/workbench.ts';

/** A prompt, then `turns` calls of a tool with their results, and an event for each. */
function sampleText(name: string, turns: number, indent = 0): string {
  const rounds = Array.from({ length: turns }, (_, at) => {
    const call = { id: `${name}-c${at}`, function: 'bash', arguments: { cmd: `read ${at}` } };
    return [
      { id: `${name}-a${at}`, role: 'assistant', content: prose(at, 20), tool_calls: [call] },
      { id: `${name}-t${at}`, role: 'tool', content: prose(at + 300, 80), tool_call_id: call.id, function: 'bash' },
    ];
  });
  const events = Array.from({ length: turns }, (_, at) => ({ event: 'tool', id: `${name}-c${at}`, function: 'bash' }));
  const prompt = { id: `${name}-u`, role: 'user', content: `Mend the gate of Wilhelmina (${name}).` };
  const messages = [prompt, ...rounds.flat()];
  return JSON.stringify({ id: name, epoch: 1, uuid: `uuid-${name}`, messages, events }, null, indent);
}

const HEADER = { version: 2, status: 'success', eval: { task: 'mill' } };
const MEMBERS = [
  ['_journal/start.json', JSON.stringify({ version: 2, eval: { task: 'mill' }, plan: {} })],
  ['samples/long_epoch_1.json', sampleText('long', 8)],
  ['samples/long_epoch_1.json', sampleText('long', 14, 2)], // it was run again
  ['samples/short_epoch_1.json', sampleText('short', 1)],
  ['samples/other_epoch_1.json', sampleText('other', 12)],
  ['header.json', JSON.stringify(HEADER)],
] as const satisfies Parameters<typeof zipOf>[0];

const compact = async (bench: Workbench, keepRecent: number): Promise<string> =>
  reportOf(await bench.compact('log.eval', { compaction: { keepRecent, maxSummaryTokens: 120 } })).result;

for (const layout of [{ method: 'deflate', isZip64: true }, { method: 'zstd' }] as const satisfies readonly ZipLayout[])
  test(`a log of Inspect AI with ${layout.method} is compacted twice, and both times restored to the last byte`, async (t) => {
    const bench = benchFor(t);
    const original = zipOf(MEMBERS, layout);
    bench.write('log.eval', original);
    assert.equal(await compact(bench, 8), 'compacted');
    const once = bench.read('log.eval');
    assert.deepEqual((await bench.verify('log.eval')).problems, []);
    assert.ok((await bench.restore('log.eval')).equals(original));
    assert.equal(await compact(bench, 3), 'compacted');
    assert.equal(await compact(bench, 3), 'skipped');
    assert.deepEqual((await bench.verify('log.eval')).problems, []);
    assert.ok((await bench.restore('log.eval', false)).equals(once));
    assert.ok((await bench.restore('log.eval')).equals(original));

    const [before, after] = [readMembers(original), readMembers(bench.read('log.eval'))];
    assert.deepEqual(
      after.map(({ name }) => name),
      MEMBERS.map(([name]) => name),
    );
    const changed = before.flatMap(({ packed }, at) => (after[at]?.packed.equals(packed) === true ? [] : [at]));
    assert.deepEqual(changed, [2, 4], 'only the newest members of long samples');
    for (const at of changed) {
      const [was, is] = [JSON.parse(before[at]?.text ?? ''), JSON.parse(after[at]?.text ?? '')];
      assert.deepEqual(Object.keys(is), Object.keys(was));
      assert.deepEqual(is.messages.at(-1), was.messages.at(-1));
      assert.match(is.messages[1].content + is.messages[0].content, /Context Summary/);
      assert.ok(is.messages.length < was.messages.length && is.events.length < was.events.length);
    }
  });

suite('what else happens to a log of Inspect AI', () => {
  test('its zip file is never printed, and stays a zip file under another name', async (t) => {
    const bench = benchWith(t, 'log.eval', zipOf(MEMBERS));
    const settings = { compaction: { keepRecent: 3, maxSummaryTokens: 120 } };
    const printed = await bench.compact('log.eval', { ...settings, output: { kind: 'stdout' } });
    assert.deepEqual(!printed.ok && printed.error, { kind: 'zip-on-stdout', file: 'log.eval' });
    const copied = await bench.compact('log.eval', {
      ...settings,
      output: { kind: 'file', path: bench.path('log.json') },
    });
    assert.equal(reportOf(copied).result, 'compacted');
    assert.equal(readMembers(bench.read('log.json')).length, MEMBERS.length);
    const input = { path: bench.path('log.json'), name: 'log.json', format: null };
    const restored = await restoreFile(bench.deps, { input, output: { kind: 'stdout' }, all: true });
    assert.equal(!restored.ok && restored.error.kind, 'zip-on-stdout');
    assert.equal(bench.stdout().length, 0);
  });

  test('a transcript that is written to a name with .eval does not become one', async (t) => {
    const bench = benchWith(t, 'talk.json', sampleText('talk', 12).replace('"events":[', '"other":['));
    const output = { kind: 'file', path: bench.path('talk.eval') } as const;
    reportOf(await bench.compact('talk.json', { output, compaction: { keepRecent: 3, maxSummaryTokens: 60 } }));
    assert.equal(JSON.parse(bench.read('talk.eval').toString('utf8')).id, 'talk');
  });

  test('erasing a text finds it in the packed samples too, and in no others', async (t) => {
    const bench = benchWith(t, 'log.eval', zipOf(MEMBERS, { method: 'zstd' }));
    await compact(bench, 3);
    const packedIn = async (selector: Parameters<typeof planErasure>[1]['selector']): Promise<number> => {
      const plan = await planErasure(bench.deps, { archive: bench.archive(), selector, holds: [] });
      const ids = new Set(plan?.parts.flatMap(({ lineIds }) => lineIds ?? []));
      let packed = 0;
      for (const { compaction } of plan?.parts ?? [])
        for await (const batch of bench.archive().readLines(compaction.id))
          for (const { id, bytes } of batch)
            if (ids.has(id) && Buffer.from(bytes).toString('latin1').startsWith('{"packed":"')) packed += 1;
      return packed;
    };
    // The prompts stay in the file: only the packed samples have them in the archive.
    assert.equal(await packedIn({ kind: 'match', text: 'Wilhelmina (other)' }), 1);
    assert.equal(await packedIn({ kind: 'match', text: 'Wilhelmina' }), 2);
    assert.equal(await packedIn({ kind: 'match', text: 'nobody wrote this' }), 0);
    assert.equal(await packedIn({ kind: 'message', id: 'other-a2' }), 1);
  });

  test('a line of another transcript that looks like a packed sample is searched as it is', async (t) => {
    const bench = benchFor(t);
    const packed = deflateRawSync(Buffer.from('Wilhelmina')).toString('base64');
    const odd = [`{"packed":"QUJDREVGR0g=","method":8,"size":9}`, `{"packed":"${packed}","method":8,"size":10}`];
    const lines = Array.from({ length: 14 }, (_, at) =>
      JSON.stringify({ role: at % 2 === 0 ? 'user' : 'assistant', content: prose(at, 60) }),
    );
    bench.write('talk.jsonl', `${[lines[0], ...odd, ...lines.slice(1)].join('\n')}\n`);
    const settings = { compaction: { keepRecent: 3, maxSummaryTokens: 60 }, keepInvalid: true };
    assert.equal(reportOf(await bench.compact('talk.jsonl', settings)).result, 'compacted');
    const selector = { kind: 'match', text: 'Wilhelmina' } as const;
    const plan = await planErasure(bench.deps, { archive: bench.archive(), selector, holds: [] });
    assert.deepEqual(plan?.parts, []);
  });
});
