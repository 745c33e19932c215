import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { claudeSession, projectFolder } from '../support/client-sessions.ts';
import { loadShown } from '../../src/cli/commands/table.ts';
import { parseArguments } from '../../src/cli/line/parse.ts';
import { FACTS } from '../cli/command-lines.ts';
import { chatTranscript, prose } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { runIn } from '../support/program.ts';
import { PAGES, readBlocks } from './pages.ts';
import { copyFixture, createShell, ROOT } from './shell.ts';

const NETWORK = 'npm asks a registry; test/install/run.ts installs the package in all of these ways';
const MODEL = 'asks a model; test/cli/model-run.test.ts does that with a server of its own';

/** Lines that do not run here, and why. */
const NOT_RUN: { readonly [line: string]: string } = {
  'npm ci && npx compact fixtures/transcripts/claude-code/session.jsonl': NETWORK,
  'npm ci && npm install -g .': NETWORK,
  'npm ci && npm install -g "$(npm pack --silent)"': NETWORK,
  'npm uninstall -g compact-transcript': NETWORK,
  'compact --preview --provider anthropic --model MODEL session.jsonl': MODEL,
  'compact -i --provider anthropic --model MODEL session.jsonl': MODEL,
  'compact batch submit -i --dry-run --provider anthropic --model MODEL session.jsonl':
    'test/cli/batch.test.ts does that',
  'compact batch submit -i --provider anthropic --model MODEL session.jsonl':
    'asks a model; test/cli/batch.test.ts does that with a server of its own',
  'compact batch collect': 'asks a model; test/cli/batch.test.ts does that with a server of its own',
  'compact archive embed': 'asks an embedding model; test/cli/embedding.test.ts does that',
  'claude mcp add --scope user compact -- compact mcp': 'needs Claude Code; test/cli/mcp starts the server',
  'compact work --add -i logs --archive postgres://db/logs': 'needs Postgres; test/contract/queue has one',
  'compact work --folder logs --archive postgres://db/logs': 'needs Postgres; test/contract/queue has one',
  'compact work --status --archive postgres://db/logs': 'needs Postgres; test/contract/queue has one',
};

const HELP = 'the help of the commands';
const HINTS = 'messages';

/** What a page expects to be there, beside the fixtures: files, and lines that ran before. */
const SCENES: {
  readonly [page: string]: {
    readonly files?: { readonly [path: string]: string };
    readonly before?: readonly string[];
  };
} = {
  'docs/configuration.md': {
    files: {
      'compact.toml': '[summarization]\nkeep_recent = 20\n',
      '../other/compact.toml': '[archive]\npath = "a.db"\n',
      'mine.toml': '[summarization]\nkeep_recent = 7\n',
    },
  },
  'docs/archive.md': {
    before: [
      'compact session.jsonl',
      'compact log.jsonl --archive laptop.db',
      'compact sessions/rollout.jsonl --archive ci.db',
    ],
  },
  'docs/agents.md': { files: { '../home/.claude/settings.json': '{}\n' } },
  'docs/report.md': { before: ['compact session.jsonl'] },
  'docs/restore.md': { before: ['compact session.jsonl', 'compact -i session.jsonl', 'compact -i log.jsonl sessions'] },
  'docs/upgrading.md': { before: ['compact session.jsonl'] },
  'docs/search.md': { before: ['compact -i session.jsonl'] },
  [HELP]: {
    files: {
      scan: chatTranscript(9),
      'compact.toml': '[summarization]\nkeep_recent = 20\n',
      '../bin/codex': '#!/bin/sh\nexec cat\n',
    },
    before: [
      'compact session.jsonl',
      'compact capture session.jsonl',
      'compact log.jsonl --archive laptop.db',
      'chmod +x ../bin/codex',
    ],
  },
  [HINTS]: { before: ['compact -i session.jsonl', 'compact capture log.jsonl'] },
};

/** Lines that say what to type next. */
const PROMPTING = [
  'compact logs/talk.jsonl',
  'compact report log.jsonl',
  'compact score --message 00000001-0000-4000-8000-000000000001 session.jsonl',
  'compact report --message 1 session.jsonl',
  'compact score --message line:9 log.jsonl',
  'compact undo 99',
  'compact -n --format nothing log.jsonl',
  'compact archive hold remove 9',
  'compact rules --drop-rule nothing session.jsonl',
  'compact restore --captured nothing -o x',
  'compact statistics',
  'compact undo',
  'compact scan .',
];

const EXAMPLES = (await loadShown()).flatMap(({ command }) => command.examples.map(([line]) => line));

/** The lines of a page's `sh` blocks, without their comments; or the examples in the help. */
function readLines(page: string): readonly string[] {
  if (page === HELP) return EXAMPLES;
  const lines = readBlocks(page, 'sh').flatMap((block) => block.trimEnd().split('\n'));
  return lines.map((line) => line.replace(/\s+# .*$/, ''));
}

/** A shell with the fixtures under the names that the pages use. */
function createScene(t: TestContext, page: string) {
  const { files = {}, before = [] } = SCENES[page] ?? {};
  const named = Object.entries(files).map(([name, text]) => [`work/${name}`, text]);
  const folder = folderWith(t, { 'work/logs/': '', 'work/archive/': '', ...Object.fromEntries(named) });
  const shell = createShell(folder);
  const session = 'claude-code/session.jsonl';
  copyFixture(session, join(folder, 'work/session.jsonl'));
  copyFixture(session, join(folder, 'work/sessions/lanterns.jsonl'));
  copyFixture('codex/rollout.jsonl', join(folder, 'work/sessions/rollout.jsonl'));
  copyFixture('chat-lines/conversation.jsonl', join(folder, 'work/log.jsonl'));
  copyFixture('chat-lines/conversation.jsonl', join(folder, 'work/logs/talk.jsonl'));
  copyFixture(session, join(shell.home, '.claude/projects/-home-kim-lanterns/session.jsonl'));
  const id = '6b6f4218-1111-4222-8333-444455556666';
  const work = join(folder, 'work');
  const said = [['Make the timetable readable.', prose(1, 200)]] as const;
  claudeSession(join(projectFolder(shell.home, work), `${id}.jsonl`), { id, folder: work, said });
  for (const program of ['claude', 'codex'])
    writeFileSync(join(folder, 'bin', program), '#!/bin/sh\n[ -t 0 ] || cat > /dev/null\n', { mode: 0o755 });
  writeFileSync(join(folder, 'work/list.txt'), 'sessions/lanterns.jsonl\nsessions/rollout.jsonl\n');
  return { before, run, assertRuns };

  async function run(line: string): Promise<{ readonly code: number | null; readonly output: string }> {
    const words = readWords(line);
    return words === null ? shell.run(line) : runPlain(words);
  }

  async function assertRuns(line: string): Promise<void> {
    const { code, output } = await run(line);
    assert.equal(code, 0, `${page}: ${line}\n${output}`);
  }

  async function runPlain(
    words: readonly string[],
  ): Promise<{ readonly code: number | null; readonly output: string }> {
    const environment = { HOME: shell.home, PATH: process.env['PATH'] };
    const { code, stdout, stderr } = await runIn(join(folder, 'work'), words, { homeFolder: shell.home, environment });
    return { code, output: stderr + stdout };
  }
}

/** The arguments of a line that is nothing but a call of compact; null: it needs a shell. */
function readWords(line: string): readonly string[] | null {
  const words = line.match(/'[^']*'|"[^"$`]*"|[\w.,:=/-]+/g) ?? [];
  const startsProgram = words[1] === 'resume' || line.includes(' --to ');
  if (words[0] !== 'compact' || startsProgram || words.join(' ') !== line) return null;
  return words.slice(1).map((word) => word.replace(/^(['"])(.*)\1$/, '$2'));
}

// Needs `dist`: `npm test` builds first.
for (const page of [...PAGES, HELP]) {
  const lines = readLines(page).filter((line) => NOT_RUN[line] === undefined);
  if (lines.length === 0) continue;
  test(`the command lines of ${page} run, in its order`, async (t) => {
    const { before, assertRuns } = createScene(t, page);
    for (const line of [...before, ...lines]) await assertRuns(line);
  });
}

test('the commands that messages print run as they are printed', async (t) => {
  const { before, run, assertRuns } = createScene(t, HINTS);
  for (const line of before) await assertRuns(line);
  const printed = new Set<string>();
  const failed: string[] = [];
  for (const line of PROMPTING) {
    const { output } = await run(line);
    const found = readPrinted(output).filter((command) => !printed.has(command));
    for (const command of found) {
      printed.add(command);
      const done = await run(command);
      if (done.code !== 0) failed.push(`${line} prints ${command}:\n${done.output}`);
    }
  }
  assert.deepEqual(failed, []);
  assert.ok(printed.size >= 12, [...printed].join('\n'));
});

/** What a message tells to type: in quotes, on a line of its own, or at the end of one. Words in capitals stand for something. */
function readPrinted(output: string): readonly string[] {
  const all = [...output.matchAll(/['`](compact [^'`\n]+)['`]|^ +(?:restore +)?(compact .+)$|: (compact .+)$/gm)];
  const commands = all.map(([, quoted, alone, last]) => quoted ?? alone ?? last ?? '');
  return commands.filter((line) => !/\b[A-Z]{3,}\b/.test(line));
}

test('the commands that the source quotes are written as they are parsed', async () => {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const quoted = files.flatMap((name) => {
    const text = readFileSync(join(ROOT, 'src', name), 'utf8');
    const lines = text.split('\n').filter((line) => !/^ *(?:\/\/|\/?\*)/.test(line));
    return [...lines.join('\n').matchAll(/(?<=['`\\])compact (?=-|[a-z]+\b)([^'`\\\n]*)(?=['`\\])/g)].map(
      ([line]) => line,
    );
  });
  const known = new Set((await loadShown()).map(({ name }) => name));
  const wrong: string[] = [];
  for (const line of new Set(quoted)) {
    const words = line
      .replace(/ [>|] .*/, '')
      .replaceAll('${client}', 'pi')
      .replaceAll(/\$\{[^}]*\}/g, '1')
      .split(' ')
      .slice(1)
      .filter((word) => word !== '');
    if (!known.has(words[0] ?? '') && !words[0]?.startsWith('-')) continue;
    const parsed = await parseArguments(words, FACTS);
    if (!parsed.ok && parsed.error.lacksOperand !== true) wrong.push(`${line}: ${parsed.error.message}`);
  }
  assert.deepEqual(wrong, []);
  assert.ok(new Set(quoted).size > 30, String(quoted.length));
});

test('each line that does not run here is in a page', () => {
  const written = new Set([...PAGES, HELP].flatMap(readLines));
  assert.ok(written.size > 50);
  assert.deepEqual(
    Object.keys(NOT_RUN).filter((line) => !written.has(line)),
    [],
  );
});
