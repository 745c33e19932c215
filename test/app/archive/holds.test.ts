import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { listReceipts } from '../../../src/app/archive/erase-archived.ts';
import { verifyFile } from '../../../src/app/restore/verify-file.ts';
import { renderHolds } from '../../../src/cli/render/archive.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import { capture, restored } from '../../support/captures.ts';
import { chatLine, chatTranscript } from '../../support/chat.ts';
import { erase, hold, listHolds } from '../../support/retention.ts';
import { benchFor, benchWith, reportOf } from '../../support/workbench.ts';

const SECRET = 'zanzibarquux';
const TALK = `${chatLine({ role: 'user', content: `My password is ${SECRET}.` })}\n${chatTranscript(30)}`;
const OTHER = chatTranscript(30, 400);
const SESSION = '6b6f4218-0000-4000-8000-000000000001';

test("a conversation's hold protects the capture of the file that has its id in its name", async (t) => {
  const bench = benchFor(t);
  bench.write(`${SESSION}.jsonl`, TALK);
  await capture(bench, `${SESSION}.jsonl`);
  await hold(bench, { kind: 'conversation', value: SESSION });
  for (const selector of [
    { kind: 'source', glob: '*.jsonl' },
    { kind: 'conversation', id: SESSION },
    { kind: 'match', text: SECRET },
  ] as const) {
    const refused = await erase(bench, selector);
    assert.deepEqual([selector.kind, refused.result], [selector.kind, 'refused']);
  }
});

test('an added hold is reported with what it protects now', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', TALK);
  reportOf(await bench.compact('talk.jsonl'));
  bench.write(`${SESSION}.jsonl`, TALK);
  await capture(bench, `${SESSION}.jsonl`);
  for (const [scope, words] of [
    [{ kind: 'source', value: bench.folder }, '1 conversation and 1 captured file'],
    [{ kind: 'source', value: bench.path('talk.jsonl') }, '1 conversation'],
    [{ kind: 'conversation', value: SESSION }, '1 captured file'],
    [{ kind: 'conversation', value: SESSION.slice(0, 8) }, 'nothing in the archive yet'],
  ] as const)
    assert.equal(renderHolds(await hold(bench, scope)).at(-1), `the added hold protects ${words}`);
  assert.equal((await listHolds(bench)).protects, null);
});

test("a folder's hold protects what is in it", async (t) => {
  const bench = benchWith(t, 'talk.jsonl', TALK);
  await capture(bench, 'talk.jsonl');
  await hold(bench, { kind: 'source', value: `${bench.folder}/` });
  assert.equal((await erase(bench, { kind: 'match', text: SECRET })).result, 'refused');
});

test('erasing a conversation leaves captures of unrelated files, even with a similar name or the same lines', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', TALK);
  bench.write('twin.jsonl', TALK);
  reportOf(await bench.compact('talk.jsonl'));
  await capture(bench, 'twin.jsonl');
  const [compaction] = await bench.archive().listCompactions();
  assert.equal((await erase(bench, { kind: 'conversation', id: 'win' })).result, 'nothing');
  const erased = await erase(bench, { kind: 'conversation', id: compaction?.conversations[0]?.id ?? '' });
  assert.deepEqual([erased.result, erased.capturedFiles, erased.receipt?.captured.lines], ['erased', [], 0]);
  assert.equal(await restored(bench, 'twin.jsonl'), TALK);
});

test('a cleanup that fails does not stop a command, which says so once', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', TALK);
  reportOf(await bench.compact('talk.jsonl'));
  const archive = bench.archive();
  const failure = { kind: 'no-space', path: bench.archivePath } as const;
  const purge = async (): Promise<boolean> => Promise.reject(Object.assign(new Error('full'), { failure }));
  const isPurged = async (): Promise<boolean> => false;
  const full: Archive = { ...archive, retention: { ...archive.retention, isPurged, purge } };
  const notices: string[] = [];
  const notice = (sentence: string): void => void notices.push(sentence);
  const deps = { ...bench.deps, openArchive: async () => ({ ok: true, value: full }) as const, notice };
  const input = { path: bench.path('talk.jsonl'), name: 'talk.jsonl', format: null };
  assert.ok((await verifyFile({ ...deps, erasures: undefined }, { input })).ok);
  assert.deepEqual(notices, [], 'another composition does it');
  for (let times = 0; times < 2; times += 1) {
    const verified = await verifyFile(deps, { input });
    assert.ok(verified.ok && verified.value.result === 'verified');
  }
  assert.deepEqual(notices, [
    `${bench.archivePath}: the file still contains erased bytes, because no space is left on the disk. Make room: the next command tries again.`,
  ]);
  const erased = await erase({ ...bench, deps }, { kind: 'match', text: SECRET });
  assert.deepEqual([erased.result, erased.isPurged], ['erased', false]);
});

test('while a reader keeps the log, the cleanup stays open, and only the log is left to do', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', TALK);
  reportOf(await bench.compact('talk.jsonl'));
  const reader = new Database(bench.archivePath, { readonly: true });
  t.after(() => reader.close());
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM lines').get();
  const erased = await erase(bench, { kind: 'match', text: SECRET });
  assert.deepEqual([erased.isPurged, erased.purgeProblem?.includes('another program')], [false, true]);
  const listed = await listReceipts(bench.deps);
  assert.ok(listed.ok && !listed.value.isPurged);
  reader.exec('COMMIT');
  assert.equal(reader.prepare('SELECT is_purged FROM erasures').pluck().get(), 2);
  assert.ok((await listHolds(bench)).isPurged);
});

test('captured files that cannot be searched to their end are counted', async (t) => {
  const bench = benchWith(t, 'talk.jsonl.gz', gzipSync(TALK));
  bench.write('talk.jsonl', TALK);
  await capture(bench, 'talk.jsonl.gz');
  await capture(bench, 'talk.jsonl');
  const absent = { kind: 'match', text: 'no such text' } as const;
  assert.equal((await erase(bench, absent)).unsearched, 0);
  const outline = { path: bench.path('damaged.gz'), format: 'chat', lastStateId: null, change: 'new' } as const;
  const damaged = await bench.archive().captures.begin(outline);
  assert.ok(damaged !== null);
  const cutOff = gzipSync(OTHER).subarray(0, -12);
  await damaged.append([cutOff]);
  await damaged.commit({
    sizeBytes: cutOff.length,
    sha256: '00'.repeat(32),
    capturedAt: new Date(),
    stamp: null,
    sessions: [],
  });
  assert.equal((await erase(bench, absent)).unsearched, 1);
  assert.equal((await erase(bench, { kind: 'message', id: 'm1' })).unsearched, 3);
  assert.equal((await erase(bench, { kind: 'source', glob: '*.gz' })).unsearched, 0);
});

test('an erasure takes all stored model answers, even from a clock that is ahead', async (t) => {
  const bench = benchWith(t, 'talk.jsonl', TALK);
  reportOf(await bench.compact('talk.jsonl'));
  await erase(bench, { kind: 'match', text: 'no such text' });
  const db = new Database(bench.archivePath);
  t.after(() => db.close());
  db.prepare("INSERT INTO summaries VALUES (zeroblob(32), 'toy', 'toy', 'text', 1, 0, 1, ?)").run(4e12);
  assert.equal((await erase(bench, { kind: 'match', text: SECRET })).receipt?.paidSummaries, 1);
});
