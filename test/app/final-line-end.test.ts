import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { CODECS } from '../support/codecs.ts';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, benchWith, type BenchSettings, reportOf } from '../support/workbench.ts';
import { collect } from '../support/collect.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');
const SETTINGS: BenchSettings = { keepInvalid: true, compaction: { keepRecent: 4, maxSummaryTokens: 120 } };

const original = chatTranscript(30).trimEnd();
const MORE = chatTranscript(12, 100);

for (const { format } of CODECS.filter(
  ({ format: { layout, whyReadOnly }, records }) =>
    layout.kind !== 'document' && whyReadOnly === undefined && records === undefined,
)) {
  test(`${format.name}: a last line without an ending stays without one, and may be continued`, async (t) => {
    const counts = { compacted: 0 };
    const enough = 2;
    const names = readdirSync(join(FIXTURES, format.name)).filter((one) => one.endsWith('.jsonl'));
    // Another line ending is the likeliest to go wrong.
    for (const name of names.toSorted((a, b) => Number(b.includes('crlf')) - Number(a.includes('crlf')))) {
      if (counts.compacted === enough) break;
      const bench = benchFor(t);
      const text = readFileSync(join(FIXTURES, format.name, name), 'latin1').trimEnd();
      // In the middle of a record, as a program leaves it that is just writing.
      const rest = text.slice(-9);
      const before = Buffer.from(text.slice(0, -9), 'latin1');
      bench.write(name, before);
      const done = await bench.compact(name, { ...SETTINGS, format: format.name });
      if (!done.ok || done.value.result !== 'compacted') continue;
      counts.compacted += 1;
      const lastLine = text.slice(text.lastIndexOf('\n') + 1, -9);
      assert.ok(bench.read(name).toString('latin1').endsWith(lastLine), name);
      const { problems, lines } = await bench.verify(name);
      assert.deepEqual({ problems, appended: lines.appended }, { problems: [], appended: 0 }, name);
      assert.deepEqual(await bench.restore(name), before, name);
      const grown = Buffer.concat([before, Buffer.from(`${rest}\n`, 'latin1')]);
      appendFileSync(bench.path(name), `${rest}\n`, 'latin1');
      assert.deepEqual((await bench.verify(name)).problems, [], name);
      assert.deepEqual(await bench.restore(name), grown, name);
      const again = await bench.compact(name, {
        compaction: { keepRecent: 1 },
        keepInvalid: true,
        format: format.name,
      });
      assert.ok(again.ok, name);
      assert.deepEqual(await bench.restore(name), grown, name);
      assert.deepEqual(
        (await collect(bench.archive().check())).filter(({ kind }) => kind === 'damage'),
        [],
        name,
      );
    }
    assert.ok(counts.compacted > 0);
  });
}

suite('a file without a final line end', () => {
  test('is left alone while half a line with several records is being written', async (t) => {
    const bench = benchFor(t);
    const lines = readFileSync(join(FIXTURES, 'conversation-lines/odd-spacing-crlf-no-last-newline.jsonl')).subarray(
      0,
      -9,
    );
    bench.write('talk.jsonl', lines);
    const report = reportOf(await bench.compact('talk.jsonl', { ...SETTINGS, format: 'conversation-lines' }));
    assert.deepEqual([report.result, report.reason], ['skipped', 'in-use']);
    assert.match(report.notes.join(), /its last line is neither ended nor whole/);
    assert.deepEqual(bench.read('talk.jsonl'), lines);
  });

  test('can be compacted again after its producer ended the line and went on', async (t) => {
    const bench = benchWith(t, 'talk.jsonl', original);
    assert.equal(reportOf(await bench.compact('talk.jsonl')).result, 'compacted');
    assert.ok(bench.read('talk.jsonl').toString().endsWith('"}'));
    appendFileSync(bench.path('talk.jsonl'), `\n${MORE}`);
    assert.equal(reportOf(await bench.compact('talk.jsonl')).result, 'compacted');
    assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
    assert.equal((await bench.restore('talk.jsonl')).toString(), `${original}\n${MORE}`);
  });

  test('gives the same bytes from what is stored', async (t) => {
    const bench = benchWith(t, 'talk.jsonl', original);
    const output = (name: string) => ({ output: { kind: 'file', path: bench.path(name) } as const });
    reportOf(await bench.compact('talk.jsonl', output('one.jsonl')));
    const again = reportOf(await bench.compact('talk.jsonl', output('two.jsonl')));
    assert.ok(again.notes.some((note) => note.includes('stored summaries were used')));
    assert.deepEqual(bench.read('two.jsonl'), bench.read('one.jsonl'));
  });

  test('continues after a line ending that its producer adds meanwhile', async (t) => {
    const more = [`\n${MORE}`];
    const bench = benchFor(t, {
      reached: (step) => {
        if (step === 'written') appendFileSync(bench.path('talk.jsonl'), more.pop() ?? '');
      },
    });
    bench.write('talk.jsonl', original);
    const report = reportOf(await bench.compact('talk.jsonl'));
    assert.equal(report.bytes.after, bench.read('talk.jsonl').length);
    assert.ok(bench.read('talk.jsonl').toString().endsWith(`"}\n${MORE}`));
    assert.equal(
      report.notes.some((note) => note.includes('carried over')),
      true,
    );
    assert.equal((await bench.restore('talk.jsonl')).toString(), `${original}\n${MORE}`);
  });
});
