import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compactionDraft, lineDraft } from '../../adapters/archive/drafts.ts';
import { chatLine, chatTranscript } from '../../support/chat.ts';
import { erase } from '../../support/retention.ts';
import { reportOf } from '../../support/workbench.ts';
import { applied, benchOn, type Engine, linesOf, problemsOf, stored } from './engine.ts';

/** More than are joined at once. */
const FILES = 20;
const SECRET = 'timbuktuquux';
const SECRET_AT = 3;

/** Slow in an engine that is. */
export function packContract(engine: Engine): void {
  test('small files are packed together, and each is restored and erased by itself', async (t) => {
    const bench = await benchOn(engine, t);
    const packedBytes = async (): Promise<number> => (await bench.archive().measure()).bytes.compressed;
    const secretLine = chatLine({ role: 'user', content: `My password is ${SECRET}, never write it down.` });
    const texts = Array.from({ length: FILES }, (_, at) =>
      at === SECRET_AT ? `${secretLine}\n${chatTranscript(9)}` : chatTranscript(9, at * 100),
    );
    let firstBytes = 0;
    for (const [at, text] of texts.entries()) {
      bench.write(`${at}.jsonl`, text);
      reportOf(await bench.compact(`${at}.jsonl`));
      if (at === 0) firstBytes = await packedBytes();
    }
    assert.ok((await packedBytes()) < 0.7 * FILES * firstBytes, `${await packedBytes()} of ${FILES} * ${firstBytes}`);
    assert.deepEqual(await problemsOf(bench.archive()), []);

    assert.notDeepEqual(await engine.findLeftovers(bench.archive(), SECRET), []);
    const erased = await erase(bench, { kind: 'source', glob: `${SECRET_AT}.*` }, { reason: 'a request' });
    assert.ok(erased.result === 'erased' && erased.isPurged);
    assert.deepEqual(await engine.findLeftovers(bench.archive(), SECRET), []);
    assert.deepEqual(await problemsOf(bench.archive()), []);
    for (const [at, text] of texts.entries())
      if (at !== SECRET_AT) assert.equal(String(await bench.restore(`${at}.jsonl`)), text);
  });

  test('packs that are too large for each other, however many, keep no small ones from being joined', async (t) => {
    const archive = await engine.open(t);
    const packedBytes = async (): Promise<number> => (await archive.measure()).bytes.compressed;
    const large = 70;
    for (let at = 0; at < large; at += 1) {
      await applied(archive, compactionDraft(1), [lineDraft(1)]);
      await engine.execute(archive, 'UPDATE packs SET raw_size_bytes = 600000');
    }
    const before = await packedBytes();
    for (let at = 0; at < FILES; at += 1) await applied(archive, compactionDraft(1), [lineDraft(1)]);
    const more = (await packedBytes()) - before;
    assert.ok(more < (0.7 * FILES * before) / large, `${more} for ${FILES} after ${before} for ${large}`);
  });
}

export function joinContract(engine: Engine): void {
  test('a compaction that is discarded takes nothing of the others with it', async (t) => {
    const archive = await engine.open(t);
    const ids: number[] = [];
    const store = async (): Promise<unknown> => ids.push(await applied(archive, compactionDraft(1), [lineDraft(1)]));
    for (let at = 0; at < FILES / 2; at += 1) await store();
    const prepared = await stored(archive, compactionDraft(1), [lineDraft(1)]);
    for (let at = 0; at < FILES / 2; at += 1) await store();
    assert.equal((await linesOf(archive, prepared)).length, 1);
    await archive.discard(prepared);
    for (const id of ids) assert.deepEqual((await linesOf(archive, id))[0]?.bytes, lineDraft(1).bytes);
    assert.equal((await problemsOf(archive)).join().includes('gone'), false);
  });
}
