import assert from 'node:assert/strict';
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { readArchiveRows } from '../support/archive-rows.ts';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { type Ended, runProcess, startServer } from '../support/program.ts';
import { mountSmallDisk, type SmallDisk, type SmallDiskOptions } from '../support/small-disk.ts';

const KIB = 1024;
/** 90 kB; compacted, 60. */
const original = chatTranscript(80);
const SETTINGS = ['--keep-recent', '100'];

type Place = {
  readonly disk: SmallDisk;
  /** A folder on a disk with room. */
  readonly elsewhere: string;
  /** In one process that stays. */
  readonly run: (args: readonly string[]) => Promise<Ended>;
};

async function setUp(t: TestContext, size: SmallDiskOptions = { sizeBytes: 2048 * KIB }): Promise<Place> {
  const disk = await mountSmallDisk(t, size);
  return { disk, elsewhere: folderWith(t, {}), run: await startServer(t, disk.wrapper) };
}

/** What is on the disk beside what fills it. */
function names({ seen }: SmallDisk): readonly string[] {
  return readdirSync(seen)
    .filter((name) => name !== 'filler.bin')
    .toSorted();
}

function assertOneLine({ code, stderr }: Ended, pattern: RegExp): void {
  assert.equal(code, 1, stderr);
  assert.match(stderr, pattern);
  assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
}

test('a prune that would not have room to rewrite the archive removes nothing, and says how much it needs', async (t) => {
  const { disk, run } = await setUp(t, { sizeBytes: 8192 * KIB });
  const archive = join(disk.path, 'archive.db');
  writeFileSync(join(disk.seen, 'talk.jsonl'), original);
  assert.equal((await run(['-i', ...SETTINGS, '--archive', archive, join(disk.path, 'talk.jsonl')])).code, 0);
  disk.leave(200 * KIB);
  const prune = ['archive', 'prune', '--max-size', '1kB', '--yes', '--archive', archive];
  assertOneLine(
    await run(prune),
    /nothing was removed, because then the archive is rewritten, which needs \S+ kB of free space in \S+, and \S+ kB are free\. Make room there/,
  );
  const verify = ['verify', '--archive', archive, join(disk.path, 'talk.jsonl')];
  assert.equal((await run(verify)).code, 0);
  disk.leave(4096 * KIB);
  assert.equal((await run(prune)).code, 0);
  assert.equal((await run([...verify, '--strict'])).code, 1);
});

test('no space where the result is to stand: as it was, and with space it is done', async (t) => {
  const { disk, run } = await setUp(t);
  const [file, path] = [join(disk.seen, 'talk.jsonl'), join(disk.path, 'talk.jsonl')];
  for (const [flags, freeBytes] of [
    [['-i'], 0],
    [['-i'], 16 * KIB],
    [[], 16 * KIB],
    [['-o', join(disk.path, 'out.jsonl')], 0],
  ] as const) {
    for (const name of names(disk)) rmSync(join(disk.seen, name));
    writeFileSync(file, original);
    disk.leave(freeBytes);
    const archive = join(folderWith(t, {}), 'archive.db');
    const command = [...flags, ...SETTINGS, '--archive', archive, path];
    assertOneLine(await run(command), /^\S+: no space is left there\. Make room, or give another place with -o\.$/m);
    assert.deepEqual([readFileSync(file, 'utf8') === original, names(disk)], [true, ['talk.jsonl']]);
    const rows = readArchiveRows(archive);
    assert.deepEqual([rows?.statuses, rows?.damage], [[], []]);
    disk.leave(1024 * KIB);
    assert.equal((await run(command)).code, 0);
    const output = names(disk).find((name) => name !== 'talk.jsonl') ?? 'talk.jsonl';
    const restored = await run(['restore', '--archive', archive, join(disk.path, output)]);
    assert.equal(restored.stdout, original);
  }
});

test('no space while it restores in place', async (t) => {
  const { disk, elsewhere, run } = await setUp(t);
  const [file, path] = [join(disk.seen, 'talk.jsonl'), join(disk.path, 'talk.jsonl')];
  const place = ['--archive', join(elsewhere, 'archive.db'), path];
  writeFileSync(file, original);
  assert.equal((await run(['-i', ...SETTINGS, ...place])).code, 0);
  const compacted = readFileSync(file);
  disk.leave(16 * KIB);
  assertOneLine(await run(['restore', '-i', ...place]), /no space is left there/);
  assert.deepEqual([readFileSync(file), names(disk)], [compacted, ['talk.jsonl']]);
  disk.leave(1024 * KIB);
  assert.equal((await run(['restore', '-i', ...place])).code, 0);
  assert.equal(readFileSync(file, 'utf8'), original);
});

test('no space for a new archive: the file is as it was, and with space it is done', async (t) => {
  const { disk, run } = await setUp(t);
  const archive = join(disk.path, 'archive.db');
  /** Too little for a file; for an empty archive; for its log. */
  for (const freeBytes of [0, 96 * KIB, 300 * KIB]) {
    for (const name of names(disk)) rmSync(join(disk.seen, name));
    const elsewhere = folderWith(t, { 'talk.jsonl': original });
    const file = join(elsewhere, 'talk.jsonl');
    disk.leave(freeBytes);
    const command = ['-i', ...SETTINGS, '--archive', archive, file];
    assertOneLine(await run(command), /^\S+archive\.db: no space is left for the archive\. Make room, or name another/);
    assert.deepEqual([readFileSync(file, 'utf8') === original, readdirSync(elsewhere)], [true, ['talk.jsonl']]);
    assertSound(disk, elsewhere, []);
    disk.leave(1500 * KIB);
    const done = await run(command);
    assert.equal(done.code, 0, done.stderr);
    assert.equal((await run(['restore', '--archive', archive, file])).stdout, original);
  }
});

test('no space for more in an archive: it keeps what it had', async (t) => {
  const { disk, elsewhere, run } = await setUp(t);
  const [one, two] = [join(elsewhere, 'one.jsonl'), join(elsewhere, 'two.jsonl')];
  writeFileSync(one, original);
  writeFileSync(two, chatTranscript(80, 500));
  const archive = join(disk.path, 'archive.db');
  assert.equal((await run(['-i', '--archive', archive, one])).code, 0);
  disk.leave(64 * KIB);
  assertOneLine(await run(['-i', '--archive', archive, two]), /no space is left for the archive/);
  assert.equal(readFileSync(two, 'utf8'), chatTranscript(80, 500));
  assertSound(disk, elsewhere, ['applied']);
  assert.equal((await run(['verify', '--archive', archive, one])).code, 0);
  assert.equal((await run(['restore', '--archive', archive, one])).stdout, original);
});

/** Read from a copy: this process is not in the disk's namespace, and SQLite would write beside it. */
function assertSound({ seen }: SmallDisk, elsewhere: string, statuses: readonly string[]): void {
  for (const name of ['archive.db', 'archive.db-wal']) {
    const from = join(seen, name);
    if (existsSync(from)) copyFileSync(from, join(elsewhere, name));
  }
  const rows = readArchiveRows(join(elsewhere, 'archive.db'));
  assert.deepEqual([rows?.statuses ?? [], rows?.damage ?? []], [statuses, []]);
}

suite('no space for standard input', { concurrency: 3 }, () => {
  for (const [what, size, freeBytes] of [
    ['no byte', { sizeBytes: 512 * KIB }, 0],
    ['half of it', { sizeBytes: 512 * KIB }, 40 * KIB],
    // The root folder, the file that fills, and no more.
    ['not even a folder', { sizeBytes: 512 * KIB, maxFiles: 2 }, 100 * KIB],
  ] as const) {
    test(`${what}: nothing is left behind, and nothing is stored`, async (t) => {
      const disk = await mountSmallDisk(t, size);
      const elsewhere = folderWith(t, {});
      const input = join(elsewhere, 'talk.jsonl');
      writeFileSync(input, original);
      disk.leave(freeBytes);
      const stdin = openSync(input, 'r');
      t.after(() => closeSync(stdin));
      const archive = join(elsewhere, 'archive.db');
      const failed = await runProcess(['-', '--archive', archive], {
        wrapper: disk.wrapper,
        stdio: [stdin, 'pipe', 'pipe'],
        environment: { TMPDIR: disk.path },
      });
      assertOneLine(
        failed,
        /^\S+disk: standard input cannot be stored there \(no space is left\)\. Name another folder with TMPDIR\.$/m,
      );
      assert.deepEqual([failed.stdout, names(disk), existsSync(archive)], ['', [], false]);
    });
  }
});

test('no space in the folder for temporary files while an export is imported: nothing is left or stored', async (t) => {
  const disk = await mountSmallDisk(t, { sizeBytes: 2048 * KIB });
  const elsewhere = folderWith(t, { 'talk.jsonl': original });
  const place = (name: string): string => join(elsewhere, name);
  const run = (args: readonly string[]): Promise<Ended> =>
    runProcess(args, { wrapper: disk.wrapper, environment: { TMPDIR: disk.path } });
  const archive = ['--archive', place('archive.db')];
  assert.equal((await run(['-i', ...SETTINGS, ...archive, place('talk.jsonl')])).code, 0);
  assert.equal((await run(['archive', 'export', '--jsonl', place('export'), ...archive])).code, 0);
  for (const freeBytes of [0, 32 * KIB, 400 * KIB]) {
    disk.leave(freeBytes);
    assertOneLine(
      await run(['archive', 'import', place('export'), '--archive', place('again.db')]),
      /^\S+archive\.db: the export cannot be unpacked there \(no space is left\)\. Name another folder with TMPDIR\.$/m,
    );
    assert.deepEqual([names(disk), existsSync(place('again.db'))], [[], false]);
  }
});

test('one disk for all, with ever more room: as it was, or done; and whatever it was, with space it is done', async (t) => {
  const { disk, run } = await setUp(t);
  const file = join(disk.seen, 'talk.jsonl');
  const command = ['-i', ...SETTINGS, '--archive', join(disk.path, 'archive.db'), join(disk.path, 'talk.jsonl')];
  const codes: (number | null)[] = [];
  for (const freeBytes of [0, 120, 320, 480, 640, 800].map((kib) => kib * KIB)) {
    for (const name of names(disk)) rmSync(join(disk.seen, name));
    writeFileSync(file, original);
    disk.leave(freeBytes);
    const { code, stderr } = await run(command);
    codes.push(code);
    const isDone = readFileSync(file, 'utf8') !== original;
    if (code === 0) assert.ok(isDone);
    else assert.match(stderr, /no space is left/);
    assert.deepEqual(
      names(disk).filter((name) => !name.startsWith('archive.db')),
      ['talk.jsonl'],
    );
    disk.leave(1500 * KIB);
    const again = await run(command);
    assert.equal(again.code, 0, again.stderr);
    assert.equal((await run(['restore', '--all', ...command.slice(-3)])).stdout, original);
  }
  assert.deepEqual([codes.at(0), codes.at(-1)], [1, 0]);
});
