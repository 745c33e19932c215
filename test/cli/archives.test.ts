import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { SCHEMA_VERSION } from '../../src/adapters/archive/sqlite/schema.ts';
import { sha256 } from '../adapters/archive/drafts.ts';
import { chatTranscript } from '../support/chat.ts';
import { change } from '../support/full-archive.ts';
import { runIn } from '../support/program.ts';

type Ended = { readonly status: unknown; readonly stdout: string; readonly stderr: string };

async function ran(folder: string, ...argv: readonly string[]): Promise<Ended> {
  const { code, stdout, stderr } = await runIn(folder, argv, { stdin: undefined });
  return { status: code, stdout, stderr };
}

const made = { folder: '' };

/** Two transcripts, one compacted in place (twice), the other not, and their archive. */
before(async () => {
  made.folder = mkdtempSync(join(tmpdir(), 'compact-archives-'));
  writeFileSync(join(made.folder, 'new.jsonl'), chatTranscript(12, 900));
  const flags = ['-i', '-q', '--archive', 'archive.db', '--chunk-size', '6', '--keep-recent', '4'];
  for (const turns of [chatTranscript(30), chatTranscript(20, 100)]) {
    writeFileSync(join(made.folder, 'old.jsonl'), turns, { flag: 'a' });
    assert.deepEqual(await ran(made.folder, ...flags, 'old.jsonl'), { status: 0, stdout: '', stderr: '' });
  }
});
after(() => rmSync(made.folder, { recursive: true, force: true }));

function copyFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'compact-archives-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(made.folder, folder, { recursive: true });
  return folder;
}

/** Every file of a folder by the sha256 of its bytes; a folder without. A log's index is the shared memory of its readers, and no part of what is stored. */
function contents(folder: string): ReadonlyMap<string, string | null> {
  return new Map(
    readdirSync(folder)
      .filter((name) => !name.endsWith('-shm'))
      .map((name) => {
        const path = join(folder, name);
        return [name, statSync(path).isFile() ? sha256(readFileSync(path)) : null];
      }),
  );
}

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  compact: ['-i', 'new.jsonl'],
  restore: ['restore', 'old.jsonl'],
  verify: ['verify', 'old.jsonl'],
  search: ['search', 'parser'],
  show: ['show', 'batch:1'],
  list: ['archive', 'list'],
  stats: ['archive', 'stats'],
  check: ['archive', 'check'],
};

const bytesOf = (folder: string): Buffer => readFileSync(join(folder, 'archive.db'));
const write = (folder: string, bytes: Uint8Array | string): void => writeFileSync(join(folder, 'archive.db'), bytes);

for (const { what, spoil, says } of [
  {
    what: 'an archive of a newer version',
    spoil: (folder: string): void => change(join(folder, 'archive.db'), 'PRAGMA user_version = 99'),
    says: `an archive of version 99, but this program supports ${SCHEMA_VERSION}. Update compact.`,
  },
  {
    what: 'a newer archive whose writer was killed',
    spoil: (folder: string): void => {
      const path = join(folder, 'archive.db');
      const holder = new Database(path);
      holder.pragma('user_version = 99');
      const parts = ['', '-wal', '-shm'].map((part) => [path + part, readFileSync(path + part)] as const);
      holder.close();
      for (const [part, bytes] of parts) writeFileSync(part, bytes);
    },
    says: `an archive of version 99, but this program supports ${SCHEMA_VERSION}. Update compact.`,
  },
  {
    what: 'a file that is not SQLite',
    spoil: (folder: string): void => write(folder, 'these are my notes\n'.repeat(500)),
    says: 'not an archive of compact: it is not an SQLite database. Name another archive with --archive.',
  },
  {
    what: "another program's database",
    spoil: (folder: string): void => {
      rmSync(join(folder, 'archive.db'));
      change(join(folder, 'archive.db'), 'CREATE TABLE notes (text); PRAGMA user_version = 3');
    },
    says: "not an archive of compact: it is another program's SQLite database. Name another archive with --archive.",
  },
  {
    what: 'an archive with a trigger of someone else',
    spoil: (folder: string): void =>
      change(
        join(folder, 'archive.db'),
        'CREATE TRIGGER blank AFTER INSERT ON packs BEGIN UPDATE packs SET data = zeroblob(3) WHERE id = NEW.id; END',
      ),
    says: 'not an archive of compact: compact did not make its trigger "blank". Name another archive with --archive.',
  },
  {
    what: 'an empty file',
    spoil: (folder: string): void => write(folder, ''),
    says: 'not an archive of compact: it is empty. Name another archive with --archive.',
  },
  {
    what: 'a folder',
    spoil: (folder: string): void => {
      rmSync(join(folder, 'archive.db'));
      mkdirSync(join(folder, 'archive.db'));
    },
    says: 'the archive cannot be opened: it is a folder. Name another archive with --archive.',
  },
  {
    what: 'an archive whose first page was overwritten',
    spoil: (folder: string): void => write(folder, bytesOf(folder).fill(0xa5, 100, 4096)),
    says: 'the archive is damaged: database disk image is malformed (SQLITE_CORRUPT). Replace it with a backup.',
  },
  {
    what: 'an archive that was cut off',
    spoil: (folder: string): void => truncateSync(join(folder, 'archive.db'), 40_960),
    says: /^the archive is damaged: it is truncated: it has 40960 of its \d+ bytes\. Replace it with a backup\.$/,
  },
]) {
  test(`${what}: every command says so in one line, exits with 1, and changes nothing`, async (t) => {
    const folder = copyFor(t);
    spoil(folder);
    const before = contents(folder);
    const ended = await Promise.all(
      Object.entries(COMMANDS).map(async ([name, argv]) => {
        const { status, stdout, stderr } = await ran(folder, ...argv, '--archive', 'archive.db');
        const [line = '', ...rest] = stderr.split('\n');
        const told = line.replace(/^.*archive\.db: /, '');
        const isAsExpected = typeof says === 'string' ? told === says : says.test(told);
        return [name, isAsExpected ? 'as expected' : stderr, status, stdout, rest];
      }),
    );
    assert.deepEqual(
      ended,
      Object.keys(COMMANDS).map((name) => [name, 'as expected', 1, '', ['']]),
    );
    assert.deepEqual(contents(folder), before);
  });
}

test('what damage keeps out of the search index is told by archive index and by a search', async (t) => {
  const folder = copyFor(t);
  change(join(folder, 'archive.db'), 'UPDATE packs SET data = zeroblob(length(data))');
  const why =
    /^(\d+) messages \(.+\) are not in the search index yet, and not searched\. They are damaged, or .*`compact archive check` tells of damage\.$/m;
  const indexed = await ran(folder, 'archive', 'index', '--archive', 'archive.db');
  const left = why.exec(indexed.stderr)?.[1];
  assert.ok(left !== undefined, indexed.stderr);
  assert.equal(indexed.status, 1);
  assert.match(indexed.stdout, new RegExp(`: 0 messages indexed, 0 bytes; ${left} messages left\n$`));
  const found = await ran(folder, 'search', 'zebra', '--archive', 'archive.db');
  assert.equal(why.exec(found.stderr)?.[1], left, found.stderr);
});

test('a backup of an archive in which a text is damaged says so, and fails', async (t) => {
  const folder = copyFor(t);
  change(join(folder, 'archive.db'), 'UPDATE packs SET data = zeroblob(length(data))');
  const { status, stdout, stderr } = await ran(folder, 'archive', 'backup', 'copy.db', '--archive', 'archive.db');
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /copy\.db: the archive is damaged: .*, as in .*archive\.db: keep earlier backups\./);
});

test('an archive with a damaged page inside: check names the transcripts, verify fails, and nothing is changed', async (t) => {
  const folder = copyFor(t);
  const path = join(folder, 'archive.db');
  const db = new Database(path, { readonly: true });
  const page =
    db.prepare<[], number>("SELECT max(pageno) FROM dbstat WHERE name = 'lines' AND pagetype = 'leaf'").pluck().get() ??
    0;
  db.close();
  for (const part of ['-wal', '-shm']) rmSync(path + part, { force: true });
  write(folder, bytesOf(folder).fill(0xa5, (page - 1) * 4096, page * 4096));
  const before = contents(folder);
  const check = await ran(folder, 'archive', 'check', '--archive', 'archive.db');
  assert.deepEqual([check.status, check.stderr], [1, '']);
  assert.match(check.stdout, /: damaged, \d+ problems\n/);
  assert.ok(check.stdout.includes(`      ${join(made.folder, 'old.jsonl')}\n`), check.stdout);
  assert.ok(
    check.stdout.split('\n').every((line) => line.length <= 60 || !line.trim().includes(' ')),
    check.stdout,
  );
  const json = await ran(folder, 'archive', 'check', '--json', '--archive', 'archive.db');
  assert.deepEqual([json.status, JSON.parse(json.stdout).result], [1, 'damaged']);
  const verify = await ran(folder, 'verify', '--archive', 'archive.db', 'old.jsonl');
  assert.deepEqual([verify.status, verify.stdout.split('\n')[0]], [1, 'old.jsonl: failed, 1 problem']);
  const restore = await ran(folder, 'restore', '--archive', 'archive.db', 'old.jsonl', '-o', 'back.jsonl');
  assert.deepEqual([restore.status, restore.stdout, restore.stderr.trimEnd().split('\n').length], [1, '', 1]);
  assert.deepEqual(contents(folder), before);
});

test('what a writer that was killed left in the log is there for every command', async (t) => {
  const folder = copyFor(t);
  const path = join(folder, 'archive.db');
  const holder = new Database(path);
  holder.prepare('SELECT 1 FROM sqlite_schema').get();
  assert.equal((await ran(folder, '-i', '-q', '--archive', 'archive.db', '--keep-recent', '4', 'new.jsonl')).status, 0);
  const parts = ['', '-wal', '-shm'].map((part) => [path + part, readFileSync(path + part)] as const);
  holder.close();
  for (const [part, bytes] of parts) writeFileSync(part, bytes);
  assert.ok(existsSync(`${path}-wal`));
  const check = await ran(folder, 'archive', 'check', '--json', '--archive', 'archive.db');
  assert.deepEqual(
    [check.status, JSON.parse(check.stdout).result, JSON.parse(check.stdout).compactions],
    [0, 'sound', 3],
  );
  assert.equal((await ran(folder, 'verify', '-q', '--archive', 'archive.db', 'new.jsonl', 'old.jsonl')).status, 0);
});

test('who trusts a configuration, or takes that back, is in the log of an archive that there is', async (t) => {
  const folder = copyFor(t);
  const file = join(folder, 'compact.toml');
  writeFileSync(file, '[summarization]\nkeep_recent = 4\n');
  for (const archive of ['archive.db', 'none.db'])
    for (const flags of [[], ['--revoke']])
      assert.equal((await ran(folder, 'config', 'trust', ...flags, file, '--archive', archive)).status, 0);
  assert.equal(existsSync(join(folder, 'none.db')), false);
  const unlogged = await ran(folder, 'config', 'trust', '-q', file, '--archive', 'new.jsonl');
  assert.deepEqual([unlogged.status, /log: \S+new\.jsonl: not an archive/.test(unlogged.stderr)], [0, true]);
  const { stdout } = await ran(folder, 'archive', 'log', '--archive', 'archive.db', '--json');
  const { entries } = JSON.parse(stdout) as { readonly entries: readonly { readonly details: unknown }[] };
  const details = [
    { file, sha256: sha256(readFileSync(file)) },
    { file, revoked: true },
  ];
  assert.deepEqual(
    entries.map((entry) => ({ ...entry, at: '', by: '' })),
    details.map((one) => ({ at: '', by: '', action: 'trust', details: one })),
  );
});
