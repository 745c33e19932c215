import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { chatLine, chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { runHere } from '../support/program.ts';

const LONG = chatTranscript(30);
const SHORT = Array.from({ length: 8 }, (_, at) => `${chatLine({ role: 'user', content: `no ${at}` })}\n`).join('');

/** A run over `talk.jsonl`, the only file beside what `more` holds, and the names in the folder after it. */
async function ran(t: TestContext, talk: string, argv: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const folder = folderWith(t, { 'talk.jsonl': talk, ...more });
  const flags = ['--json', '--archive', join(folder, 'data/archive.db')];
  const run = async () => {
    const path = join(folder, 'talk.jsonl');
    const { code, stdout } = await runHere([...argv.map((word) => word.replace('FOLDER', folder)), ...flags, path]);
    const { result, reason, error } = JSON.parse(stdout);
    return { code, told: reason ?? error?.kind ?? result, names: readdirSync(folder).toSorted() };
  };
  return { folder, run };
}

type Case = {
  readonly what: string;
  readonly talk: string;
  readonly argv: readonly string[];
  readonly more?: Readonly<Record<string, string>>;
  readonly told: string;
  readonly code?: number;
};

const cases: readonly Case[] = [
  { what: 'too little was said', talk: LONG, argv: ['--keep-recent', '99'], told: 'too-short' },
  { what: 'it is under the limit', talk: LONG, argv: ['--if-over', '999999'], told: 'under-limit' },
  { what: 'nothing is gained', talk: SHORT, argv: ['--keep-recent', '2'], told: 'nothing-gained' },
  { what: 'there is only a plan', talk: LONG, argv: ['-n'], told: 'planned' },
  { what: 'an offline summary is only looked at', talk: LONG, argv: ['--preview'], told: 'planned' },
  {
    what: 'the output holds something else',
    talk: LONG,
    argv: ['-o', 'FOLDER/out.jsonl'],
    more: { 'out.jsonl': 'notes\n' },
    told: 'output-exists',
    code: 1,
  },
];

for (const { what, talk, argv, more = {}, told, code = 0 } of cases) {
  test(`no archive is made where ${what}`, async (t) => {
    const { run } = await ran(t, talk, argv, more);
    const names = [...Object.keys(more), 'talk.jsonl'];
    assert.deepEqual(await run(), { code, told, names });
  });
}

test('no archive is made where a program has the file open, and the next run makes it', async (t) => {
  const { folder, run } = await ran(t, LONG, ['-i']);
  const descriptor = openSync(join(folder, 'talk.jsonl'), 'a');
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', descriptor] });
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  closeSync(descriptor);
  assert.deepEqual(await run(), { code: 0, told: 'in-use', names: ['talk.jsonl'] });
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.deepEqual(await run(), { code: 0, told: 'compacted', names: ['data', 'talk.jsonl'] });
});
