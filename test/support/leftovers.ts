import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gunzipSync, zstdDecompressSync } from 'node:zlib';
import Database from 'better-sqlite3';

const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const GZIP = Buffer.from([0x1f, 0x8b, 0x08]);
const COMPRESSED = ['SELECT data FROM packs', 'SELECT data FROM captured_blocks'];
const INDEXES = ['message_search', 'batch_search'];

/**
 * Where the files of an archive still have a word: as bytes, in anything that looks compressed (also in freed space), in
 * any compressed column, or as a word of a search index. Empty: nowhere. The archive must not be changed meanwhile.
 */
export function findLeftovers(archivePath: string, word: string): readonly string[] {
  const folder = join(archivePath, '..');
  const name = archivePath.slice(folder.length + 1);
  const files = readdirSync(folder).filter((one) => one.startsWith(name));
  const found = files.flatMap((file) => findInBytes(readFileSync(join(folder, file)), { word, file }));
  const db = new Database(archivePath, { readonly: true });
  try {
    for (const sql of COMPRESSED)
      for (const packed of db.prepare<[], Buffer>(sql).pluck().iterate())
        if (includes(unpack(packed), word)) found.push(sql);
    for (const index of INDEXES) {
      db.exec(`CREATE VIRTUAL TABLE temp.words_of_${index} USING fts5vocab(main, ${index}, row)`);
      const sql = `SELECT 1 FROM words_of_${index} WHERE term = ?`;
      if (db.prepare(sql).get(word) !== undefined) found.push(`a word of ${index}`);
    }
  } finally {
    db.close();
  }
  return found;
}

/** Where the bytes of a file have a word: readable, or in anything that looks compressed. */
export function findInBytes(
  bytes: Buffer,
  { word, file }: { readonly word: string; readonly file: string },
): readonly string[] {
  const found: string[] = [];
  if (bytes.includes(word)) found.push(`${file}, plain`);
  if (bytes.includes(Buffer.from(word, 'utf16le'))) found.push(`${file}, UTF-16`);
  for (let at = bytes.indexOf(ZSTD); at !== -1; at = bytes.indexOf(ZSTD, at + 1))
    if (includes(unpack(bytes.subarray(at)), word)) found.push(`${file}, compressed at ${at}`);
  return found;
}

/** Also in captured files that are compressed themselves. */
function includes(bytes: Buffer, word: string): boolean {
  if (bytes.includes(word)) return true;
  for (let at = bytes.indexOf(GZIP); at !== -1; at = bytes.indexOf(GZIP, at + 1))
    if (gunzip(bytes.subarray(at)).includes(word)) return true;
  return false;
}

function gunzip(bytes: Uint8Array): Buffer {
  try {
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 4 * 1024 * 1024 });
  } catch {
    return Buffer.alloc(0); // it only looked compressed
  }
}

/** As much as can be unpacked: what follows a frame is not its own. */
function unpack(bytes: Uint8Array): Buffer {
  try {
    return zstdDecompressSync(bytes, { finishFlush: 0, maxOutputLength: 4 * 1024 * 1024 });
  } catch {
    return Buffer.alloc(0); // it only looked compressed
  }
}
