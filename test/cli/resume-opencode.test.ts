import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { removeExpired } from '../../src/cli/hook/rule-notes.ts';
import { run } from '../../src/cli/run.ts';
import { createUseCases } from '../../src/compose/use-cases.ts';
import { prose } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { createFakeTerminal, EXITED } from './fakes.ts';

const ID = 'ses_e0161a000ffeMadeUpSession1';

/** What OpenCode 1.18.33 was seen to do with `export` and `import`: what is there, in whichever session, stays as it is. */
const OPENCODE = `#!${process.execPath}
const { existsSync, readFileSync, readdirSync, writeFileSync } = require('node:fs');
const [action, what] = process.argv.slice(2);
const folder = process.env.HOME + '/sessions/';
const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
if (action === 'export') {
  process.stderr.write('Exporting session: ' + what + '\\n');
  if (!existsSync(folder + what)) {
    process.stderr.write('\\x1b[91m\\x1b[1mError: \\x1b[0mSession not found: ' + what + '\\n');
    process.exit(1);
  }
  writeFileSync(1, readFileSync(folder + what));
} else if (existsSync(process.env.HOME + '/broken')) process.exit(3);
else {
  const { info, messages } = read(what);
  const known = new Set(readdirSync(folder).flatMap((name) => read(folder + name).messages.map((one) => one.info.id)));
  const before = existsSync(folder + info.id) ? read(folder + info.id) : { info: { ...info, directory: process.cwd() }, messages: [] };
  const added = messages.filter((one) => !known.has(one.info.id));
  writeFileSync(folder + info.id, JSON.stringify({ ...before, messages: [...before.messages, ...added] }, null, 2));
  console.log('Imported session: ' + info.id);
}
`;

type Stored = {
  readonly info: { readonly id: string; readonly title: string; readonly directory: string };
  readonly messages: readonly {
    readonly info: { readonly id: string; readonly sessionID: string; readonly parentID?: string };
    readonly parts: readonly { readonly id: string; readonly messageID: string; readonly sessionID: string }[];
  }[];
};

/** Requests with long answers, from the number `first` on, as OpenCode stores them. */
function messagesOf(session: string, first: number, count: number): Stored['messages'] {
  return Array.from({ length: 2 * count }, (_, at) => {
    const number = String(2 * first + at).padStart(12, '0');
    const [id, part] = [`msg_${number}QQQQQQQQQQQQQQ`, `prt_${number}QQQQQQQQQQQQQQ`];
    const isAnswer = at % 2 === 1;
    const text = isAnswer ? prose(first + at, 400) : `Do part ${first + at / 2}.`;
    const parent = `msg_${String(2 * first + at - 1).padStart(12, '0')}QQQQQQQQQQQQQQ`;
    const time = { created: 1_771_200_000_000 + (2 * first + at) * 60_000 };
    const model = { modelID: 'm-1', providerID: 'made-up' };
    const info = isAnswer ? { role: 'assistant', parentID: parent, ...model, finish: 'stop' } : { role: 'user', model };
    return {
      info: { ...info, time, agent: 'build', id, sessionID: session },
      parts: [{ type: 'text', text, id: part, sessionID: session, messageID: id }],
    };
  });
}

/** Among the arguments: the run is interrupted as soon as OpenCode has started. */
const INTERRUPTED = '(interrupted)';

function homeWith(t: TestContext) {
  const home = realpathSync(folderWith(t, { 'mill/': '', 'bin/': '', 'sessions/': '' }));
  writeFileSync(join(home, 'bin/opencode'), OPENCODE, { mode: 0o755 });
  const folder = join(home, 'mill');
  const store = (id: string, messages: Stored['messages']): void =>
    writeFileSync(
      join(home, 'sessions', id),
      JSON.stringify({ info: { id, title: 'The mill', directory: folder, parentID: 'ses_parent' }, messages }, null, 2),
    );
  store(ID, messagesOf(ID, 0, 30));
  const stored = (id: string): Stored => JSON.parse(readFileSync(join(home, 'sessions', id), 'utf8'));
  const sessions = (): readonly string[] => readdirSync(join(home, 'sessions')).toSorted();
  const kept = join(home, '.local/state/compact/opencode');
  const ran = async (...argv: readonly string[]) => {
    const environment = { PATH: join(home, 'bin'), HOME: home };
    const words = argv.filter((word) => word !== INTERRUPTED);
    const fake = createFakeTerminal(words, { homeFolder: home, workingFolder: home, environment });
    const interrupted = (...[child]: Parameters<typeof fake.killAtExit>) => {
      fake.interrupt();
      return fake.killAtExit(child);
    };
    const terminal = words.length === argv.length ? fake : { ...fake, killAtExit: interrupted };
    const code = await run({ terminal, loadUseCases: async () => createUseCases });
    return { code, out: terminal.out(), errors: terminal.errors(), started: terminal.started };
  };
  return { home, folder, store, stored, sessions, kept, ran };
}

const RESUME = ['resume', ID, '--if-over', '10000'] as const;

test('OpenCode goes on with a compacted copy under ids of its own, and the session itself stays as it is', async (t) => {
  const { folder, stored, sessions, ran } = homeWith(t);
  const before = stored(ID);
  const { code, errors, started } = await ran(...RESUME, '--', '--model', 'a b');
  assert.equal(code, EXITED, errors);
  const [, copyId = ''] = sessions();
  assert.match(copyId, new RegExp(`^${ID}compact[0-9a-f]{8}$`));
  assert.match(errors, new RegExp(`${copyId}: OpenCode gets this copy; ${ID} stays as it is`));
  assert.deepEqual(
    started.map(({ args, folder: place }) => [place, ...args]),
    [[folder, '--session', copyId, '--model', 'a b']],
  );
  assert.deepEqual(stored(ID), before);
  const { info, messages } = stored(copyId);
  assert.equal(info.title, 'The mill (compacted)');
  assert.ok(messages.length < before.messages.length / 2);
  assert.match(JSON.stringify(messages), /\[Context Summary/);
  const ids = new Set(messages.map((one) => one.info.id));
  for (const { info: message, parts } of messages) {
    assert.equal(message.sessionID, copyId);
    for (const part of parts) assert.deepEqual([part.messageID, part.sessionID], [message.id, copyId]);
    assert.ok(before.messages.every((one) => one.info.id !== message.id));
  }
  const answers = messages.flatMap(({ info: { parentID } }) => parentID ?? []);
  assert.ok(answers.some((parent) => ids.has(parent)));
});

test('-n and --print say what would happen, and write nothing', async (t) => {
  const { home, folder, sessions, ran } = homeWith(t);
  const plan = await ran(...RESUME, '-n');
  const copyId = new RegExp(`${ID}compact[0-9a-f]{8}`).exec(plan.out)?.[0] ?? '';
  assert.match(plan.out, / → .* tokens\n.*OpenCode gets this copy; .* stays as it is\n/);
  assert.ok(plan.out.endsWith(`\ncd ${folder} && opencode --session ${copyId}\n`), plan.out);
  const printed = await ran(...RESUME, '--print');
  assert.equal(printed.out, `cd ${folder} && opencode --session ${ID}\n`);
  assert.deepEqual([...plan.started, ...printed.started], []);
  assert.deepEqual(sessions(), [ID]);
  assert.deepEqual(readdirSync(home).toSorted(), ['bin', 'mill', 'sessions']);
  assert.equal((await ran(...RESUME)).started[0]?.args[1], copyId);
});

test('a second resume goes on with the same copy, and a copy that has grown is compacted on from where it was', async (t) => {
  const { store, stored, sessions, kept, ran } = homeWith(t);
  await ran(...RESUME);
  const [, copyId = ''] = sessions();
  assert.match((await ran('search', 'part', '--wait')).out, new RegExp(`compact resume ${ID}\n`));
  const again = await ran(...RESUME);
  assert.match(again.errors, new RegExp(`^${ID}: it was compacted before; OpenCode has its copy ${copyId}\n`));
  assert.deepEqual([again.started[0]?.args, sessions().length], [['--session', copyId], 2]);
  store(copyId, [...stored(copyId).messages, ...messagesOf(copyId, 40, 30)]);
  const grown = await ran(...RESUME);
  const third = sessions().find((id) => id !== ID && id !== copyId) ?? '';
  assert.deepEqual(grown.started[0]?.args, ['--session', third]);
  assert.match(third, new RegExp(`^${ID}compact[0-9a-f]{8}$`));
  const { out } = await ran('verify', join(kept, `${ID}-${third.slice(ID.length)}.json`));
  assert.match(out, /verified: .* of 2 compactions/);
});

test('a short session goes on itself, and nothing of it is kept', async (t) => {
  const { sessions, kept, ran } = homeWith(t);
  const { errors, started } = await ran('resume', ID);
  assert.match(errors, /tokens, below the limit of 40k/);
  assert.deepEqual([started[0]?.args, sessions(), readdirSync(kept)], [['--session', ID], [ID], []]);
});

test('undo brings back what was compacted, and says how the copy goes', async (t) => {
  const { stored, sessions, kept, ran } = homeWith(t);
  await ran(...RESUME);
  const [, copyId = ''] = sessions();
  const { code, out } = await ran('undo');
  assert.equal(code, 0);
  assert.match(out, new RegExp(`session ${ID} was never changed; .* 'opencode session delete ${copyId}'\\.`));
  const [file = ''] = readdirSync(kept);
  assert.deepEqual(JSON.parse(readFileSync(join(kept, file), 'utf8')), stored(ID));
});

test('what stopped half-way is done again by the same command', async (t) => {
  const { home, sessions, kept, ran } = homeWith(t);
  writeFileSync(join(home, 'broken'), '');
  const broken = await ran(...RESUME);
  assert.deepEqual([broken.code, broken.started, sessions()], [1, [], [ID]]);
  assert.match(
    broken.errors,
    new RegExp(`'opencode import' failed \\(exit code 3\\).* 'compact resume ${ID}' tries again`),
  );
  rmSync(join(home, 'broken'));
  assert.equal((await ran(...RESUME)).code, EXITED);
  assert.deepEqual([sessions().length, readdirSync(kept).length], [2, 1]);
});

test('a copy whose import was killed is imported again, and what is there stays', async (t) => {
  const { home, stored, sessions, ran } = homeWith(t);
  await ran(...RESUME);
  const [, copyId = ''] = sessions();
  const whole = stored(copyId);
  const before = whole.messages.slice(0, -1);
  const last = whole.messages.slice(-1);
  for (const left of [[], last.map((one) => ({ ...one, parts: [] }))]) {
    const cut = { ...whole, messages: [...before, ...left] };
    writeFileSync(join(home, 'sessions', copyId), JSON.stringify(cut));
    const { errors, started } = await ran(...RESUME);
    assert.match(errors, new RegExp(`${copyId}: OpenCode gets this copy`));
    assert.deepEqual([started[0]?.args, sessions().length], [['--session', copyId], 2]);
    if (left.length === 0) assert.deepEqual(stored(copyId), whole);
  }
});

test('an interruption ends OpenCode too, and what a killed process left goes after a week', async (t) => {
  const { home, ran } = homeWith(t);
  const temporary = (name: string): string => join(realpathSync(tmpdir()), `compact-opencode-${basename(home)}${name}`);
  const folders = ['old', 'new'].map(temporary);
  for (const folder of folders) mkdirSync(folder);
  t.after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));
  utimesSync(temporary('old'), 0, 0);
  removeExpired(realpathSync(tmpdir()), { start: basename(temporary('')), userId: -1 });
  assert.ok(existsSync(temporary('old')), 'another user may have put anything into it');
  writeFileSync(join(home, 'bin/opencode'), `#!${process.execPath}\nsetInterval(() => {}, 1000);\n`, { mode: 0o755 });
  const { code, errors } = await ran('resume', ID, INTERRUPTED);
  assert.deepEqual([code, errors], [130, '']);
  assert.deepEqual(
    folders.map((folder) => existsSync(folder)),
    [false, true],
  );
});

test('a session that OpenCode does not have, and OpenCode itself missing, are said with what to try', async (t) => {
  const { home, ran } = homeWith(t);
  const missing = await ran('resume', 'ses_0000000000000000');
  assert.equal(missing.code, 1);
  assert.equal(
    missing.errors,
    "ses_0000000000000000: 'opencode export' failed (Session not found: ses_0000000000000000). 'opencode session list' shows the sessions of a folder.\n",
  );
  rmSync(join(home, 'bin/opencode'));
  assert.match(
    (await ran('resume', ID)).errors,
    /OpenCode is not on the PATH\. Install it with: npm install -g opencode-ai/,
  );
});

test('a hand-over of such a session is captured too, and leaves it as it is', async (t) => {
  const { stored, kept, ran } = homeWith(t);
  const before = stored(ID);
  const { out } = await ran('handoff', ID);
  assert.match(out, /^# Hand-over: Do part 0\./);
  assert.ok(out.endsWith(`## How to look further\n- The whole session: \`opencode export ${ID}\`\n`), out.slice(-200));
  assert.match((await ran('capture', '--list')).out, new RegExp(`${basename(kept)}/${ID}\\.json`));
  assert.deepEqual(stored(ID), before);
});

test('a file of OpenCode is not gone on with, because only the database counts', async (t) => {
  const { home, folder, ran } = homeWith(t);
  mkdirSync(join(home, 'exports'));
  const file = join(home, 'exports/mill.json');
  writeFileSync(file, readFileSync(join(home, 'sessions', ID)));
  const { code, out, errors, started } = await ran('resume', file);
  assert.deepEqual([code, started], [1, []]);
  assert.match(errors, new RegExp(`keeps its sessions in a database \\('compact resume ${ID}' goes on with`));
  assert.equal(out, `cd ${folder} && opencode import ${file} && opencode --session ${ID}\n`);
});
