import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { readArchiveRows } from '../support/archive-rows.ts';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { done, jsonLines, runHere, runProcess, startWaiting } from '../support/program.ts';

const original = chatTranscript(24);

type Place = {
  readonly folder: string;
  readonly file: string;
  readonly archive: string;
  readonly run: (...args: readonly string[]) => readonly string[];
};

function setUp(t: TestContext): Place {
  const root = folderWith(t, { 'logs/talk.jsonl': original });
  const archive = join(root, 'archive.db');
  const folder = join(root, 'logs');
  const file = join(folder, 'talk.jsonl');
  return { folder, file, archive, run: (...args) => [...args, '--archive', archive, file] };
}

function inUse(path: string): string {
  return `${path}: skipped, another run of compact is working on it\n`;
}

/** The compacted file gives the original back, and the archive holds one compaction of it and nothing half done. */
async function assertOnce({ archive }: Place, compacted: string): Promise<void> {
  await done(['verify', '--archive', archive, compacted]);
  assert.equal((await done(['restore', '--all', '--archive', archive, compacted])).stdout, original);
  const rows = readArchiveRows(archive);
  assert.deepEqual([rows?.statuses, rows?.damage], [['applied'], []]);
}

function heldMessage(path: string): string {
  return `${path}: another run of compact is working on it. Try again when that one is done.\n`;
}

suite('two runs that write one file: the first has it, the second says so and skips it', { concurrency: 3 }, () => {
  test('the second compacts the rest of a folder or a glob', async (t) => {
    const place = setUp(t);
    const first = await startWaiting(t, 'prepared', { args: place.run('-i') });
    writeFileSync(join(place.folder, 'other.jsonl'), chatTranscript(30));
    const others: string[] = [];
    for (const args of [[place.folder], [join(place.folder, '*.jsonl')], ['-j', '2', place.folder]]) {
      const second = await done(['-i', '--json', '--archive', place.archive, ...args]);
      const reports = jsonLines(second.stdout).map(({ file, result, reason }) => [basename(file), reason ?? result]);
      const found: ReadonlyMap<string, string> = new Map(reports.map(([file, result]) => [file, result]));
      assert.equal(found.get('talk.jsonl'), 'in-use', second.stderr);
      others.push(found.get('other.jsonl') ?? '');
    }
    assert.deepEqual(others, ['compacted', 'nothing-new', 'nothing-new']);
    assert.equal((await first.goOn()).code, 0);
    await done(['verify', ...place.run()]);
  });

  test('both to a named output: the second fails, because that output would not hold its input', async (t) => {
    const place = setUp(t);
    const output = join(place.folder, 'out.jsonl');
    const first = await startWaiting(t, 'written', { args: place.run('-o', output) });
    const second = await runHere(place.run('-o', output));
    assert.deepEqual([second.code, second.stderr], [1, heldMessage(output)]);
    assert.equal((await first.goOn()).code, 0);
    await assertOnce(place, output);
  });

  test('both beside the input', async (t) => {
    const place = setUp(t);
    const output = join(place.folder, 'talk.compact.jsonl');
    const first = await startWaiting(t, 'written', { args: place.run() });
    const second = await runHere(place.run());
    assert.deepEqual([second.code, second.stderr], [0, inUse(place.file)]);
    assert.equal(existsSync(output), false);
    assert.equal((await first.goOn()).code, 0);
    await assertOnce(place, output);
    assert.equal(readFileSync(place.file, 'utf8'), original);
  });

  test('with archives of their own', async (t) => {
    const place = setUp(t);
    const other = join(place.folder, '..', 'other.db');
    const first = await startWaiting(t, 'prepared', { args: place.run('-i') });
    const second = await runHere(['-i', '--archive', other, place.file]);
    assert.deepEqual([second.code, second.stderr], [0, inUse(place.file)]);
    assert.equal((await first.goOn()).code, 0);
    await assertOnce(place, place.file);
    assert.equal(existsSync(other), false);
  });

  test('one restores in place while the other compacts in place, and the other way round', async (t) => {
    const place = setUp(t);
    await done(place.run('-i'));
    const restoring = await startWaiting(t, 'synced', { args: ['restore', ...place.run('-i')] });
    const late = await runHere(place.run('-i', '--keep-recent', '2'));
    assert.deepEqual([late.code, late.stderr], [0, inUse(place.file)]);
    assert.equal((await restoring.goOn()).code, 0);
    assert.equal(readFileSync(place.file, 'utf8'), original);
    await done(place.run('-i'));
    const compacting = await startWaiting(t, 'summarized', { args: place.run('-i', '--keep-recent', '2') });
    const refused = await runHere(['restore', ...place.run('-i')]);
    assert.deepEqual([refused.code, refused.stderr], [1, heldMessage(place.file)]);
    assert.equal((await compacting.goOn()).code, 0);
    assert.equal((await done(['restore', '--all', ...place.run()])).stdout, original);
  });
});

suite('two runs that do not stand in each other’s way', { concurrency: 3 }, () => {
  for (const step of ['read', 'planned'] as const) {
    test(`the second is done when the first has '${step}' only: that one sees that nothing is left to do`, async (t) => {
      const place = setUp(t);
      const first = await startWaiting(t, step, { args: place.run('-i', '--json') });
      await done(place.run('-i'));
      const ended = await first.goOn();
      assert.deepEqual([ended.code, JSON.parse(ended.stdout).reason], [0, 'nothing-new']);
      await assertOnce(place, place.file);
    });
  }

  for (const step of ['renamed', 'applied'] as const) {
    test(`the first has its file in place ('${step}'): the second sees that nothing is left to do`, async (t) => {
      const place = setUp(t);
      const first = await startWaiting(t, step, { args: place.run('-i') });
      const second = await runHere(place.run('-i', '--json'));
      assert.deepEqual([second.code, JSON.parse(second.stdout).reason], [0, 'nothing-new']);
      assert.equal((await first.goOn()).code, 0);
      await assertOnce(place, place.file);
      assert.deepEqual(readdirSync(place.folder), ['talk.jsonl']);
    });
  }

  for (const step of ['planned', 'renamed'] as const) {
    test(`different outputs of one input, the first after '${step}'`, async (t) => {
      const { folder, run, archive, file } = setUp(t);
      const [one, two] = [join(folder, 'one.jsonl'), join(folder, 'two.jsonl')];
      const first = await startWaiting(t, step, { args: run('-o', one) });
      const second = await runHere(run('-o', two));
      assert.equal(second.code, 0, second.stderr);
      assert.equal((await first.goOn()).code, 0);
      for (const output of [one, two]) {
        await done(['verify', '--archive', archive, output]);
        assert.equal((await done(['restore', '--archive', archive, output])).stdout, original);
      }
      assert.deepEqual([readFileSync(one), readFileSync(file, 'utf8')], [readFileSync(two), original]);
      assert.deepEqual(new Set(readArchiveRows(archive)?.statuses), new Set(['applied']));
    });
  }

  test('to standard output while another looks after what is prepared', async (t) => {
    const place = setUp(t);
    const first = await startWaiting(t, 'prepared', { args: place.run('-o', '-', '-q') });
    const output = join(place.folder, 'out.jsonl');
    await done(place.run('-o', output));
    const ended = await first.goOn();
    assert.deepEqual([ended.code, ended.stdout], [0, readFileSync(output, 'utf8')]);
    await done(['verify', '--archive', place.archive, output]);
    assert.deepEqual(new Set(readArchiveRows(place.archive)?.statuses), new Set(['applied']));
  });

  test('verifying and restoring to elsewhere while the file is compacted again', async (t) => {
    const place = setUp(t);
    await done(place.run('-i'));
    const first = await startWaiting(t, 'synced', { args: place.run('-i', '--keep-recent', '2') });
    await done(['verify', ...place.run()]);
    assert.equal((await done(['restore', ...place.run()])).stdout, original);
    assert.equal((await first.goOn()).code, 0);
    assert.equal((await done(['restore', '--all', ...place.run()])).stdout, original);
    assert.deepEqual(readdirSync(place.folder), ['talk.jsonl']);
  });
});

test('the lock of a killed run stops no other run', async (t) => {
  const place = setUp(t);
  const first = await startWaiting(t, 'synced', { args: place.run('-i') });
  assert.equal((await runHere(place.run('-i'))).stderr, inUse(place.file));
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  await done(place.run('-i'));
  await assertOnce(place, place.file);
  assert.deepEqual(readdirSync(place.folder), ['talk.jsonl']);
});

test('what a run that was killed has left is removed by any other run, even one that finds nothing to do', async (t) => {
  const place = setUp(t);
  const killed = await startWaiting(t, 'applied', { args: place.run('-i') });
  killed.child.kill('SIGKILL');
  await once(killed.child, 'exit');
  const left = `${place.folder}-left`;
  cpSync(place.folder, left, { recursive: true });
  assert.equal(readdirSync(left).length, 2);
  for (const args of [['-i', '--if-over', '1000000'], ['-i'], ['verify'], ['restore']]) {
    cpSync(left, place.folder, { recursive: true });
    await done(place.run(...args));
    assert.deepEqual(readdirSync(place.folder), ['talk.jsonl'], args.join(' '));
  }
});

test('four at once have the effect of one', async (t) => {
  const place = setUp(t);
  const all = await Promise.all(Array.from({ length: 4 }, async () => runProcess(place.run('-i'))));
  for (const { code, stderr } of all) assert.equal(code, 0, stderr);
  await assertOnce(place, place.file);
  assert.deepEqual(readdirSync(place.folder), ['talk.jsonl']);
  const alone = setUp(t);
  await done(alone.run('-i'));
  assert.deepEqual(readFileSync(place.file), readFileSync(alone.file));
});
