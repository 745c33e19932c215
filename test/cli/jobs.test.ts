import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createUseCases, type UseCases } from '../../src/compose/use-cases.ts';
import { run } from '../../src/cli/run.ts';
import { err, ok } from '../../src/core/result.ts';
import { readArchiveRows } from '../support/archive-rows.ts';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { compactReport } from './fake-reports.ts';
import { createFakeTerminal, createFakeUseCases, type FakeTerminal, type TerminalOptions } from './fakes.ts';
import { jsonLines } from '../support/program.ts';

type CompactFile = UseCases['compactFile'];
type Begun = { readonly name: string; readonly end: (result: Awaited<ReturnType<CompactFile>>) => void };

/** A run over empty transcripts, each of which ends when the test says so. */
function startRun(
  t: TestContext,
  args: readonly string[],
  { names, ...options }: TerminalOptions & { readonly names: readonly string[] },
) {
  const folder = folderWith(t, Object.fromEntries(names.map((name) => [name, ''])));
  const terminal = createFakeTerminal([...args, ...names.map((name) => join(folder, name))], options);
  const begun: Begun[] = [];
  const waiting: (() => void)[] = [];
  const compactFile: CompactFile = ({ input }) => {
    const name = input.name.slice(folder.length + 1);
    const result = new Promise<Awaited<ReturnType<CompactFile>>>((resolve) => begun.push({ name, end: resolve }));
    for (const wake of waiting.splice(0)) wake();
    return result;
  };
  const { loadUseCases } = createFakeUseCases({ compactFile });
  const code = run({ terminal, loadUseCases });
  /** When so many have been begun. */
  const untilBegun = async (count: number): Promise<readonly string[]> => {
    while (begun.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    return begun.map(({ name }) => name);
  };
  const end = (name: string): void =>
    begun.find((one) => one.name === name)?.end(ok(compactReport({ file: name, output: name })));
  return { terminal, code, begun, untilBegun, end };
}

const filesTold = (terminal: FakeTerminal): readonly string[] => jsonLines(terminal.out()).map(({ file }) => file);

const NAMES = ['a.jsonl', 'b.jsonl', 'c.jsonl', 'd.jsonl'];

suite('several transcripts at a time', { timeout: 120_000 }, () => {
  test('no more than was asked for are begun, and they are reported in their order', async (t) => {
    const { terminal, code, untilBegun, end } = startRun(t, ['--json', '-j', '2'], { names: NAMES });
    assert.deepEqual(await untilBegun(2), ['a.jsonl', 'b.jsonl']);
    end('b.jsonl');
    assert.deepEqual(await untilBegun(3), ['a.jsonl', 'b.jsonl', 'c.jsonl']);
    end('c.jsonl');
    assert.deepEqual(await untilBegun(4), NAMES);
    end('d.jsonl');
    assert.equal(terminal.out(), '');
    end('a.jsonl');
    assert.equal(await code, 0);
    assert.deepEqual(filesTold(terminal), NAMES);
    assert.match(terminal.errors(), /^4 transcripts: 4 compacted\n/);
  });

  test('a report is printed as soon as all before it are done', async (t) => {
    const { terminal, code, untilBegun, end } = startRun(t, ['--json', '-j', '4'], { names: NAMES });
    await untilBegun(4);
    end('b.jsonl');
    end('a.jsonl');
    while (filesTold(terminal).length < 2) await setImmediate();
    assert.deepEqual(filesTold(terminal), ['a.jsonl', 'b.jsonl']);
    end('d.jsonl');
    end('c.jsonl');
    assert.equal(await code, 0);
    assert.deepEqual(filesTold(terminal), NAMES);
  });

  test('one at a time is the default for a few files', async (t) => {
    const { code, untilBegun, end } = startRun(t, [], { names: NAMES.slice(0, 2) });
    assert.deepEqual(await untilBegun(1), ['a.jsonl']);
    end('a.jsonl');
    assert.deepEqual(await untilBegun(2), ['a.jsonl', 'b.jsonl']);
    end('b.jsonl');
    assert.equal(await code, 0);
  });

  test('one that fails is counted, and the others go on', async (t) => {
    const { terminal, code, untilBegun, begun, end } = startRun(t, ['-j', '9'], { names: NAMES });
    await untilBegun(4);
    begun[1]?.end(err({ kind: 'source-changed', file: 'b.jsonl' }));
    for (const name of NAMES) end(name);
    assert.equal(await code, 1);
    assert.match(terminal.errors(), /^4 transcripts: 3 compacted, 1 failed$/m);
  });

  test('an interruption begins no more, tells what was done, and counts the rest', async (t) => {
    const { terminal, code, untilBegun, begun, end } = startRun(t, ['-j', '2'], { names: NAMES });
    await untilBegun(2);
    terminal.interrupt();
    begun[0]?.end(err({ kind: 'interrupted' }));
    end('b.jsonl');
    assert.equal(await code, 130);
    assert.deepEqual(await untilBegun(2), ['a.jsonl', 'b.jsonl']);
    assert.match(terminal.errors(), /^4 transcripts: 1 compacted, 3 not done; /m);
  });
});

test('of transcripts that are compacted at the same time each has its archive rows and can be restored', async (t) => {
  const names = ['a.jsonl', 'b.jsonl', 'c.jsonl', 'd.jsonl', 'e.jsonl'];
  const texts = new Map(names.map((name, at) => [name, chatTranscript(24 + at, 70)]));
  const folder = folderWith(t, Object.fromEntries(texts));
  const archive = join(folder, 'archive.db');
  const ran = async (...args: readonly string[]): Promise<FakeTerminal> => {
    const terminal = createFakeTerminal([...args, '--archive', archive]);
    assert.equal(await run({ terminal, loadUseCases: async () => createUseCases }), 0, terminal.errors());
    return terminal;
  };
  await ran('-i', '-j', '3', folder);
  const rows = readArchiveRows(archive);
  assert.deepEqual([rows?.statuses, rows?.damage], [names.map(() => 'applied'), []]);
  for (const [name, text] of texts) {
    assert.equal((await ran('restore', join(folder, name))).out(), text);
  }
});
