import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { MessageChannel, Worker } from 'node:worker_threads';
import { connectArchive } from '../../../src/adapters/archive/thread/connect-archive.ts';
import { openArchiveInThread, type ThreadedArchive } from '../../../src/adapters/archive/thread/open-in-thread.ts';
import { serveArchive } from '../../../src/adapters/archive/thread/serve-archive.ts';
import { storeLines } from '../../../src/app/compact/archive-lines.ts';
import type { LineDraft } from '../../../src/ports/archive.ts';
import { collect } from '../../support/collect.ts';
import {
  compactionDraft,
  lineDraft,
  messageDraft,
  openAt,
  rejectedFailure,
  tempArchive,
  tempFolder,
  utf8,
} from './drafts.ts';

const WORKER = new URL('../../../src/adapters/archive/thread/archive-worker.ts', import.meta.url);
const OUTLINE = { batchCounts: [1] };

async function threaded(t: TestContext): Promise<ThreadedArchive & { readonly path: string }> {
  const path = join(tempFolder(t), 'archive.db');
  const opened = await openArchiveInThread({ path });
  assert.ok(opened.ok, JSON.stringify(opened));
  t.after(opened.value.archive.close);
  return { ...opened.value, path };
}

/** Lines that fill several blocks, and one that fills a block alone. */
function manyLines(): readonly LineDraft[] {
  return Array.from({ length: 40 }, (_, at) =>
    lineDraft(at + 1, {
      bytes: utf8(`${String(at).repeat(at === 7 ? 1_000_000 : 50_000)}\n`),
      message: messageDraft({ id: `m${at}`, text: `word${at}` }),
    }),
  );
}

suite('an archive in a thread of its own', () => {
  test('captures files, and begins no capture that another one came before', async (t) => {
    const { captures } = (await threaded(t)).archive;
    const outline = { path: '/a.jsonl', format: 'f', change: 'new', lastStateId: null } as const;
    const writer = await captures.begin(outline);
    const lines = Array.from({ length: 30 }, (_, at) => utf8(`${String(at).repeat(40_000)}\n`));
    const bytes = Buffer.concat(lines);
    const draft = {
      sizeBytes: bytes.length,
      sha256: hash('sha256', bytes),
      stamp: null,
      capturedAt: new Date(0),
      sessions: [],
    };
    await writer?.append(lines);
    assert.equal((await writer?.commit(draft))?.newBytes, bytes.length);
    assert.equal(await captures.begin(outline), null);
    const [file] = await captures.list();
    const read = Buffer.concat(await collect(captures.read(file?.last.id ?? 0)));
    assert.equal(read.compare(bytes), 0);
  });

  test('stores, applies, finds and gives back what one in this thread does', async (t) => {
    const { archive, path } = await threaded(t);
    const lines = manyLines();
    const { id } = await storeLines(archive, compactionDraft(lines.length), lines);
    await archive.markApplied(id);
    const here = tempArchive(t).port;
    await here.markApplied((await storeLines(here, compactionDraft(lines.length), lines)).id);
    assert.deepEqual([archive.path, archive.isReadOnly, id], [path, false, 1]);
    assert.deepEqual((await collect(archive.readLines(id))).flat(), (await collect(here.readLines(1))).flat());
    assert.deepEqual(await archive.loadCompaction(id), await here.loadCompaction(1));
    const word = { forms: ['word7'], isBeginning: false };
    assert.deepEqual(await archive.inOneState((state) => state.messages.countHits([word], 9)), [1]);
    assert.deepEqual(
      await archive.findBatches({ kind: 'id', id: 1 }, 1),
      await here.findBatches({ kind: 'id', id: 1 }, 1),
    );
  });

  test('reads one state, whatever is stored meanwhile, and all of an archive', async (t) => {
    const { archive, path } = await threaded(t);
    const here = openAt(path);
    t.after(here.close);
    const names = (port: object): readonly string[] => Object.keys(port).toSorted();
    assert.deepEqual(names(archive), names(here.port));
    assert.deepEqual(names(archive.retention), names(here.port.retention));
    const seen = await archive.inOneState(async (state) => {
      const before = await state.listCompactions();
      await here.port.markApplied(await here.store(compactionDraft(1), [lineDraft(1)]));
      return [before.length, (await state.listCompactions()).length];
    });
    assert.deepEqual([...seen, (await archive.listCompactions()).length], [0, 0, 1]);
  });

  test('fails as one in this thread does, with its failure as data', async (t) => {
    const { archive, path } = await threaded(t);
    const reason = 'compaction 9 was removed before it was applied';
    assert.deepEqual(await rejectedFailure(() => archive.markApplied(9)), { kind: 'damaged', path, reason });
    const broken = storeLines(archive, compactionDraft(1), [lineDraft(1, { batch: null })]);
    await assert.rejects(broken, { message: 'source line 1 is summarized, but in no batch (cycle 0, batch null)' });
    assert.equal((await storeLines(archive, compactionDraft(1), [lineDraft(1)])).id, 1);
    const missing = join(tempFolder(t), 'missing.db');
    const refused = await openArchiveInThread({ path: missing, create: false });
    const error = { kind: 'cannot-open', path: missing, reason: 'it does not exist' };
    assert.deepEqual(refused, { ok: false, error });
  });

  test('tells why it could not open, or why it ended', async (t) => {
    const folder = tempFolder(t);
    const opened = await openArchiveInThread({ path: folder });
    assert.deepEqual(opened, { ok: false, error: { kind: 'cannot-open', path: folder, reason: 'it is a folder' } });
    const { port1, port2 } = new MessageChannel();
    serveArchive(tempArchive(t).port, port1);
    const archive = await connectArchive(port2, Promise.resolve('its thread ran out of memory'));
    const writer = await archive.begin(OUTLINE);
    port1.close();
    await assert.rejects(writer.commit(compactionDraft(0)), { diedOf: 'archive: its thread ran out of memory' });
    await writer.abandon();
  });

  test('undoes what a client had begun when it goes away', async (t) => {
    const { archive, createPort } = await threaded(t);
    const port = createPort();
    const other = await connectArchive(port);
    await (await other.begin(OUTLINE)).append([lineDraft(1)]);
    await other.close();
    assert.equal((await storeLines(archive, compactionDraft(1), [lineDraft(1)])).id, 1);
    assert.equal((await archive.listPrepared()).length, 1);
    await assert.rejects(other.listPrepared(), { diedOf: 'archive: its thread ended' });
  });

  test('a reader that stops early leaves nothing behind', async (t) => {
    const { archive } = await threaded(t);
    const lines = manyLines();
    const { id } = await storeLines(archive, compactionDraft(lines.length), lines);
    for await (const first of archive.readLines(id)) {
      assert.equal(first[0]?.line, 1);
      break;
    }
    await archive.discard(id);
    assert.deepEqual(await archive.listPrepared(), []);
  });
});

test('a thread that dies while it stores fails what it is asked, and nothing of it stays', async (t) => {
  const path = join(tempFolder(t), 'archive.db');
  const worker = new Worker(WORKER, { workerData: { path } });
  const { port1, port2 } = new MessageChannel();
  assert.deepEqual(await once(worker, 'message'), [null]);
  worker.postMessage({ kind: 'serve', port: port1 }, [port1]);
  const archive = await connectArchive(port2);
  const writer = await archive.begin(OUTLINE);
  await writer.append(manyLines());
  await worker.terminate();
  const dead = { diedOf: 'archive: its thread ended' };
  await assert.rejects(writer.commit(compactionDraft(40)), dead);
  await assert.rejects(storeLines(archive, compactionDraft(1), [lineDraft(1)]), dead);
  const here = openAt(path);
  t.after(here.close);
  assert.equal(await here.store(compactionDraft(1), [lineDraft(1)]), 1);
  assert.deepEqual(
    (await here.port.listPrepared()).map(({ id }) => id),
    [1],
  );
});

test('all calls fail when the other side is gone', async (t) => {
  const { port1, port2 } = new MessageChannel();
  serveArchive(tempArchive(t).port, port1);
  const archive = await connectArchive(port2);
  const writer = await archive.begin(OUTLINE);
  port1.close();
  await once(port2, 'close');
  const dead = { diedOf: 'archive: its thread ended' };
  await assert.rejects(archive.listPrepared(), dead);
  await assert.rejects(collect(archive.readLines(1)), dead);
  await writer.abandon(); // nothing is left of what it had begun
  await assert.rejects(writer.commit(compactionDraft(0)), /stored or abandoned/);
});
