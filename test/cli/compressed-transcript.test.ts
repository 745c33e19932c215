import assert from 'node:assert/strict';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { readArchiveRows } from '../support/archive-rows.ts';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { jsonLines, runHere, runProcess } from '../support/program.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

const original = chatTranscript(24);
const AT_A_TIME = { concurrency: 3 };

type Place = {
  readonly logs: string;
  readonly file: string;
  readonly archive: string;
  /** The folder for temporary files. */
  readonly temporary: string;
};

function setUp(t: TestContext): Place {
  const folder = folderWith(t, { 'logs/': '', 'tmp/': '' });
  const logs = join(folder, 'logs');
  const file = join(logs, 'talk.jsonl.zst');
  writeFileSync(file, zstdCompressSync(original));
  return { logs, file, archive: join(folder, 'archive.db'), temporary: join(folder, 'tmp') };
}

async function restored({ archive, file }: Place): Promise<string> {
  const { code, stdout, stderr } = await runHere(['restore', '--all', '-q', '--archive', archive, file]);
  assert.equal(code, 0, stderr);
  return stdout;
}

suite('a run over a packed transcript that is ended early', AT_A_TIME, () => {
  for (const step of ['written', 'renamed'] as const) {
    test(`killed after '${step}': the next run leaves what it has to leave, and nothing else`, async (t) => {
      const place = setUp(t);
      const { logs, file, archive, temporary } = place;
      const command = ['-i', '-q', '--archive', archive, file];
      const killed = await runProcess(command, {
        script: { happening: { step, what: { kind: 'signals', names: ['SIGKILL'] } } },
        environment: { TMPDIR: temporary },
      });
      assert.equal(killed.signal, 'SIGKILL', killed.stderr);
      const isDone = !readFileSync(file).equals(zstdCompressSync(original));
      assert.deepEqual([isDone, readdirSync(temporary)], [step === 'renamed', []]);
      assert.equal((await runHere(command)).code, 0);
      assert.deepEqual([readdirSync(logs), readArchiveRows(archive)?.statuses], [['talk.jsonl.zst'], ['applied']]);
      assert.equal((await runHere(['verify', '-q', '--archive', archive, file])).code, 0);
      assert.equal(await restored(place), original);
    });
  }
});

suite('packed transcripts on the command line', AT_A_TIME, () => {
  test('a folder of them is compacted, several at a time, each beside its input as that is packed', async (t) => {
    const { logs, archive } = setUp(t);
    mkdirSync(join(logs, 'deep'));
    writeFileSync(join(logs, 'deep/more.jsonl.gz'), gzipSync(chatTranscript(20, 300)));
    const command = ['-j', '2', '--json', '--archive', archive, logs];
    const results = async (): Promise<readonly string[]> =>
      jsonLines((await runHere(command)).stdout).map(({ result }) => result);
    assert.deepEqual(await results(), ['compacted', 'compacted']);
    assert.deepEqual(readdirSync(logs, { recursive: true, encoding: 'utf8' }).toSorted(), [
      'deep',
      'deep/more.compact.jsonl.gz',
      'deep/more.jsonl.gz',
      'talk.compact.jsonl.zst',
      'talk.jsonl.zst',
    ]);
    assert.match(gunzipSync(readFileSync(join(logs, 'deep/more.compact.jsonl.gz'))).toString(), /^\{.*Context Summary/);
    assert.match(zstdDecompressSync(readFileSync(join(logs, 'talk.compact.jsonl.zst'))).toString(), /^\{.*Context/);
    // What stands there is ours, and is not taken for an input.
    assert.deepEqual(await results(), ['compacted', 'compacted']);
  });

  test('its scores and its plan are those of what it holds; nothing is written for them', async (t) => {
    const { logs, file, archive, temporary } = setUp(t);
    const plain = join(temporary, 'talk.jsonl');
    writeFileSync(plain, original);
    const said = async (command: readonly string[], path: string): Promise<unknown> => {
      const { code, stdout, stderr } = await runHere([...command, '--json', '--archive', archive, path]);
      assert.equal(code, 0, stderr);
      // Only what it frees depends on what it takes on the disk.
      return { ...JSON.parse(stdout), file: '', netBytes: 0 };
    };
    for (const command of [['score'], ['-n']]) assert.deepEqual(await said(command, file), await said(command, plain));
    assert.deepEqual([readdirSync(logs), readArchiveRows(archive)], [['talk.jsonl.zst'], null]);
  });

  test('standard input may be packed, standard output is not', async (t) => {
    const { file, archive, temporary } = setUp(t);
    const stdin = openSync(file, 'r');
    t.after(() => closeSync(stdin));
    const ended = await runProcess(['-', '-q', '--archive', archive], {
      stdio: [stdin, 'pipe', 'pipe'],
      environment: { TMPDIR: temporary },
    });
    assert.deepEqual([ended.code, ended.stderr, readdirSync(temporary)], [0, '', []]);
    assert.match(ended.stdout, /^\{.*Context Summary/);
  });

  test('one that is cut off is told of in a line, and the others of the run are done', async (t) => {
    const { logs, file, archive } = setUp(t);
    const cut = join(logs, 'cut.jsonl.gz');
    const bytes = gzipSync(original).subarray(0, -20);
    writeFileSync(cut, bytes);
    const ended = await runHere(['-i', '-q', '--archive', archive, cut, file]);
    assert.deepEqual([ended.code, ended.stderr], [1, `${cut}: gzip data that ends too early. Get a complete copy.\n`]);
    assert.ok(readFileSync(cut).equals(bytes));
    assert.equal(await restored({ logs, file, archive, temporary: '' }), original);
  });

  test('no room for what it holds: a message, and everything is as it was', async (t) => {
    const { logs, file, archive } = setUp(t);
    const disk = await mountSmallDisk(t, { sizeBytes: 512 * 1024 });
    // What does not fit is one that is very much larger unpacked.
    const bytes = zstdCompressSync(Buffer.alloc(20_000_000, `${original.slice(0, original.indexOf('\n'))}\n`));
    writeFileSync(file, bytes);
    const ended = await runProcess(['-i', '-q', '--archive', archive, file], {
      wrapper: disk.wrapper,
      environment: { TMPDIR: disk.path },
    });
    const what = `its content cannot be stored in ${disk.path} while it is read (no space is left).`;
    assert.deepEqual([ended.code, ended.stderr], [1, `${file}: ${what} Name another folder with TMPDIR.\n`]);
    assert.deepEqual([readdirSync(logs), readdirSync(disk.seen)], [['talk.jsonl.zst'], []]);
    assert.ok(readFileSync(file).equals(bytes));
  });
});
