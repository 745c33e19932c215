import assert from 'node:assert/strict';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { MessageHit } from '../../src/app/contract/archive-reports.ts';
import { showArchived } from '../../src/app/search/show-archived.ts';
import { capture, damage } from '../support/captures.ts';
import { chatLine, chatTranscript } from '../support/chat.ts';
import { erase } from '../support/retention.ts';
import { findMessages, search } from '../support/searching.ts';
import { benchFor, benchWith, reportOf, type Workbench } from '../support/workbench.ts';

const placesOf = (hits: readonly MessageHit[], { folder }: Workbench): readonly string[] =>
  hits.map(({ file, line }) => `${file.slice(folder.length + 1)}:${line}`);

const FILLER = Array.from({ length: 40 }, (_, at) => chatLine({ role: 'user', content: `filler ${at}` }));
const TALK = [
  chatLine({ role: 'user', content: 'Why does the migration fail?' }),
  chatLine({ role: 'assistant', content: 'The parser fails during migrations of the old table.' }),
  chatLine({ role: 'user', content: 'Überprüfe die Größe, 日本語のテキスト' }),
];
const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;

test('messages of captured files are found in any form of the words, best first, with their places', async (t) => {
  const bench = benchWith(t, 'a.jsonl', text([...FILLER, ...TALK]));
  await capture(bench, 'a.jsonl');
  const hits = await findMessages(bench, 'parsers migration');
  assert.deepEqual(placesOf(hits, bench), ['a.jsonl:42', 'a.jsonl:41']);
  const [first] = hits;
  assert.ok(first !== undefined);
  assert.deepEqual(
    first.marks.map(({ start, end }) => first.text.slice(start, end)),
    ['parser', 'migrations'],
  );
  assert.deepEqual([first.show, first.role, first.label, first.index], ['captured:42', 'assistant', null, null]);
  const shown = await showArchived(bench.deps, { name: first.show });
  assert.ok(shown.ok && shown.value.kind === 'message');
  assert.equal(shown.value.text, 'The parser fails during migrations of the old table.');
  assert.equal(shown.value.original.data, `${TALK[1] ?? ''}\n`);
  const place = async (query: string, changes = {}): Promise<readonly string[]> =>
    placesOf(await findMessages(bench, query, changes), bench);
  assert.deepEqual(await place('größe'), ['a.jsonl:43']);
  assert.deepEqual(await place('日本語'), ['a.jsonl:43']);
  assert.deepEqual(await place('zebra'), []);
  assert.deepEqual(await place('migration', { role: 'assistant' }), ['a.jsonl:42']);
  assert.equal((await place('filler', { limit: 3 })).length, 3);
});

test('a log in Markdown is searched block by block', async (t) => {
  const bench = benchFor(t);
  const log =
    '# aider chat started at 1\n\n#### Why does it drift?\n\nThe hopper is loose.\n\nTighten it.\n> Tokens: 9\n';
  bench.write('log.md', log);
  await capture(bench, 'log.md');
  const [hit] = await findMessages(bench, 'hopper');
  assert.deepEqual([hit?.role, hit?.text], ['assistant', 'The hopper is loose. Tighten it.']);
});

test('what was rewritten or is gone is found, and what versions and forks share is found once', async (t) => {
  const bench = benchWith(t, 'a.jsonl', text([...FILLER, ...TALK]));
  bench.write('fork.jsonl', text([...FILLER, ...TALK, chatLine({ role: 'user', content: 'only the fork' })]));
  await capture(bench, 'a.jsonl');
  await capture(bench, 'fork.jsonl');
  writeFileSync(bench.path('a.jsonl'), text(FILLER.slice(1)));
  await capture(bench, 'a.jsonl');
  rmSync(bench.path('fork.jsonl'));
  const place = async (query: string, changes = {}): Promise<readonly string[]> =>
    placesOf(await findMessages(bench, query, changes), bench);
  assert.deepEqual(await place('parser'), ['a.jsonl:42']);
  assert.deepEqual(await place('fork'), ['fork.jsonl:44']);
  assert.equal((await place('filler', { limit: 100 })).length, FILLER.length);
  assert.deepEqual(await place('parser', { source: 'fork.jsonl' }), ['fork.jsonl:42']);
  assert.deepEqual(await place('parser', { source: 'other.jsonl' }), []);
});

test('a line that was captured in two parts is found, and damage hides only its own block', async (t) => {
  const bench = benchFor(t);
  const [start, end] = [TALK[1]?.slice(0, 20) ?? '', TALK[1]?.slice(20) ?? ''];
  bench.write('a.jsonl', text(FILLER) + start);
  await capture(bench, 'a.jsonl');
  assert.deepEqual(await findMessages(bench, 'parser'), []);
  appendFileSync(bench.path('a.jsonl'), `${end}\n`);
  await capture(bench, 'a.jsonl');
  const [hit] = await findMessages(bench, 'parser');
  assert.match(hit?.text ?? '', /^The parser fails/);
  bench.write('b.jsonl', text(['x'.repeat(300_000), chatLine({ role: 'user', content: 'my own zebra' })]));
  await capture(bench, 'b.jsonl');
  bench.write('c.jsonl', text([chatLine({ role: 'user', content: 'a zebra of mine' })]));
  await capture(bench, 'c.jsonl');
  damage(bench, 'UPDATE captured_blocks SET data = zeroblob(9) WHERE id = 1');
  assert.deepEqual(placesOf(await findMessages(bench, 'zebra'), bench), ['c.jsonl:1']);
});

test('a line that is captured and archived is one hit, whichever came first, and is found again when one goes', async (t) => {
  for (const isCapturedFirst of [true, false]) {
    const bench = benchFor(t);
    bench.write('a.jsonl', text([chatLine({ role: 'user', content: 'the zebra is loose' })]) + chatTranscript(30));
    bench.write('copy.jsonl', bench.read('a.jsonl'));
    const output = { kind: 'file', path: bench.path('a.compact.jsonl') } as const;
    const shows = async (): Promise<readonly string[]> =>
      (await findMessages(bench, 'zebra loose')).map(({ show }) => show);
    if (isCapturedFirst) {
      await capture(bench, 'a.jsonl');
      await capture(bench, 'copy.jsonl');
      assert.deepEqual(await shows(), ['captured:1']);
    }
    reportOf(await bench.compact('a.jsonl', { output }));
    if (!isCapturedFirst) {
      assert.deepEqual(await shows(), ['message:1']);
      await capture(bench, 'a.jsonl');
      await capture(bench, 'copy.jsonl');
    }
    assert.deepEqual(await shows(), ['message:1']);
    // What the copy has too stays.
    await erase(bench, { kind: 'source', glob: 'a.jsonl' });
    assert.deepEqual(
      [await shows(), placesOf(await findMessages(bench, 'zebra loose'), bench)],
      [['captured:1'], ['copy.jsonl:1']],
    );
    await erase(bench, { kind: 'source', glob: 'copy.jsonl' });
    assert.deepEqual(await search(bench, 'zebra loose'), {
      schema: 'compact/search@1',
      query: 'zebra loose',
      hits: [],
      archive: bench.archivePath,
      unindexed: null,
    });
  }
});
