import { accessSync, constants, readSync, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, sep } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import type { Environment, HostEnvironment } from '../config/find.ts';
import type { LaunchCommand } from '../ports/clients.ts';
import { shellWord } from '../messages/text.ts';
import { orElse, tryTo, withOpenFile } from '../system/files.ts';

const PACKAGE_FOLDER = fileURLToPath(new URL('../..', import.meta.url));
/** What stands between the path of Node and the arguments of this program. Nothing, if this is one file with Node inside. */
export const ENTRY_ARGS: readonly string[] = isSea() ? [] : [join(PACKAGE_FOLDER, 'bin', 'compact.js')];
const NAMES = ['compact', 'compact-transcript'] as const;

/**
 * How the user's shell can call this program, so that printed commands can be pasted: by a name on the PATH, inside a clone by npx, by the
 * link that was called, or by the paths of Node and the program. Outside a clone, `npx compact` would run a stranger's package. `calledAs`: the
 * path of the script, or of a link to it, that was started.
 */
export function programName({
  environment,
  nodePath,
  calledAs,
  folder,
}: Record<'nodePath' | 'calledAs' | 'folder', string> & { readonly environment: Environment }): string {
  const known = findOnPath(environment, nodePath);
  if (known !== null) return known;
  const clone = isSea() ? null : realPath(PACKAGE_FOLDER);
  const prefix = realPath(environment['npm_config_local_prefix'] ?? '');
  const isByNpx = environment['npm_command'] === 'exec' && prefix !== null && prefix === clone;
  const isInClone = clone !== null && `${realPath(folder) ?? folder}${sep}`.startsWith(`${clone}${sep}`);
  if (isByNpx || isInClone) return 'npx compact';
  const [entry = nodePath] = ENTRY_ARGS;
  if (realPath(calledAs) !== calledAs && isThisProgram(calledAs, entry)) return shellWord(calledAs);
  const node = findCommand('node', shellFolders(environment));
  const isOnPath = node !== null && realPath(node) === realPath(nodePath);
  return [isOnPath ? 'node' : nodePath, ...ENTRY_ARGS].map(shellWord).join(' ');
}

/** How another program can start this one, in whatever folder it runs: by its name on the PATH, or by the paths of Node and the program. */
export function launchCommand(environment: Environment, nodePath: string): LaunchCommand {
  const known = findOnPath(environment, nodePath);
  return known === null ? { command: nodePath, args: ENTRY_ARGS } : { command: known, args: [] };
}

/** The JavaScript that gives a client's plugin `createPlugin`: an import, or the text itself where no client can import it. */
export function extensionSource(client: 'pi' | 'opencode'): string {
  if (isSea()) return getAsset(`${client}.js`, 'utf8').replaceAll(/^export /gm, '');
  return `import { createPlugin } from ${JSON.stringify(join(PACKAGE_FOLDER, 'bin', 'clients', `${client}.js`))};`;
}

function findOnPath(environment: Environment, nodePath: string): string | null {
  const folders = shellFolders(environment);
  const [entry = nodePath] = ENTRY_ARGS;
  // Windows, which has a `compact.exe` of its own, runs files with these endings only.
  const endings = environment['PATHEXT']?.toLowerCase().split(';') ?? [''];
  return NAMES.find((name) => isThisProgram(findCommand(name, folders, endings), entry)) ?? null;
}

/** The folders of PATH without those that npm adds while it runs a command. */
function shellFolders(environment: Environment): readonly string[] {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  if (environment['npm_command'] === undefined) return folders;
  return folders.filter((folder) => !/[\\/](?:node_modules[\\/]\.bin|node-gyp-bin)[\\/]?$/.test(folder));
}

/**
 * Where a program is on the PATH; null: it is nowhere. It is not taken from the folder that it will work in, unless that is the user's home or
 * above it.
 */
export function findProgram(
  name: string,
  { environment, homeFolder }: Pick<HostEnvironment, 'environment' | 'homeFolder'>,
  worksIn: string,
): string | null {
  const inside = `${worksIn.replace(/\/*$/, '')}/`;
  const isHome = `${realPath(homeFolder) ?? homeFolder}/`.startsWith(inside);
  const folders = shellFolders(environment).filter(
    (folder) => isHome || !`${realPath(folder) ?? folder}/`.startsWith(inside),
  );
  const isExecutable = (path: string): boolean => isFile(path) && tryTo(() => accessSync(path, constants.X_OK));
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

function findCommand(name: string, folders: readonly string[], endings: readonly string[] = ['']): string | null {
  return folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending))).find(isFile) ?? null;
}

const SCRIPT_BYTES = 4096;

/** Whether the file is a link to this program, or a package manager's script that starts it. */
function isThisProgram(path: string | null, entry: string): boolean {
  if (path === null) return false;
  if (realPath(path) === realPath(entry)) return true;
  const bytes = Buffer.alloc(SCRIPT_BYTES);
  // A file that we cannot read is not ours.
  const length = orElse(0, () => withOpenFile(path, 'r', (file) => readSync(file, bytes)));
  return /compact-transcript[\\/]bin[\\/]compact\.js/.test(bytes.toString('latin1', 0, length));
}

function isFile(path: string): boolean {
  return orElse(false, () => statSync(path).isFile());
}

/** Null: it does not exist. */
function realPath(path: string): string | null {
  if (path === '') return null;
  return orElse(null, () => realpathSync(path));
}
