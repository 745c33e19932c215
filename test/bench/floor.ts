import { readFileSync, rmSync } from 'node:fs';
import { zstdCompressSync } from 'node:zlib';
import Database from 'better-sqlite3';

/**
 * The same work without safety, summary and report: reads a file, parses each line once, and stores blocks of 100 lines with zstd 3 and a row
 * for each line, in one transaction; `--index` adds a full-text index of the texts. Prints the milliseconds that it took, as JSON.
 */
const BLOCK_LINES = 100;
const [path = '', archive = '', index] = process.argv.slice(2);
const before = performance.now();
const cpuBefore = process.cpuUsage();
store();
const { user, system } = process.cpuUsage(cpuBefore);
process.stdout.write(`${JSON.stringify({ wallMs: performance.now() - before, cpuMs: (user + system) / 1000 })}\n`);

function store(): void {
  rmSync(archive, { force: true });
  const db = new Database(archive);
  db.exec('CREATE TABLE blocks (id INTEGER PRIMARY KEY, bytes BLOB)');
  db.exec('CREATE TABLE lines (id INTEGER PRIMARY KEY, block INTEGER, start INTEGER, length INTEGER, role TEXT)');
  db.exec("CREATE VIRTUAL TABLE words USING fts5 (text, content = '', contentless_delete = 1)");
  const addBlock = db.prepare('INSERT INTO blocks VALUES (?, ?)');
  const addLine = db.prepare('INSERT INTO lines VALUES (?, ?, ?, ?, ?)');
  const addWords = db.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)');
  const bytes = readFileSync(path);
  db.transaction(() => {
    let [line, block, blockStart] = [0, 1, 0];
    for (let start = 0; start < bytes.length;) {
      const end = bytes.indexOf(10, start) + 1 || bytes.length;
      const record: unknown = JSON.parse(bytes.toString('utf8', start, end));
      line += 1;
      addLine.run(line, block, start - blockStart, end - start, roleOf(record));
      if (index === '--index') addWords.run(line, textOf(record));
      start = end;
      if (line % BLOCK_LINES > 0 && start < bytes.length) continue;
      addBlock.run(block, zstdCompressSync(bytes.subarray(blockStart, start)));
      block += 1;
      blockStart = start;
    }
  })();
  db.close();
}

function roleOf(record: unknown): string {
  return typeof record === 'object' && record !== null && 'role' in record ? String(record.role) : '';
}

/** Every string in a record. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' && value !== null ? Object.values(value).map(textOf).join(' ') : '';
}
