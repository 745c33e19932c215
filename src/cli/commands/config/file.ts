import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type ConfigPlace, findConfig, type HostEnvironment, PROJECT_FILE } from '../../../config/find.ts';
import { readConfigText } from '../../../config/load.ts';
import { parseConfig } from '../../../config/parse.ts';
import { parseKey, type SetProblem, setValue } from '../../../config/set-value.ts';
import { buildExample } from '../../../config/settings.ts';
import { err, ok, type Result, systemCode } from '../../../core/result.ts';
import { renderConfigProblem, renderUsageProblem } from '../../../messages/problems.ts';
import { safeText } from '../../../messages/text.ts';
import { makeFolder, replaceFile } from '../../../system/files.ts';
import { defineAction, EXIT_CODES, type ExitCode, type Flag, type Line, type OptionsOf } from '../../line/command.ts';
import type { ConfigFileReport } from '../../reports.ts';
import type { CliContext } from '../../session.ts';
import type { Reporter } from '../../terminal/reporter.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** What the actions of `compact config` work with. They need no session: the settings may be wrong. */
export type Console = { readonly context: CliContext; readonly terminal: Terminal; readonly reporter: Reporter };

export function refuse({ reporter }: Console, lines: readonly string[]): ExitCode {
  for (const line of lines) reporter.error(line);
  return EXIT_CODES.usage;
}

export const SCOPE_FLAGS = [
  { flags: '--user', description: 'your own file', conflicts: 'local' },
  { flags: '--local', description: "the project's compact.toml" },
] as const satisfies readonly Flag[];

type FileAsked = Line<OptionsOf<typeof SCOPE_FLAGS>>;

function findScopeConflict({ options: { user, local }, settings }: FileAsked): string | null {
  const isScoped = user === true || local === true;
  const problem = '--config already names the file: leave out --user and --local';
  return isScoped && settings.configFlag !== null ? problem : null;
}

/** Writes a file in which every key is a comment. Never replaces one. */
export const initAction = defineAction({
  summary: 'write a file in which every key is explained',
  flags: SCOPE_FLAGS,
  findConflict: (asked) =>
    findScopeConflict(asked) ??
    (asked.settings.configFlag === null ? null : 'config init takes --user or --local, and no --config'),
  run: (console: Console, asked) => {
    const { host, program } = console.terminal;
    const target =
      asked.options.local === true
        ? ({ path: join(host.workingFolder, PROJECT_FILE), place: 'project' } as const)
        : findTarget(console, { ...asked, options: { user: true } });
    const written = attempt(target.path, () => createFile(target, buildExample()));
    if (!written.ok) return refuse(console, [written.error]);
    const note = `every key is in it as a comment; \`${program()} config edit\` opens it`;
    return done(console, asked, { result: 'created', path: target.path, sentence: note });
  },
});

/** Changes one key in the text and keeps the rest. */
export const setAction = defineAction({
  summary: 'one setting',
  flags: SCOPE_FLAGS,
  takes: [
    { syntax: '<name>', description: 'a key, for example summarization.keep_recent' },
    { syntax: '<value>', description: 'its new value' },
  ],
  refuseOperands: (operands) => (operands.length === 2 ? null : 'config set takes a key and a value'),
  findConflict: findScopeConflict,
  run: async (console: Console, asked) => {
    const [name = '', value = ''] = asked.operands;
    const key = parseKey(name);
    if (!key.ok) return refuse(console, [renderUsageProblem({ message: key.error, command: 'compact config' })]);
    const target = findTarget(console, asked);
    const read = await readText(console, target);
    if (!read.ok) return refuse(console, read.error);
    const changed = setValue(read.value ?? '', { path: target.path, key: key.value, value });
    const describe = (problem: SetProblem): string => {
      if (problem.kind !== 'config-layout') return renderConfigProblem(problem);
      const place = `${safeText(problem.path)}${problem.line === null ? '' : `:${problem.line}`}`;
      return `${place}: ${safeText(name)} cannot be set to this value without changing more. Use \`compact config edit\`.`;
    };
    if (!changed.ok)
      return refuse(console, [...changed.error.map(describe), `${safeText(target.path)}: nothing was changed.`]);
    const written = attempt(target.path, () => saveText(target, { before: read.value, text: changed.value }));
    if (!written.ok) return refuse(console, [written.error]);
    const isSame = changed.value === read.value;
    const sentence = isSame ? `${name} has this value already` : `${name} is set`;
    return done(console, asked, { result: isSame ? 'unchanged' : 'set', path: target.path, sentence });
  },
});

/** Opens a copy in the editor, and replaces the file only with a valid text. */
export const editAction = defineAction({
  summary: 'open the file in your editor',
  flags: SCOPE_FLAGS,
  findConflict: findScopeConflict,
  run: async (console: Console, asked) => {
    const target = findTarget(console, asked);
    const read = await readText(console, target);
    if (!read.ok) return refuse(console, read.error);
    const before = read.value ?? buildExample();
    const folder = mkdtempSync(join(tmpdir(), 'compact-config-'));
    const copy = join(folder, PROJECT_FILE);
    writeFileSync(copy, before, { mode: 0o600 });
    const problem = openEditor(console.terminal.host, copy);
    const text = existsSync(copy) ? readFileSync(copy, 'utf8') : before;
    const parsed = parseConfig(text, copy);
    const removeCopy = (): void => rmSync(folder, { recursive: true, force: true });
    const unchanged = `${safeText(target.path)}: nothing was changed.`;
    if (text === before) {
      removeCopy();
      if (problem !== null) return refuse(console, [`${unchanged} ${problem}`]);
      return done(console, asked, { result: 'unchanged', path: target.path, sentence: 'nothing was changed' });
    }
    // What the user has typed stays in the copy until it is saved.
    const kept = `${unchanged} Your text is in ${safeText(copy)}.`;
    if (problem !== null) return refuse(console, [problem, kept]);
    if (!parsed.ok) return refuse(console, [...parsed.error.map(renderConfigProblem), kept]);
    const written = attempt(target.path, () => saveText(target, { before: read.value, text }));
    if (!written.ok) return refuse(console, [written.error, kept]);
    removeCopy();
    return done(console, asked, { result: 'edited', path: target.path, sentence: 'saved' });
  },
});

/** Waits for the editor. Null: it ended well; otherwise a sentence. */
function openEditor({ environment, userId }: HostEnvironment, file: string): string | null {
  const isWindows = userId === null;
  const named = [environment['VISUAL'], environment['EDITOR']].find((name) => name !== undefined && name !== '');
  const editor = named ?? (isWindows ? 'notepad' : 'vi');
  // As git does: the variable may hold options, so a shell splits it.
  const ended = isWindows
    ? spawnSync(`${editor} "${file}"`, { shell: true, stdio: 'inherit' })
    : spawnSync('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
  if (ended.status === 0) return null;
  const how = ended.signal ?? `exit code ${ended.status}`;
  return `The editor '${safeText(editor)}' ended with ${how}. Set $VISUAL or $EDITOR to use another one.`;
}

type Target = { readonly path: string; readonly place: ConfigPlace };

/** The file to change. Without a scope: the one that applies, or else the user's. */
function findTarget({ terminal: { host } }: Console, { options, settings }: FileAsked): Target {
  const own = { ...host, environment: { ...host.environment, COMPACT_CONFIG: undefined } };
  if (options.local === true) {
    const { found } = findConfig(own, { configFlag: null, project: 'as-trusted' });
    const path = found?.place === 'project' ? found.path : join(host.workingFolder, PROJECT_FILE);
    return { path, place: 'project' };
  }
  const found = options.user === true ? null : findConfig(host, settings).found;
  return found ?? { path: findConfig(own, { configFlag: null, project: 'ignored' }).looked[0] ?? '', place: 'user' };
}

/** Null: there is no file yet. */
async function readText(
  { terminal: { host } }: Console,
  target: Target,
): Promise<Result<string | null, readonly string[]>> {
  if ((target.place === 'user' || target.place === 'project') && !existsSync(target.path)) return ok(null);
  if (target.place === 'project' && lstatSync(target.path).isSymbolicLink())
    return err([`${safeText(target.path)}: it is a link, so it is not changed. Edit the file that it leads to.`]);
  const read = await readConfigText(target, host);
  return read.ok ? ok(read.value.text) : err([renderConfigProblem(read.error)]);
}

function createFile({ path, place }: Target, text: string): null {
  makeFolder(dirname(path));
  // Keys may be in the user's file.
  writeFileSync(path, text, { flag: 'wx', mode: place === 'project' ? 0o644 : 0o600 });
  return null;
}

/** A link of the user's stays one, because many keep such files elsewhere. Returns what is wrong, as a sentence. */
function saveText(
  target: Target,
  { before, text }: { readonly before: string | null; readonly text: string },
): string | null {
  if (before === null) return createFile(target, text);
  const path = realpathSync(target.path);
  if (new TextDecoder().decode(readFileSync(path)) !== before) {
    return 'another program changed it meanwhile, so nothing was written. Try again.';
  }
  if (text !== before) replaceFile(path, text, statSync(path).mode & 0o777);
  return null;
}

function attempt(path: string, work: () => string | null): Result<void, string> {
  try {
    const problem = work();
    return problem === null ? ok(undefined) : err(`${safeText(path)}: ${problem}`);
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    if (code === 'EEXIST')
      return err(`${safeText(path)}: already exists and is not replaced. Use \`compact config edit\` to change it.`);
    return err(`${safeText(path)}: the system cannot write it (${code}). Check the path and its permissions.`);
  }
}

/** Says what happened to the file, and whether it is read. */
function done(
  { terminal, reporter }: Console,
  { outputOptions, settings }: Line,
  { sentence, ...what }: Omit<ConfigFileReport, 'schema'> & { readonly sentence: string },
): ExitCode {
  const { result, path } = what;
  if (outputOptions.json) reporter.answerJson({ schema: 'compact/config-file@1', ...what } satisfies ConfigFileReport);
  const { found } = findConfig(terminal.host, settings);
  const isRead = found?.path === path;
  const notes = [
    ...(isRead || found === null ? [] : [`In this folder, ${safeText(found.path)} is read instead.`]),
    ...(isRead && found.place === 'project' && result !== 'unchanged'
      ? [`What it sets beyond numbers needs trust: \`${terminal.program()} config trust\`.`]
      : []),
  ];
  reporter.report([[`${safeText(path)}: ${safeText(sentence)}.`, ...notes].join(' ')]);
  return EXIT_CODES.done;
}
