import { existsSync, lstatSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ConfigPlace, findConfig, PROJECT_FILE } from '../../../config/find.ts';
import { readConfigText } from '../../../config/load.ts';
import { makeFolder, replaceFile } from '../../../system/files.ts';
import { err, ok, type Result, systemCode } from '../../../core/result.ts';
import { EXIT_CODES, type ExitCode } from '../../terminal/exit-codes.ts';
import { reportJson, safeText } from '../../../messages/text.ts';
import { renderConfigProblem } from '../../../messages/problems.ts';
import type { ConfigFileReport } from '../../reports.ts';
import type { Flag, Line, OptionsOf } from '../../line/line.ts';
import type { Reporter } from '../../terminal/reporter.ts';
import type { CliContext } from '../../session.ts';
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

export type FileAsked = Line<OptionsOf<typeof SCOPE_FLAGS>>;

export function findScopeConflict({ options: { user, local }, settings }: FileAsked): string | null {
  const isScoped = user === true || local === true;
  return isScoped && settings.configFlag !== null
    ? '--config already names the file: leave out --user and --local'
    : null;
}

type Target = { readonly path: string; readonly place: ConfigPlace };

/** The file to change. Without a scope: the one that applies, or else the user's. */
export function findTarget({ terminal: { host } }: Console, { options, settings }: FileAsked): Target {
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
export async function readText(
  { terminal: { host } }: Console,
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

export function createFile({ path, place }: Target, text: string): null {
  makeFolder(dirname(path));
  writeFileSync(path, text, { flag: 'wx', mode: modeOf(place) });
  return null;
}

/** Keys may be in the user's file. */
function modeOf(place: ConfigPlace): number {
  return place === 'project' ? 0o644 : 0o600;
}

/** A link of the user's stays one, because many keep such files elsewhere. Returns what is wrong, as a sentence. */
export function saveText(
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

export function attempt(path: string, work: () => string | null): Result<void, string> {
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

type Done = { readonly result: ConfigFileReport['result']; readonly path: string; readonly sentence: string };

/** Says what happened to the file, and whether it is read. */
export function done(
  { terminal, reporter }: Console,
  { outputOptions, settings }: Line,
  { result, path, sentence }: Done,
): ExitCode {
  if (outputOptions.json) {
    reporter.answerPiece(reportJson({ schema: 'compact/config-file@1', result, path } satisfies ConfigFileReport));
  }
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
