import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { CODECS } from '../support/codecs.ts';
import { findSessions } from '../../src/cli/inputs/known-places.ts';
import { run } from '../../src/cli/run.ts';
import { folderWith } from '../support/folders.ts';
import { CHAT_FORMAT, createFakeTerminal, createFakeUseCases } from './fakes.ts';

const ONE = '6b6f4218-1111-4222-8333-444455556666';
const TWINS = ['7c7f4218-1111-4222-8333-444455556666', '7c7f4218-9999-4222-8333-444455556666'] as const;

/** Runs a command line in a home with these three sessions, and gives the files that were worked on. */
async function ranAtHome(t: TestContext, ...argv: readonly string[]) {
  const home = folderWith(t, Object.fromEntries([ONE, ...TWINS].map((id) => [`.x/${id}.jsonl`, ''])));
  const format = { ...CHAT_FORMAT, places: [{ base: '.x', folder: '' }] };
  const useCases = createFakeUseCases({ listFormats: () => [format] });
  const terminal = createFakeTerminal(argv, { homeFolder: home });
  const code = await run({ terminal, loadUseCases: useCases.loadUseCases });
  const paths = useCases.calls.flatMap(({ request }) => {
    const input: unknown = Object(request).input;
    return input === undefined ? [] : [String(Object(input).path).slice(home.length + '/.x/'.length)];
  });
  return { code, paths, errors: terminal.errors().replaceAll(`${home}/`, '') };
}

for (const command of ['run', 'score', 'verify', 'scan']) {
  test(`compact ${command} takes the first eight digits of a session's id for its file`, async (t) => {
    const { code, paths } = await ranAtHome(t, command, ONE.slice(0, 8));
    assert.deepEqual([code, paths], [0, [`${ONE}.jsonl`]]);
  });
}

test('an id may be the first word of the line, and longer or in capitals', async (t) => {
  assert.deepEqual((await ranAtHome(t, '6B6F4218', '-n')).paths, [`${ONE}.jsonl`]);
  assert.deepEqual((await ranAtHome(t, TWINS[1].slice(0, 12))).paths, [`${TWINS[1]}.jsonl`]);
});

test('an ambiguous id is refused with the files that it may mean', async (t) => {
  const { code, paths, errors } = await ranAtHome(t, '7c7f4218');
  assert.deepEqual([code, paths], [2, []]);
  assert.match(errors, /several sessions' ids begin with 7c7f4218/);
  for (const id of TWINS) assert.ok(errors.includes(`\n  .x/${id}.jsonl\n`), errors);
});

test('an unknown id is refused, and fewer than eight digits are no id', async (t) => {
  const unknown = await ranAtHome(t, '01234567');
  assert.equal(unknown.code, 2);
  assert.match(unknown.errors, /there is no file 01234567, and no session whose id begins with it/);
  assert.match((await ranAtHome(t, '6b6f421')).errors, /'6b6f421' is neither a command nor a file/);
});

test("of a session with several agents, an id means the main one's file", async (t) => {
  const folder = `.kimi-code/sessions/wd_x_0123456789ab/session_${ONE}/agents`;
  const home = folderWith(t, { [`${folder}/main/wire.jsonl`]: '', [`${folder}/agent-1/wire.jsonl`]: '' });
  const kimi = CODECS.flatMap(({ format }) => (format.name === 'kimi-code' ? [format] : []));
  const host = createFakeTerminal([], { homeFolder: home }).host;
  const found = await findSessions(ONE.slice(0, 8), { formats: kimi, host });
  assert.deepEqual(found, [`${home}/${folder}/main/wire.jsonl`]);
});
