import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { run } from '../../src/cli/run.ts';
import { createUseCases } from '../../src/compose/use-cases.ts';
import { prose } from '../support/chat.ts';
import { claudeSession, keepSession, KEPT_SESSIONS, projectFolder } from '../support/client-sessions.ts';
import { CODE_CACHE, folderWith } from '../support/folders.ts';
import { endOf, runProcess } from '../support/program.ts';
import { createFakeTerminal, EXITED, type TerminalOptions } from './fakes.ts';

const ROOT = join(import.meta.dirname, '../..');
const ID = '6b6f4218-1111-4222-8333-444455556666';

/** What says where it runs and with what, and ends as `$MODE` says. It waits for a minute at most, so that no test waits longer. */
const PROGRAM = `#!/bin/sh
echo "in $(pwd -P)"
for word in "$@"; do echo "word $word"; done
trap 'echo "got INT"; exit 42' INT
trap 'echo "got TERM"; exit 43' TERM
case "$MODE" in
  wait) echo ready; for turn in $(seq 1200); do sleep 0.05; done ;;
  killed) kill -9 $$ ;;
esac
exit 7
`;

/** A home with a session of about 20,000 tokens in the folder `ferry`, and with programs of these names on the PATH. */
function homeWith(t: TestContext, programs: readonly string[] = ['claude']) {
  const home = realpathSync(folderWith(t, { 'ferry/': '', 'bin/': '' }));
  const ferry = join(home, 'ferry');
  const file = join(projectFolder(home, ferry), `${ID}.jsonl`);
  const said = Array.from({ length: 30 }, (_, at) => [`Do part ${at}.`, prose(at, 400)] as const);
  claudeSession(file, { id: ID, folder: ferry, said });
  for (const name of programs) writeFileSync(join(home, 'bin', name), PROGRAM, { mode: 0o755 });
  return { home, ferry, file, bin: join(home, 'bin') };
}

async function ran(home: string, argv: readonly string[], options: TerminalOptions = {}) {
  const environment = { PATH: join(home, 'bin') };
  const terminal = createFakeTerminal(argv, { homeFolder: home, workingFolder: home, environment, ...options });
  const code = await run({ terminal, loadUseCases: async () => createUseCases });
  return { code, out: terminal.out(), errors: terminal.errors(), started: terminal.started };
}

test('a long session is compacted in place, and then its program goes on with it in its folder', async (t) => {
  const { home, ferry, file, bin } = homeWith(t);
  const before = readFileSync(file);
  const { code, errors, started } = await ran(home, ['resume', '6b6f', '--if-over', '10000', '--', '--model', 'a b']);
  assert.equal(code, EXITED);
  assert.match(errors, /\.jsonl: 17,\d{3} → \d,\d{3} tokens/);
  assert.deepEqual(started, [{ path: join(bin, 'claude'), args: ['--resume', ID, '--model', 'a b'], folder: ferry }]);
  assert.ok(readFileSync(file).length < before.length / 2);
  assert.equal((await ran(home, ['undo'])).code, 0);
  assert.deepEqual(readFileSync(file), before);
});

test('where the model is known, the plan and the run say what the first request costs', async (t) => {
  const { home, file } = homeWith(t);
  const said = readFileSync(file, 'utf8').replaceAll(
    '"role":"assistant"',
    '"role":"assistant","model":"claude-opus-4-5"',
  );
  writeFileSync(file, said);
  const cost = String.raw`0\.0\d+ USD instead of 0\.0\d+ \(list prices of 2`;
  const plan = await ran(home, ['resume', '-n', '6b6f', '--if-over', '10000']);
  assert.match(plan.out, new RegExp(`tokens; the first request costs at most ${cost}`));
  const { errors } = await ran(home, ['resume', '6b6f', '--if-over', '10000']);
  assert.match(errors, new RegExp(`tokens; the first request costs ${cost}`));
});

test('a short session goes on as it is', async (t) => {
  const { home, file } = homeWith(t);
  const before = readFileSync(file);
  const { code, errors, started } = await ran(home, ['resume', '6b6f']);
  assert.deepEqual([code, started.length], [EXITED, 1]);
  assert.match(errors, /tokens, below the limit of 40k/);
  const plan = await ran(home, ['resume', '-n', '6b6f']);
  assert.match(plan.out, /tokens, below the limit of 40k\ncd /);
  assert.deepEqual(readFileSync(file), before);
});

test('--max-cost holds for the compaction before', async (t) => {
  const { home } = homeWith(t);
  const model = ['--provider', 'openai-compat', '--base-url', 'http://127.0.0.1:1', '--model', 'nameless'];
  const { code, errors, started } = await ran(home, ['resume', ID, ...model, '--max-cost', '5']);
  assert.deepEqual([code, started], [2, []]);
  assert.match(errors, /--max-cost needs the price of nameless/);
});

test('-n shows what would be done, --print the command alone; neither writes or starts anything', async (t) => {
  const { home, ferry, file } = homeWith(t);
  const before = readFileSync(file);
  const command = `cd ${ferry} && claude --resume ${ID}`;
  const plan = await ran(home, ['resume', '-n', '6b6f', '--if-over', '10000']);
  assert.match(plan.out, /: 17,\d{3} → \d,\d{3} tokens\n/);
  assert.ok(plan.out.endsWith(`\n${command}\n`), plan.out);
  const printed = await ran(home, ['resume', '--print', '6b6f', '--', 'a b']);
  assert.deepEqual([printed.code, printed.out, printed.errors], [0, `${command} 'a b'\n`, '']);
  assert.deepEqual([...plan.started, ...printed.started], []);
  assert.deepEqual(readFileSync(file), before);
});

for (const kept of KEPT_SESSIONS) {
  test(`a session of ${kept.format} goes on in its own program, by its own option`, async (t) => {
    const names = ['claude', 'codex', 'gemini', 'pi', 'copilot', 'qwen', 'kimi'];
    const home = realpathSync(
      folderWith(t, { 'work/': '', ...Object.fromEntries(names.map((name) => [`bin/${name}`, PROGRAM])) }),
    );
    for (const name of names) chmodSync(join(home, 'bin', name), 0o755);
    const work = join(home, 'work');
    const path = keepSession(home, work, kept);
    const { code, errors, started } = await ran(home, ['resume', path, '--if-over', '100']);
    assert.equal(code, EXITED, errors);
    assert.match(errors, / → /);
    const [launch] = started;
    assert.equal(launch?.folder, work);
    const id = kept.format === 'pi' ? path : kept.id;
    const args = {
      'claude-code': ['--resume', id],
      codex: ['resume', id],
      gemini: ['--resume', id],
      pi: ['--session', id],
      copilot: [`--resume=${id}`],
      qwen: ['--resume', id],
      'kimi-code': ['--session', id],
    }[kept.format];
    assert.deepEqual(launch?.args, args);
    // Without a name it is found by its folder.
    const here = await ran(home, ['resume', '--print'], { workingFolder: work });
    assert.ok(here.out.includes(` ${args.at(-1) ?? ''}\n`), here.out + here.errors);
  });
}

test('nothing is started for a session that may be forged', async (t) => {
  const { home, ferry, file } = homeWith(t);
  const evil = join(home, 'evil');
  mkdirSync(evil);
  const text = readFileSync(file, 'utf8');
  const doubt = async (path: string, expected: RegExp): Promise<void> => {
    const { code, out, errors, started } = await ran(home, ['resume', path, '--if-over', '10']);
    assert.deepEqual([code, started], [1, []], errors);
    assert.match(errors, expected);
    assert.match(out, /^cd .* && claude --resume/);
    const printed = await ran(home, ['resume', '--print', path]);
    assert.deepEqual([printed.code, printed.out], [0, out]);
    assert.match(printed.errors, /: be careful, because /);
    assert.match(printed.errors, expected);
  };
  const downloaded = join(home, `${ID}.jsonl`);
  writeFileSync(downloaded, text);
  await doubt(downloaded, /the file is not where Claude Code keeps its sessions/);
  const linked = file.replace(ID, ID.replace('6b6f', '7b7f'));
  symlinkSync(downloaded, linked);
  await doubt(linked, /not where Claude Code keeps its sessions|is a link/);
  writeFileSync(file, text.replaceAll(ferry, evil));
  await doubt(file, /lies where sessions of another folder are/);
  assert.deepEqual(readFileSync(file, 'utf8'), text.replaceAll(ferry, evil));
  writeFileSync(file, text.replaceAll(ferry, '/nowhere/at/all'));
  await doubt(file, /its folder \/nowhere\/at\/all is not there \('compact handoff' begins a new session elsewhere\)/);
  writeFileSync(file, text.replaceAll(ferry, '-P'));
  assert.match((await ran(home, ['resume', '--print', file])).out, /^cd \.\/-P && /);
});

test('an id that is an option, and a session that nobody can go on with, are refused', async (t) => {
  const { home, file } = homeWith(t);
  const odd = join(file, '..', '--dangerously-skip-permissions.jsonl');
  renameSync(file, odd);
  const { code, errors, started } = await ran(home, ['resume', odd]);
  assert.deepEqual([code, started], [2, []]);
  assert.match(
    errors,
    /goes on with sessions by their ids, and the name of this file has none; '.*compact handoff' begins a new one/,
  );
  const chat = join(home, 'chat.jsonl');
  writeFileSync(chat, '{"role":"user","content":"hello"}\n{"role":"assistant","content":"yes"}\n');
  assert.match(
    (await ran(home, ['resume', chat])).errors,
    /no program goes on with this format \(.*\); 'compact handoff' hands it to one/,
  );
});

test('what a newcomer tries is answered with what to type', async (t) => {
  const { home, ferry, file } = homeWith(t, ['claude', 'opencode']);
  const other = ID.replace('6b6f', '7b7f');
  claudeSession(file.replace(ID, other), { id: other, folder: ferry, said: [['Paint.', prose(1, 50)]] });
  const errors = async (...argv: readonly string[]): Promise<string> => (await ran(home, argv)).errors;
  assert.match(await errors('resume'), /'compact scan' lists them, 'opencode session list' those of OpenCode\)/);
  assert.match(
    await errors('resume', '6b6f', '--model', 'opus'),
    /put --model behind -- to pass it to the session's program/,
  );
  assert.match(await errors('handoff', '6b6f', 'codex'), /to start Codex, use 'compact handoff' with --to codex/);
  assert.match(await errors('resume', home), /this takes one session \('compact scan \S+' lists those in a folder\)/);
});

test('a program that is not installed is named with how to get it, and nothing changes', async (t) => {
  const { home, file } = homeWith(t, []);
  const before = readFileSync(file);
  const { code, errors } = await ran(home, ['resume', '6b6f', '--if-over', '10']);
  assert.equal(code, 1);
  assert.match(errors, /Claude Code is not on the PATH\. Install it with: npm install -g @anthropic-ai\/claude-code/);
  assert.deepEqual(readFileSync(file), before);
});

test('a program is never taken from the folder that it will work in', async (t) => {
  const { home, ferry } = homeWith(t, []);
  mkdirSync(join(ferry, 'bin'));
  writeFileSync(join(ferry, 'bin/claude'), PROGRAM, { mode: 0o755 });
  const environment = { PATH: [join(ferry, 'bin'), 'bin'].join(delimiter) };
  const { code, started } = await ran(home, ['resume', '6b6f'], { environment });
  assert.deepEqual([code, started], [1, []]);
});

test("a session of the home folder gets a program from the user's own folder of programs", async (t) => {
  const { home, file } = homeWith(t);
  const own = join(projectFolder(home, home), `${ID}.jsonl`);
  claudeSession(own, { id: ID, folder: home, said: [['Tidy up.', prose(1, 50)]] });
  rmSync(file);
  assert.equal((await ran(home, ['resume', '6b6f'])).started[0]?.path, join(home, 'bin/claude'));
});

test('a session that is open is refused, long or short', async (t) => {
  const { home, file } = homeWith(t);
  const opened = openSync(file, 'a');
  const writer = spawn('cat', { stdio: ['pipe', opened, 'ignore'] });
  closeSync(opened);
  t.after(() => writer.kill());
  for (const limit of ['10', '1000000']) {
    const { code, errors, started } = await ran(home, ['resume', '6b6f', '--if-over', limit]);
    assert.deepEqual([code, started], [1, []]);
    assert.match(errors, /has this session open\. Go on there, or close it first/);
  }
});

test('--to starts the other program in the folder of the session, with the text or with a file of it', async (t) => {
  const { home, ferry } = homeWith(t, ['codex', 'claude']);
  const codex = await ran(home, ['handoff', '6b6f', '--to', 'codex']);
  assert.deepEqual([codex.code, codex.out], [EXITED, '']);
  const [launch] = codex.started;
  assert.deepEqual([launch?.path, launch?.folder, launch?.args.length], [join(home, 'bin/codex'), ferry, 1]);
  const file = /@(\S+)/.exec(launch?.args[0] ?? '')?.[1] ?? '';
  assert.match(readFileSync(file, 'utf8'), /^# Hand-over: Do part 0\./);
  const claude = await ran(home, ['handoff', '6b6f', '--to', 'claude']);
  assert.deepEqual(claude.started[0]?.args.slice(1, 2), ['--add-dir']);
  const short = await ran(home, ['handoff', '6b6f', '--to', 'codex', '--tokens', '900']);
  assert.match(short.started[0]?.args[0] ?? '', /^# Hand-over: Do part 0\./);
});

test('a short text that may name files is passed in a file, because programs read what a prompt names', async (t) => {
  const { home, file } = homeWith(t, ['claude']);
  writeFileSync(file, readFileSync(file, 'utf8').replace('Do part 0', 'Read @/etc/passwd'));
  const { started, errors } = await ran(home, ['handoff', '6b6f', '--to', 'claude', '--tokens', '900']);
  const [prompt = ''] = started[0]?.args ?? [];
  assert.match(prompt, /^Read all of @\S+handover\.md /, errors);
  assert.ok(!prompt.includes('passwd'));
});

test('--to names programs that can begin with a text', async (t) => {
  const { home } = homeWith(t);
  assert.match((await ran(home, ['handoff', '6b6f', '--to', 'codx'])).errors, /did you mean codex\?/);
  assert.match(
    (await ran(home, ['handoff', '6b6f', '--to', 'cursor'])).errors,
    /cannot be 'cursor': \(claude, codex, /,
  );
  assert.match((await ran(home, ['handoff', '6b6f', '--to', 'kimi'])).errors, /takes no first prompt/);
  assert.match((await ran(home, ['handoff', '6b6f', '--to', 'codex'])).errors, /npm install -g @openai\/codex/);
});

// Real processes from here on. They need `dist`: `npm test` builds first.

/** A child that nothing ends fails its test, and is killed after it. */
const real = { timeout: 120_000 };

function environmentOf(home: string, mode: string) {
  const path = [join(home, 'bin'), process.env['PATH'] ?? ''].join(delimiter);
  return { HOME: home, PATH: path, MODE: mode, ...CODE_CACHE };
}

for (const [mode, expected] of [
  ['', 7],
  ['killed', 137],
] as const) {
  test(`the exit code is that of the program (${expected})`, real, async (t) => {
    const { home, ferry } = homeWith(t);
    const { code, stdout } = await runProcess(['resume', '6b6f', '--', 'a b'], {
      environment: environmentOf(home, mode),
      cwd: home,
    });
    assert.equal(code, expected);
    assert.equal(stdout, `in ${ferry}\nword --resume\nword ${ID}\nword a b\n`);
  });
}

type Start = { readonly cwd: string; readonly env: Readonly<Record<string, string>> };

function start(t: TestContext, [command, ...args]: readonly [string, ...string[]], { cwd, env }: Start): ChildProcess {
  const child = spawn(command, args, { cwd, env, stdio: 'pipe' });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

const COMPACT = [process.execPath, join(ROOT, 'bin/compact.js')] as const;

/** The program on a terminal of its own. */
function onTerminal(t: TestContext, line: string, { cwd, env }: Start): ChildProcess {
  // Without `exec` the shell of `script` would end by the signal itself.
  const command = `stty cols 100 rows 30; exec "${COMPACT.join('" "')}" ${line}`;
  return start(t, ['script', '-qec', command, '/dev/null'], { cwd, env: { ...env, TERM: 'xterm' } });
}

/** Does something once, when a process has said these words. Gives all that it said. */
function whenReady(child: ChildProcess, act: () => void, words = 'ready'): () => string {
  let said = '';
  child.stdout?.on('data', (data: Buffer) => {
    const wasReady = said.includes(words);
    said += data.toString();
    if (!wasReady && said.includes(words)) act();
  });
  return () => said;
}

test('Ctrl-C on the terminal is for the program, and compact ends with its exit code', real, async (t) => {
  const { home } = homeWith(t);
  const child = onTerminal(t, 'resume 6b6f', { cwd: home, env: environmentOf(home, 'wait') });
  const said = whenReady(child, () => child.stdin?.write('\u0003'));
  const { code } = await endOf(child);
  assert.equal(code, 42, said());
  assert.match(said(), /got INT/);
});

test(
  'several sessions of a folder are offered by title, age, tokens and program, and typing chooses',
  real,
  async (t) => {
    const { home, ferry, file } = homeWith(t);
    const other = ID.replace('6b6f', '7b7f');
    claudeSession(file.replace(ID, other), { id: other, folder: ferry, said: [['Paint the harbour.', prose(1, 50)]] });
    const child = onTerminal(t, 'resume', { cwd: ferry, env: environmentOf(home, '') });
    const said = whenReady(child, () => child.stdin?.write('harbour'), 'Enter');
    whenReady(child, () => child.stdin?.write('\r'), '(1 match)');
    const { code } = await endOf(child);
    assert.equal(code, 7, said());
    assert.match(said(), /Do part 0\. +\d+\w+ +17,\d+ tokens {2}Claude Code/);
    assert.match(said(), new RegExp(`word ${other}`));
  },
);

test('SIGTERM is passed on to the program', real, async (t) => {
  const { home } = homeWith(t);
  const child = start(t, [...COMPACT, 'resume', '6b6f'], { cwd: home, env: environmentOf(home, 'wait') });
  const said = whenReady(child, () => child.kill('SIGTERM'));
  const { code } = await endOf(child);
  assert.equal(code, 43, said());
  assert.match(said(), /got TERM/);
});
