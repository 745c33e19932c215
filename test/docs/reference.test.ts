import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SHOWN_COMMANDS } from '../../src/cli/commands/table.ts';
import { MAN_PAGE, writeManPage } from './man.ts';
import { REFERENCE, writeReference } from './reference.ts';

test('docs/compact.1 describes the commands as they are', async () => {
  assert.equal(readFileSync(MAN_PAGE, 'utf8'), await writeManPage(), 'npm run docs:commands writes it again');
});

const RENDERERS: readonly (readonly [string, ...string[]])[] = [
  ['groff', '-man', '-ww', '-z', '-K', 'utf8', MAN_PAGE],
  ['mandoc', '-T', 'lint', '-W', 'warning', MAN_PAGE],
];

for (const [program, ...argv] of RENDERERS) {
  const isHere = spawnSync(program, ['-h']).error === undefined;
  test(`${program} finds nothing wrong with the man page`, { skip: !isHere && `no ${program}` }, () => {
    const { status, stdout, stderr } = spawnSync(program, argv, { encoding: 'utf8' });
    assert.deepEqual([status, stdout, stderr], [0, '', '']);
  });
}

test('the page has a section for every command', () => {
  const page = readFileSync(MAN_PAGE, 'utf8');
  const named = SHOWN_COMMANDS.map(([name]) => name).filter((name) => !['run', 'help'].includes(name));
  assert.deepEqual(
    named.filter((name) => !page.includes(`.SS compact ${name} `)),
    [],
  );
});

test('docs/commands.md describes the commands as they are', async () => {
  assert.equal(readFileSync(REFERENCE, 'utf8'), await writeReference(), 'npm run docs:commands writes it again');
});
