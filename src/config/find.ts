import { existsSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';

/** The process's environment, passed in. */
export type Environment = { readonly [name: string]: string | undefined };

export type HostEnvironment = {
  readonly environment: Environment;
  readonly workingFolder: string;
  readonly homeFolder: string;
  /** The user id of the process; null on Windows, which has none. */
  readonly userId: number | null;
};

/** `project`: found in the working folder or above it, so somebody else may have written it. */
export type ConfigPlace = 'flag' | 'environment' | 'project' | 'user';

/**
 * as-trusted: the recorded trust decides; trusted: the user trusts the file for this run; ignored: project files are
 * not searched for.
 */
type ProjectFiles = 'as-trusted' | 'trusted' | 'ignored';

export type ConfigRequest = { readonly configFlag: string | null; readonly project: ProjectFiles };

export type ConfigSearch = {
  readonly found: { readonly path: string; readonly place: ConfigPlace } | null;
  /** Every path that was tried, in order. */
  readonly looked: readonly string[];
  /** A repository's file that is not read, because the search stopped before its folder, for this `reason`. */
  readonly ignored: { readonly path: string; readonly reason: string } | null;
};

/** `mode` holds the permission bits. */
export type FolderFacts = { readonly uid: number; readonly mode: number };
/** Null: the folder cannot be read. */
export type LookAtFolder = (path: string) => FolderFacts | null;

export const PROJECT_FILE = 'compact.toml';

/**
 * Finds the configuration file. A file that the user named counts as found even if it does not exist, because that is
 * an error and no reason to search on.
 */
export function findConfig(
  host: HostEnvironment,
  { configFlag, project }: ConfigRequest,
  look: LookAtFolder = lookAtFolder,
): ConfigSearch {
  const { environment, workingFolder } = host;
  if (configFlag !== null) return named(resolve(workingFolder, configFlag), 'flag');
  const fromEnvironment = environment['COMPACT_CONFIG'];
  if (fromEnvironment !== undefined && fromEnvironment !== '') {
    return named(resolve(workingFolder, fromEnvironment), 'environment');
  }
  const user = join(xdgFolder(host, { name: 'XDG_CONFIG_HOME', fallback: '.config' }), 'compact', 'config.toml');
  const { folders, ignored } = project === 'ignored' ? { folders: [], ignored: null } : projectFolders(host, look);
  const projectPaths = folders.map((folder) => join(folder, PROJECT_FILE));
  const looked = [...projectPaths, user];
  const path = projectPaths.find((one) => existsSync(one));
  if (path !== undefined) return { found: { path, place: 'project' }, looked, ignored: null };
  return { found: existsSync(user) ? { path: user, place: 'user' } : null, looked, ignored };
}

export function defaultArchivePath(host: HostEnvironment): string {
  return join(xdgFolder(host, { name: 'XDG_DATA_HOME', fallback: join('.local', 'share') }), 'compact', 'archive.db');
}

/** A folder of the XDG base directory specification, which says to ignore a relative path in a variable. */
function xdgFolder(host: HostEnvironment, variable: { readonly name: string; readonly fallback: string }): string {
  const value = host.environment[variable.name];
  return value !== undefined && isAbsolute(value) ? value : join(host.homeFolder, variable.fallback);
}

/** Where this program keeps what it has to remember between runs. */
export function stateFolder(host: HostEnvironment): string {
  return join(xdgFolder(host, { name: 'XDG_STATE_HOME', fallback: join('.local', 'state') }), 'compact');
}

/** "its folder belongs to another user (uid 7)"; null: it is the user's own. */
export function describeOwner(
  what: 'it' | 'its folder',
  { uid }: Pick<FolderFacts, 'uid'>,
  { userId }: Pick<HostEnvironment, 'userId'>,
): string | null {
  return userId === null || uid === userId ? null : `${what} belongs to another user (uid ${uid})`;
}

function named(path: string, place: ConfigPlace): ConfigSearch {
  return { found: { path, place }, looked: [path], ignored: null };
}

/**
 * The working folder and its parents up to the repository's root. Like git (`safe.directory`), the search stops before
 * a parent in which another user could have put the file. Outside a repository only the working folder counts.
 */
function projectFolders(host: HostEnvironment, look: LookAtFolder) {
  const start = resolve(host.workingFolder);
  const own = look(start);
  if (own === null || describeOwner('its folder', own, host) !== null) {
    return { folders: [start], ignored: null };
  }
  const folders: string[] = [];
  for (let folder = start; ; folder = dirname(folder)) {
    const reason = folder === start ? null : describeStranger(look(folder), host);
    const isRoot = existsSync(join(folder, '.git'));
    if (reason !== null) {
      const path = join(folder, PROJECT_FILE);
      return { folders: [start], ignored: isRoot && existsSync(path) ? { path, reason } : null };
    }
    folders.push(folder);
    if (isRoot) return { folders, ignored: null };
    if (dirname(folder) === folder) return { folders: [start], ignored: null };
  }
}

const WRITABLE_BY_ANYONE = 0o002;

/** Why somebody else could have put a file into this folder; null: nobody could. */
function describeStranger(facts: FolderFacts | null, host: HostEnvironment): string | null {
  if (facts === null) return 'its folder cannot be read';
  const owner = describeOwner('its folder', facts, host);
  if (owner !== null) return owner;
  const isOpen = host.userId !== null && (facts.mode & WRITABLE_BY_ANYONE) !== 0;
  return isOpen ? 'anyone can write to its folder' : null;
}

export function lookAtFolder(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null; // it is gone, or a folder above it may not be entered
  }
}
