import assert from 'node:assert/strict';
import { appendFileSync, copyFileSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { renderFailure } from '../../../src/messages/failure.ts';
import type { EraseSelector } from '../../../src/app/archive/select.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import { capture } from '../../support/captures.ts';
import { chatLine, chatTranscript } from '../../support/chat.ts';
import { folderWith } from '../../support/folders.ts';
import { findLeftovers } from '../../support/leftovers.ts';
import { change } from '../../support/full-archive.ts';
import { contentsOf, fileTarget, merge, type MergeTarget, tryMerge } from '../../support/merging.ts';
import { erase as eraseAny, prune } from '../../support/retention.ts';
import { killWhereItStops } from '../../support/stopping.ts';
import { benchFor, benchWith, reportOf, rerun, type Workbench } from '../../support/workbench.ts';

/** An archive with two cycles of one conversation and with a captured file; closed, so that its file is complete. */
async function sceneFor(t: TestContext, text: string): Promise<Workbench> {
  const bench = benchWith(t, 'talk.jsonl', text);
  await capture(bench, 'talk.jsonl');
  reportOf(await bench.compact('talk.jsonl'));
  appendFileSync(bench.path('talk.jsonl'), chatTranscript(20, 200));
  reportOf(await bench.compact('talk.jsonl'));
  return bench;
}

async function erase(bench: Workbench, selector: EraseSelector): Promise<void> {
  assert.equal((await eraseAny(bench, selector)).result, 'erased');
}

async function pruneAll(bench: Workbench): Promise<void> {
  assert.equal((await prune(bench, { before: new Date(Date.now() + 1e9) })).result, 'erased');
}

function placeIn(folder: string, name: string): MergeTarget {
  return fileTarget(join(folder, name));
}

/** The files of a bench with another archive. */
function withArchive(t: TestContext, bench: Workbench, target: MergeTarget): Workbench {
  const opened: { archive?: Promise<Archive> } = {};
  t.after(async () => (await opened.archive)?.close());
  return rerun(t, bench, {
    archivePath: target.place,
    openArchive: async () => ({ ok: true, value: await (opened.archive ??= target.open()) }),
  });
}

test('a merged archive restores what the others had', async (t) => {
  const a = await sceneFor(t, chatTranscript(30));
  const b = await sceneFor(t, chatTranscript(30, 400));
  const target = placeIn(folderWith(t, {}), 'x.db');
  await merge(target, [b.archivePath]);
  await merge(target, [a.archivePath]);
  const moved = withArchive(t, a, target);
  await merge(target, [a.archivePath]);
  const archive = await target.open();
  t.after(() => archive.close());
  const deeds = (await archive.log.list()).map(({ action, details }) => [action, JSON.parse(details)]);
  assert.deepEqual(
    deeds.map(([action, { from, begun, compactions, captured }]) => [action, from, begun ?? [compactions, captured]]),
    [b, a].flatMap(({ archivePath }) => [
      ['merge', archivePath, true],
      ['merge', archivePath, [2, 1]],
    ]),
  );
  assert.deepEqual(await moved.restore('talk.jsonl'), await a.restore('talk.jsonl'));
  assert.equal((await moved.verify('talk.jsonl')).result, 'verified');
});

/** A word that occurs nowhere else, and that stemming leaves alone. */
const SECRET = 'zanzibarquux';
const SECRET_LINE = `${chatLine({ role: 'user', content: `My password is ${SECRET}, never write it down.` })}\n`;
const TALK = SECRET_LINE + chatTranscript(30);

/** Two archives that were one, and then archived more, each on its own. */
async function parted(t: TestContext): Promise<{ readonly bench: Workbench; readonly copy: MergeTarget }> {
  const bench = await sceneFor(t, TALK);
  const copy = placeIn(folderWith(t, {}), 'copy.db');
  await merge(copy, [bench.archivePath]);
  const onCopy = withArchive(t, bench, copy);
  appendFileSync(bench.path('talk.jsonl'), chatTranscript(20, 300));
  reportOf(await onCopy.compact('talk.jsonl'));
  onCopy.write('again.jsonl', TALK);
  await capture(onCopy, 'again.jsonl');
  reportOf(await onCopy.compact('again.jsonl'));
  return { bench, copy };
}

async function assertRefused(target: MergeTarget, others: readonly string[]): Promise<void> {
  const before = await contentsOf(target);
  const refused = await tryMerge(target, others);
  assert.ok(!refused.ok);
  assert.match(
    renderFailure(refused.error),
    /: nothing was merged, because \S+ has erased what this archive has, or may/,
  );
  assert.deepEqual(await contentsOf(target), before);
}

test('what was erased in one archive stops a merge until it is erased in the other', async (t) => {
  const selector = { kind: 'match', text: SECRET } as const;
  const { bench, copy } = await parted(t);
  await erase(bench, selector);
  const [one, other] = [placeIn(folderWith(t, {}), 'one.db'), placeIn(folderWith(t, {}), 'other.db')];
  await assertRefused(copy, [bench.archivePath]);
  await (await one.open()).close();
  for (const others of [
    [bench.archivePath, copy.place],
    [copy.place, bench.archivePath],
  ])
    await assertRefused(one, others);
  await merge(one, [bench.archivePath]);
  await assertRefused(one, [copy.place]);
  await erase(withArchive(t, bench, copy), selector);
  await merge(one, [copy.place]);
  await merge(other, [copy.place]);
  await merge(other, [bench.archivePath]);
  assert.deepEqual(await contentsOf(other), await contentsOf(one));
  assert.deepEqual(findLeftovers(one.place, SECRET), []);
  assert.equal((await merge(one, [copy.place, other.place])).result, 'unchanged');
});

test('an erased transcript does not stop the merge of another one that begins with the same message', async (t) => {
  const system = `${chatLine({ role: 'system', content: 'You are helpful.' })}\n`;
  const [a, b] = [benchFor(t), benchFor(t)];
  a.write('one.jsonl', system + chatTranscript(30));
  b.write('other.jsonl', system + chatTranscript(30, 400));
  reportOf(await a.compact('one.jsonl'));
  reportOf(await b.compact('other.jsonl'));
  await erase(a, { kind: 'source', glob: 'one.jsonl' });
  const folder = folderWith(t, {});
  const [one, other] = [placeIn(folder, 'one.db'), placeIn(folder, 'other.db')];
  await merge(one, [a.archivePath, b.archivePath]);
  await merge(other, [b.archivePath, a.archivePath]);
  assert.deepEqual(await contentsOf(other), await contentsOf(one));
  const moved = withArchive(t, b, other);
  assert.deepEqual(await moved.restore('other.jsonl'), await b.restore('other.jsonl'));
});

for (const isCompacted of [false, true])
  test(`an erased captured file${isCompacted ? ' of a compacted transcript' : ''} does not come back`, async (t) => {
    const bench = benchWith(t, 'talk.jsonl', TALK);
    await capture(bench, 'talk.jsonl');
    const copy = placeIn(folderWith(t, {}), 'copy.db');
    await merge(copy, [bench.archivePath]);
    if (isCompacted) reportOf(await bench.compact('talk.jsonl'));
    await erase(bench, { kind: 'source', glob: 'talk.jsonl' });
    await assertRefused(copy, [bench.archivePath]);
    await assertRefused({ ...fileTarget(bench.archivePath) }, [copy.place]);
  });

test('an erased captured file stops only the merge of an archive that has it, at that moment or another', async (t) => {
  const bench = benchFor(t);
  for (const name of ['talk.jsonl', 'elsewhere.jsonl', 'other.jsonl'])
    bench.write(name, name === 'other.jsonl' ? chatTranscript(5, 90) : TALK);
  const folder = folderWith(t, {});
  const archives = new Map<string, string>();
  const captureIn = async (archive: string, name: string): Promise<void> => {
    const target = placeIn(folder, `${archive}.db`);
    archives.set(archive, target.place);
    await capture(withArchive(t, bench, target), name);
  };
  await captureIn('same', 'elsewhere.jsonl');
  await captureIn('unrelated', 'other.jsonl');
  bench.write('talk.jsonl', TALK.slice(0, TALK.length / 2));
  await captureIn('shorter', 'talk.jsonl');
  bench.write('talk.jsonl', TALK);
  await capture(bench, 'talk.jsonl');
  await erase(bench, { kind: 'source', glob: 'talk.jsonl' });
  appendFileSync(bench.path('talk.jsonl'), chatTranscript(2, 300));
  await captureIn('longer', 'talk.jsonl');
  bench.write('talk.jsonl', chatTranscript(3, 700));
  await captureIn('rewritten', 'talk.jsonl');

  const carried = placeIn(folder, 'carried.db');
  await merge(carried, [bench.archivePath]);
  for (const eraser of [bench.archivePath, carried.place]) {
    for (const [archive, name] of [
      ['same', 'elsewhere.jsonl'],
      ['shorter', 'talk.jsonl'],
      ['longer', 'talk.jsonl'],
    ] as const) {
      const refused = await tryMerge(placeIn(folder, `${archive}.db`), [eraser]);
      assert.ok(!refused.ok, archive);
      assert.match(renderFailure(refused.error), new RegExp(`: 1 captured file \\(\\S*/${name}\\)\\. Erase it here`));
    }
    for (const archive of ['unrelated', 'rewritten'])
      await merge(placeIn(folder, `${archive}-${eraser === carried.place}.db`), [archives.get(archive) ?? '', eraser]);
  }
  const same = withArchive(t, bench, placeIn(folder, 'same.db'));
  await erase(same, { kind: 'source', glob: 'elsewhere.jsonl' });
  await merge(carried, [archives.get('same') ?? '', archives.get('unrelated') ?? '']);
});

test('a captured file that was pruned does not come back, unless it was captured again', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', TALK);
  await capture(bench, 'talk.jsonl');
  const copy = placeIn(folderWith(t, {}), 'copy.db');
  await merge(copy, [bench.archivePath]);
  await pruneAll(bench);
  const target = fileTarget(bench.archivePath);
  const { merged, result } = await merge(target, [copy.place]);
  assert.deepEqual([result, merged[0]?.captured], ['unchanged', { new: 0, known: 0, refused: 1 }]);
  const onCopy = withArchive(t, bench, copy);
  appendFileSync(bench.path('talk.jsonl'), chatTranscript(2, 300));
  await capture(onCopy, 'talk.jsonl');
  assert.deepEqual((await merge(target, [copy.place])).merged[0]?.captured, { new: 1, known: 0, refused: 0 });
  assert.equal((await merge(target, [copy.place])).result, 'unchanged');
});

test('a merge that was killed is finished by the next one', async (t) => {
  const others: string[] = [];
  for (const first of [0, 400]) {
    const bench = await sceneFor(t, chatTranscript(20, first));
    await bench.archive().close();
    others.push(bench.archivePath);
  }
  const whole = placeIn(folderWith(t, {}), 'whole.db');
  await merge(whole, others);
  // In the middle of the first archive, and when all of it is stored: by then, the log tells of the merge.
  for (const { stopsAt, logged } of [
    { stopsAt: 'after page 1', logged: [] },
    { stopsAt: 'after group 2', logged: [{ from: others.join(', '), begun: true }] },
  ]) {
    const bench = benchFor(t);
    await bench.archive().close();
    await killWhereItStops(t, { work: 'merge', folder: bench.folder, named: others.join(','), stopsAt });
    const target = fileTarget(bench.archivePath);
    assert.notDeepEqual(await contentsOf(target), await contentsOf(whole));
    const archive = await target.open();
    const deeds = await archive.log.list();
    await archive.close();
    assert.deepEqual(
      deeds.map(({ details }) => JSON.parse(details)),
      logged,
    );
    await merge(target, others);
    assert.deepEqual(await contentsOf(target), await contentsOf(whole));
  }
});

test('a transaction that has to be repeated stores all lines', async (t) => {
  const bench = await sceneFor(t, chatTranscript(20));
  await bench.archive().close();
  const whole = placeIn(folderWith(t, {}), 'whole.db');
  const expected = await merge(whole, [bench.archivePath]);
  const target = placeIn(folderWith(t, {}), 'target.db');
  const openTarget: typeof target.exchange.openTarget = async (place) => {
    const opened = await target.exchange.openTarget(place);
    if (!opened.ok) return opened;
    const { store } = opened.value;
    // Up to the moment in which a connection is lost.
    const storeUnits: typeof store.storeUnits = async (units) => {
      for (const { lines } of units) for await (const page of lines()) if (page.lines.length > 0) break;
      return store.storeUnits(units);
    };
    return { ok: true, value: { ...opened.value, store: { ...store, storeUnits } } };
  };
  const merged = await merge({ ...target, exchange: { ...target.exchange, openTarget } }, [bench.archivePath]);
  assert.deepEqual(merged.merged, expected.merged);
  assert.deepEqual(await contentsOf(target), await contentsOf(whole));
});

test('what one archive has compressed is stored as it is, and small compactions are compressed together', async (t) => {
  const bench = benchFor(t);
  for (const [at, turns] of [900, 20, 20].entries()) {
    bench.write(`${at}.jsonl`, chatTranscript(turns, at));
    reportOf(await bench.compact(`${at}.jsonl`));
  }
  await bench.archive().close();
  const target = placeIn(folderWith(t, {}), 'target.db');
  await merge(target, [bench.archivePath]);
  const packsOf = (path: string): readonly string[] => {
    const db = new Database(path, { readonly: true });
    try {
      return db.prepare<[], string>('SELECT hex(data) FROM packs ORDER BY id').pluck().all();
    } finally {
      db.close();
    }
  };
  const [before, after] = [packsOf(bench.archivePath), packsOf(target.place)];
  const copied = after.filter((data) => before.includes(data));
  assert.deepEqual([before.length, copied.length, after.length], [4, 1, 2]);
  const again = placeIn(folderWith(t, {}), 'again.db');
  await merge(again, [target.place]);
  assert.deepEqual(packsOf(again.place), after);
});

test('what one archive has pruned stays in the other one', async (t) => {
  const { bench, copy } = await parted(t);
  await pruneAll(bench);
  await merge(copy, [bench.archivePath]);
  assert.equal((await withArchive(t, bench, copy).verify('talk.jsonl')).result, 'verified');
  const fresh = placeIn(folderWith(t, {}), 'fresh.db');
  await (await fresh.open()).close();
  await assertRefused(fresh, [bench.archivePath, copy.place]);
});

test('what cannot be merged is refused in one sentence, and the target stays as it was', async (t) => {
  const bench = await sceneFor(t, chatTranscript(30));
  const folder = folderWith(t, { 'text.db': 'no database', 'empty.db': '' });
  const path = (name: string): string => join(folder, name);
  const target = placeIn(folder, 'target.db');
  await merge(target, [bench.archivePath]);
  symlinkSync(target.place, path('link.db'));
  for (const name of ['damaged.db', 'newer.db', 'other.db']) copyFileSync(target.place, path(name));
  change(path('damaged.db'), 'UPDATE packs SET data = zeroblob(40) WHERE id = 1');
  change(path('newer.db'), 'PRAGMA user_version = 99');
  change(path('other.db'), 'CREATE TABLE extra (id INTEGER)');
  const before = readFileSync(target.place);
  const cases: readonly (readonly [string, RegExp])[] = [
    ['text.db', /^\S+: not an archive of compact: it is not an SQLite database\. /],
    ['empty.db', /^\S+: not an archive of compact: it is empty\. /],
    ['missing.db', /^\S+: the archive cannot be opened: it does not exist\. /],
    ['damaged.db', /^\S+: the archive is damaged: .+\. Replace it with a backup\.$/],
    ['newer.db', /^\S+: an archive of version 99, but this program supports \d+\. Update compact\.$/],
    ['other.db', /another version of compact may have made it: compact did not make its table "extra"\. Export it/],
    [
      'link.db',
      /^\S+: the archive cannot be opened: it is the archive that it would be merged into\. Name another one\.$/,
    ],
    ['target.db', /: it is the archive that it would be merged into\. /],
  ];
  for (const [name, sentence] of cases) {
    const refused = await tryMerge(target, [bench.archivePath, path(name)]);
    assert.ok(!refused.ok, name);
    assert.match(renderFailure(refused.error), sentence);
    assert.deepEqual(readFileSync(target.place), before, name);
  }
});

test('the other archive is only read, and nothing is left beside it', async (t) => {
  const bench = await sceneFor(t, chatTranscript(30));
  const folder = folderWith(t, {});
  const source = placeIn(folder, 'source.db');
  await merge(source, [bench.archivePath]);
  const before = readFileSync(source.place);
  await merge(placeIn(folderWith(t, {}), 'target.db'), [source.place]);
  assert.deepEqual([readFileSync(source.place), readdirSync(folder)], [before, ['source.db']]);
});

test('a receipt that cannot be read is damage', async (t) => {
  const { bench, copy } = await parted(t);
  await erase(bench, { kind: 'match', text: SECRET });
  change(bench.archivePath, "UPDATE erasures SET report = '{'");
  const refused = await tryMerge(copy, [bench.archivePath]);
  assert.ok(!refused.ok);
  assert.match(renderFailure(refused.error), /the archive is damaged: receipt \S+ cannot be read/);
});
