import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { FORMATS } from '../../src/adapters/transcript/registry.ts';
import { chatTranscript } from '../support/chat.ts';
import { benchFor, type BenchSettings, reportOf } from '../support/workbench.ts';
import { collect } from '../support/collect.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');
const SETTINGS: BenchSettings = { keepInvalid: true, compaction: { keepRecent: 4, maxSummaryTokens: 120 } };

const original = chatTranscript(30).trimEnd();
const MORE = chatTranscript(12, 100);

for (const { format } of FORMATS.filter(
  ({ format: { layout, whyReadOnly } }) => layout.kind !== 'document' && whyReadOnly === undefined,
)) {
  test(`${format.name}: a file without a final line end gets one, and is restored without it`, async (t) => {
    const counts = { compacted: 0 };
    const enough = 2;
    const names = readdirSync(join(FIXTURES, format.name)).filter((one) => one.endsWith('.jsonl'));
    // Another line ending is the likeliest to go wrong.
    for (const name of names.toSorted((a, b) => Number(b.includes('crlf')) - Number(a.includes('crlf')))) {
      if (counts.compacted === enough) break;
      const bench = benchFor(t);
      const text = readFileSync(join(FIXTURES, format.name, name), 'latin1').trimEnd();
      const before = Buffer.from(text, 'latin1');
      bench.write(name, before);
      const done = await bench.compact(name, { ...SETTINGS, format: format.name });
      if (!done.ok || done.value.result !== 'compacted') continue;
      counts.compacted += 1;
      const after = bench.read(name).toString('latin1');
      assert.ok(after.endsWith(text.includes('\r\n') ? '\r\n' : '\n'), name);
      assert.ok(!/[\r\n]{3}$/.test(after), name);
      const { problems, lines } = await bench.verify(name);
      assert.deepEqual({ problems, appended: lines.appended }, { problems: [], appended: 0 }, name);
      assert.deepEqual(await bench.restore(name), before, name);
      // A producer that writes whole records, each with its line end.
      const record = `${text.split(/\r?\n/).findLast((line) => line.startsWith('{') && line.endsWith('}'))}\n`;
      appendFileSync(bench.path(name), record, 'latin1');
      assert.ok((await bench.verify(name)).lines.appended > 0, name);
      const grown = Buffer.from(`${text}\n${record}`, 'latin1');
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
  test('can be compacted again after its producer went on, without --keep-invalid', async (t) => {
    const bench = benchFor(t);
    bench.write('talk.jsonl', original);
    assert.equal(reportOf(await bench.compact('talk.jsonl')).result, 'compacted');
    appendFileSync(bench.path('talk.jsonl'), MORE);
    assert.equal(reportOf(await bench.compact('talk.jsonl')).result, 'compacted');
    assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
    assert.equal((await bench.restore('talk.jsonl')).toString(), `${original}\n${MORE}`);
  });

  test('gives the same bytes from what is stored', async (t) => {
    const bench = benchFor(t);
    bench.write('talk.jsonl', original);
    const output = (name: string) => ({ output: { kind: 'file', path: bench.path(name) } as const });
    reportOf(await bench.compact('talk.jsonl', output('one.jsonl')));
    const again = reportOf(await bench.compact('talk.jsonl', output('two.jsonl')));
    assert.ok(again.notes.some((note) => note.includes('stored summaries were used')));
    assert.deepEqual(bench.read('two.jsonl'), bench.read('one.jsonl'));
    assert.equal(bench.read('one.jsonl').at(-1), 0x0a);
  });

  test('is restored unchanged if something removed the line ending since', async (t) => {
    const bench = benchFor(t);
    bench.write('talk.jsonl', original);
    reportOf(await bench.compact('talk.jsonl'));
    bench.write('talk.jsonl', bench.read('talk.jsonl').subarray(0, -1));
    assert.equal((await bench.restore('talk.jsonl')).toString(), original);
    appendFileSync(bench.path('talk.jsonl'), MORE);
    assert.deepEqual((await bench.verify('talk.jsonl')).problems, []);
    assert.equal((await bench.restore('talk.jsonl')).toString(), original + MORE);
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
