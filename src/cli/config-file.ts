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
import { buildExample } from '../config/example.ts';
import { type ConfigPlace, findConfig, type HostEnvironment, PROJECT_FILE } from '../config/find.ts';
import { parseConfig } from '../config/parse.ts';
import { readConfigText } from '../config/read-config.ts';
import { parseKey, type SetProblem, setValue } from '../config/set-value.ts';
import { makeFolder, replaceFile } from '../config/write-file.ts';
import { err, ok, type Result, systemCode } from '../core/result.ts';
import type { ConfigContext } from './config-context.ts';
import { EXIT_CODES, type ExitCode } from './exit-codes.ts';
import { reportJson } from './render/json-lines.ts';
import { renderConfigProblem, renderUsageProblem } from './render/problems.ts';
import { safeText } from './render/text.ts';
import type { ConfigFileReport } from './reports.ts';

/** The actions of `compact config` that write a file. */

type Target = { readonly path: string; readonly place: ConfigPlace };

/** `config init`: writes a file in which every key is a comment. Never replaces one. */
export async function initConfig(context: ConfigContext): Promise<ExitCode> {
  const target = findTarget(context, context.invocation.scope ?? 'user');
  const written = attempt(target.path, () => createFile(target, buildExample()));
  if (!written.ok) return refuse(context, [written.error]);
  const note = `every key is in it as a comment; \`${context.terminal.program()} config edit\` opens it`;
  return done(context, { result: 'created', path: target.path, sentence: note });
}

/** `config set`: changes one key in the text and keeps the rest. */
export async function setConfig(context: ConfigContext): Promise<ExitCode> {
  const { name, value } = context.invocation;
  const key = parseKey(name ?? '');
  if (!key.ok) return refuse(context, [renderUsageProblem({ message: key.error, command: 'compact config' })]);
  const target = findTarget(context, context.invocation.scope);
  const read = await readText(context, target);
  if (!read.ok) return refuse(context, read.error);
  const changed = setValue(read.value ?? '', { path: target.path, key: key.value, value: value ?? '' });
  if (!changed.ok) {
    const problems = changed.error.map((problem) => describeProblem(problem, name ?? ''));
    return refuse(context, [...problems, `${safeText(target.path)}: nothing was changed.`]);
  }
  const written = attempt(target.path, () => saveText(target, { before: read.value, text: changed.value }));
  if (!written.ok) return refuse(context, [written.error]);
  const isSame = changed.value === read.value;
  const sentence = isSame ? `${name} has this value already` : `${name} is set`;
  return done(context, { result: isSame ? 'unchanged' : 'set', path: target.path, sentence });
}

/** `config edit`: opens a copy in the editor, and replaces the file only with a valid text. */
export async function editConfig(context: ConfigContext): Promise<ExitCode> {
  const target = findTarget(context, context.invocation.scope);
  const read = await readText(context, target);
  if (!read.ok) return refuse(context, read.error);
  const before = read.value ?? buildExample();
  const folder = mkdtempSync(join(tmpdir(), 'compact-config-'));
  const copy = join(folder, PROJECT_FILE);
  writeFileSync(copy, before, { mode: 0o600 });
  const problem = openEditor(context.terminal.host, copy);
  const text = existsSync(copy) ? readFileSync(copy, 'utf8') : before;
  const parsed = parseConfig(text, copy);
  const removeCopy = (): void => rmSync(folder, { recursive: true, force: true });
  const unchanged = `${safeText(target.path)}: nothing was changed.`;
  if (text === before) {
    removeCopy();
    if (problem !== null) return refuse(context, [`${unchanged} ${problem}`]);
    return done(context, { result: 'unchanged', path: target.path, sentence: 'nothing was changed' });
  }
  // What the user has typed stays in the copy until it is saved.
  const kept = `${unchanged} Your text is in ${safeText(copy)}.`;
  if (problem !== null) return refuse(context, [problem, kept]);
  if (!parsed.ok) return refuse(context, [...parsed.error.map(renderConfigProblem), kept]);
  const written = attempt(target.path, () => saveText(target, { before: read.value, text }));
  if (!written.ok) return refuse(context, [written.error, kept]);
  removeCopy();
  return done(context, { result: 'edited', path: target.path, sentence: 'saved' });
}

/** Without a scope: the file that applies, or else the user's. */
function findTarget({ terminal: { host }, invocation }: ConfigContext, scope: 'user' | 'project' | null): Target {
  const own = { ...host, environment: { ...host.environment, COMPACT_CONFIG: undefined } };
  const user = findConfig(own, { configFlag: null, project: 'ignored' }).looked[0] ?? '';
  if (scope === 'user') return { path: user, place: 'user' };
  if (scope === null) return findConfig(host, invocation.settings).found ?? { path: user, place: 'user' };
  const { found } = findConfig(own, { configFlag: null, project: 'as-trusted' });
  const isProject = found?.place === 'project' && invocation.action !== 'init';
  return { path: isProject ? found.path : join(host.workingFolder, PROJECT_FILE), place: 'project' };
}

/** Null: there is no file yet. */
async function readText(
  { terminal: { host } }: ConfigContext,
  target: Target,
): Promise<Result<string | null, readonly string[]>> {
  if ((target.place === 'user' || target.place === 'project') && !existsSync(target.path)) return ok(null);
  if (target.place === 'project' && lstatSync(target.path).isSymbolicLink()) {
    return err([`${safeText(target.path)}: it is a link, so it is not changed. Edit the file that it leads to.`]);
  }
  const read = await readConfigText(target, host);
  if (!read.ok) return err([renderConfigProblem(read.error)]);
  return ok(read.value.text);
}

function createFile({ path, place }: Target, text: string): null {
  makeFolder(dirname(path));
  writeFileSync(path, text, { flag: 'wx', mode: modeOf(place) });
  return null;
}

/** Keys may be in the user's file. */
function modeOf(place: ConfigPlace): number {
  return place === 'project' ? 0o644 : 0o600;
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
    if (code === 'EEXIST') {
      return err(`${safeText(path)}: already exists and is not replaced. Use \`compact config edit\` to change it.`);
    }
    return err(`${safeText(path)}: the system cannot write it (${code}). Check the path and its permissions.`);
  }
}

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

function describeProblem(problem: SetProblem, name: string): string {
  if (problem.kind !== 'config-layout') return renderConfigProblem(problem);
  const place = `${safeText(problem.path)}${problem.line === null ? '' : `:${problem.line}`}`;
  return `${place}: ${safeText(name)} cannot be set to this value without changing more. Use \`compact config edit\`.`;
}

function refuse({ reporter }: ConfigContext, lines: readonly string[]): ExitCode {
  for (const line of lines) reporter.error(line);
  return EXIT_CODES.usage;
}

type Done = { readonly result: ConfigFileReport['result']; readonly path: string; readonly sentence: string };

function done({ terminal, reporter, invocation }: ConfigContext, { result, path, sentence }: Done): ExitCode {
  if (invocation.outputOptions.json) {
    reporter.answerPiece(reportJson({ schema: 'compact/config-file@1', result, path } satisfies ConfigFileReport));
  }
  const { found } = findConfig(terminal.host, invocation.settings);
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
