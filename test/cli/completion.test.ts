import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { COMMAND_NAMES } from '../../src/cli/commands/table.ts';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folders.ts';
import { createFakeTerminal, createFakeUseCases } from './fakes.ts';

/** Whether the shell is installed here. */
function hasShell(name: string): boolean {
  return spawnSync(name, ['-c', 'exit 0']).status === 0;
}

async function script(shell: string): Promise<string> {
  const terminal = createFakeTerminal(['completion', shell]);
  assert.equal(await run({ terminal, loadUseCases: createFakeUseCases().loadUseCases }), 0);
  return terminal.out();
}

/** Completes each line in a folder with two files and a folder, and returns what is offered. */
type Complete = (lines: readonly string[]) => readonly (readonly string[])[];

async function completeWith(t: TestContext, shell: 'bash' | 'fish'): Promise<Complete> {
  const folder = folderWith(t, { script: await script(shell), 'work/score.jsonl': '', 'work/my log.jsonl': '' });
  return (lines) => {
    const asked = lines.map((line) => (shell === 'bash' ? inBash(line) : inFish(line))).join('\n');
    const flags = shell === 'bash' ? ['--norc', '-c'] : ['--no-config', '-c'];
    const { stdout, stderr, status } = spawnSync(shell, [...flags, `source ${join(folder, 'script')}\n${asked}`], {
      cwd: join(folder, 'work'),
      encoding: 'utf8',
      env: { ...process.env, HOME: folder },
    });
    assert.deepEqual([status, stderr], [0, '']);
    const groups = stdout.split('--end\n').slice(0, -1);
    return groups.map((group) =>
      group
        .split('\n')
        .filter((word) => word !== '')
        .toSorted(),
    );
  };
}

/** Calls the function as bash would: with the words of the line, cut at spaces and at `=`. */
function inBash(line: string): string {
  const words = line.split(/ |(?==)|(?<==)/).map((word) => `'${word}'`);
  return `COMP_WORDS=(${words.join(' ')}) COMP_CWORD=${words.length - 1} COMPREPLY=(); _compact
    printf '%s\\n' "\${COMPREPLY[@]}"; echo --end`;
}

function inFish(line: string): string {
  return `complete -C '${line}' | string split -f 1 \\t; echo --end`;
}

const OFFERS: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ['compact sc', ['scan', 'schema', 'score', 'score.jsonl']],
  ['compact my', ['my log.jsonl']],
  ['compact --ver', ['--verbose', '--version']],
  ['compact score --expl', ['--explain']],
  ['compact --color ', ['always', 'auto', 'never']],
  ['compact score --sort ', ['position', 'score']],
  ['compact -o sc', ['score.jsonl']],
  ['compact restore sc', ['score.jsonl']],
  ['compact search --role u', ['user']],
  ['compact --format cl', ['claude-code']],
  ['compact --provider ext', ['extractive']],
  ['compact hoo', []],
  ['compact search --limit ', []],
  ['compact search ', []],
  ['compact archive st', ['stats']],
  ['compact archive stats ', []],
  ['compact help sea', ['search']],
  ['compact -q completion z', ['zsh']],
];

test('bash completes commands, flags, their values and files', async (t) => {
  const complete = await completeWith(t, 'bash');
  const offered = complete(OFFERS.map(([line]) => line));
  assert.deepEqual(
    OFFERS.map(([line], index) => [line, offered[index]]),
    OFFERS,
  );
  assert.deepEqual(complete(['compact --color=n', 'compact -- sc']), [['never'], ['score.jsonl']]);
});

test('fish completes commands, flags, their values and files', { skip: !hasShell('fish') && 'no fish' }, async (t) => {
  const complete = await completeWith(t, 'fish');
  const lines = OFFERS.filter(([line]) => line !== 'compact archive stats ');
  const offered = complete(lines.map(([line]) => line));
  assert.deepEqual(
    lines.map(([line], index) => [line, offered[index]]),
    lines,
  );
});

test('zsh can parse its script', { skip: !hasShell('zsh') && 'no zsh' }, async (t) => {
  const folder = folderWith(t, { script: await script('zsh') });
  const { status, stderr } = spawnSync('zsh', ['-n', join(folder, 'script')], { encoding: 'utf8' });
  assert.deepEqual([status, stderr], [0, '']);
});

for (const shell of ['bash', 'zsh', 'fish', 'powershell']) {
  test(`the script for ${shell} knows every command that people use`, async () => {
    const text = await script(shell);
    assert.deepEqual(
      COMMAND_NAMES.filter((name) => !new RegExp(`[\\s|'"]${name}[\\s|'":)]`).test(text)),
      ['hook'],
    );
  });
}
