import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import type { LineDraft } from '../../../src/ports/archive.ts';
import { stored } from '../../contract/archive/engine.ts';
import { fingerprint, readBytes, storeBytes } from '../../contract/archive/lines.ts';
import { compactionDraft, lineDraft, rejectedFailure, tempArchive, utf8 } from './drafts.ts';

test('a line of 40 MB comes back', async (t) => {
  const { port: archive } = tempArchive(t);
  const huge = new Uint8Array(40 * 1024 * 1024);
  for (let at = 0; at < huge.length; at += 1) huge[at] = (at * 31 + (at >> 8)) & 0xff;
  const contents = [utf8('before\n'), huge, utf8('after')];
  const back = await readBytes(archive, await storeBytes(archive, contents));
  assert.deepEqual(back.map(fingerprint), contents.map(fingerprint));
});

test("a line's bytes are taken before the next line is asked for", async (t) => {
  const { port: archive } = tempArchive(t);
  const buffer = new Uint8Array(3);
  function* lines(): IterableIterator<LineDraft> {
    for (let line = 1; line <= 250; line += 1) yield lineDraft(line, { bytes: buffer.fill(line) });
  }
  const id = await stored(archive, compactionDraft(250), lines());
  assert.deepEqual(
    await readBytes(archive, id),
    Array.from({ length: 250 }, (_, at) => new Uint8Array(3).fill(at + 1)),
  );
});

test('one bent byte anywhere in a block is damage', async (t) => {
  const { port: archive } = tempArchive(t);
  const id = await storeBytes(
    archive,
    Array.from({ length: 8 }, (_, at) => utf8(`line ${at} of the log\n`)),
  );
  const db = new Database(archive.path);
  t.after(() => db.close());
  const block = db.prepare<[], Buffer>('SELECT data FROM packs').pluck().get();
  assert.ok(block);
  const update = db.prepare('UPDATE packs SET data = ?');
  const kinds = new Set<string>();
  for (const at of block.keys()) {
    const bent = Buffer.from(block);
    bent[at] = (bent[at] ?? 0) ^ 0x11;
    update.run(bent);
    kinds.add((await rejectedFailure(() => readBytes(archive, id))).kind);
  }
  assert.deepEqual(kinds, new Set(['damaged']));
});
