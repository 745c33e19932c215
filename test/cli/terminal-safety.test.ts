import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { createUseCases } from '../../src/compose/use-cases.ts';
import { run } from '../../src/cli/run.ts';
import { chatLine, prose } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { createFakeTerminal, type FakeTerminal } from './fakes.ts';

/** Clears the screen, sets the title, writes to the clipboard, moves up, hides text, ends a line early; C1 and DEL. */
const ATTACK =
  '\u001b[2J\u001b]0;owned\u0007\u001b]52;c;b3duZWQ=\u0007\u001b[1A\u001b[8m\r\b\u009b31m\u007f\u202e\u{e0041}';
const NAME = 'log\u001b[2J\u001b]0;owned\u0007.jsonl';
const TALK = Array.from({ length: 24 }, (_, at) => [
  // Raw controls may stand in a line that is no JSON, and DEL, C1 and bidi marks in one that is.
  chatLine({ role: 'user', name: `Ada${ATTACK}`, content: `alpha${at} ${ATTACK} ${prose(at, 60)}` }),
  chatLine({ role: 'assistant', content: prose(at + 100, 60) }).replace('"role"', '"\u009b31m\u007f\u202e":1,"role"'),
]).flat();

type Setting = {
  readonly folder: string;
  readonly go: (args: readonly string[], isTerminal?: boolean) => Promise<FakeTerminal>;
};

function setUp(t: TestContext): Setting {
  const folder = folderWith(t, {
    [NAME]: TALK.map((line) => `${line}\n`).join(''),
    'bad.jsonl': `${TALK[0]}\n{"x": ${ATTACK}\n`,
  });
  const go: Setting['go'] = async (args, isTerminal = true) => {
    const terminal = createFakeTerminal([...args, '--archive', join(folder, 'a.db')], {
      isTerminal,
      workingFolder: folder,
      homeFolder: folder,
      environment: { NO_COLOR: '1', XDG_CONFIG_HOME: folder },
    });
    await run({ terminal, loadUseCases: async () => createUseCases });
    return terminal;
  };
  return { folder, go };
}

/** What a progress line writes over itself is ours. */
const withoutProgress = (text: string): string => text.replaceAll('\r\u001b[2K', '');
const OBEYED = /[^\P{C}\n\t\u200d]/u;

function assertSafe(text: string): void {
  const shown = withoutProgress(text);
  const at = shown.search(OBEYED);
  assert.equal(at, -1, JSON.stringify(shown.slice(Math.max(0, at - 60), at + 20)));
}

suite('on a terminal nothing of a transcript is obeyed', () => {
  test('by any command that prints text of one, or names a file', async (t) => {
    const { folder, go } = setUp(t);
    const file = join(folder, NAME);
    const commands: readonly (readonly string[])[] = [
      ['scan', folder],
      ['scan', '-0', folder],
      ['score', '--explain', file],
      ['-n', file],
      ['--preview', file],
      ['-o', '-', file],
      [file],
      ['verify', join(folder, NAME.replace('.jsonl', '.compact.jsonl'))],
      ['restore', join(folder, NAME.replace('.jsonl', '.compact.jsonl'))],
      ['search', 'alpha3'],
      ['search', `nothing${ATTACK}`],
      ['show', 'message:1'],
      ['show', '--messages', 'message:1'],
      ['show', 'batch:1'],
      ['show', '--messages', 'batch:1'],
      ['show', `no such ${ATTACK}`],
      ['archive', 'list'],
      [join(folder, 'bad.jsonl')],
      [join(folder, `missing${ATTACK}.jsonl`)],
      [`--${ATTACK}`],
      ['--format', ATTACK, file],
    ];
    for (const args of commands) {
      const terminal = await go(args);
      assert.ok(terminal.out() + terminal.errors() !== '', args.join(' '));
      assertSafe(terminal.out());
      assertSafe(terminal.errors());
    }
  });

  test('and a pipe gets the exact bytes', async (t) => {
    const { folder, go } = setUp(t);
    const file = join(folder, NAME);
    assert.equal((await go(['scan', '-0', file], false)).out(), `${file}\0`);
    await go([file], false);
    const shown = await go(['show', '--messages', 'message:1'], false);
    assert.ok(readFileSync(file).includes(Buffer.from(shown.out())));
    assert.match(shown.out(), /\u007f/);
  });
});

test('a process that has much to do lets V8 pile up less garbage', () => {
  const youngBytesAfter = (calls: string): number => {
    const script = `
      import { getHeapSpaceStatistics } from 'node:v8';
      import { createTerminal } from './src/cli/terminal/terminal.ts';
      const terminal = createTerminal();
      const kept = Array.from({ length: 400_000 }, (_, at) => ({ at, name: 'n' + at }));
      ${calls}
      for (let at = 0; at < 8_000_000; at += 1) kept[at % 100_000] = { at, name: 'n' };
      terminal.close();
      console.log(getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space').space_size);`;
    const args = ['--max-semi-space-size=64', '--input-type=module', '-e', script];
    return Number(execFileSync(process.execPath, args, { cwd: join(import.meta.dirname, '../..') }));
  };
  assert.ok(youngBytesAfter('terminal.saveMemory();') < youngBytesAfter(''));
});
