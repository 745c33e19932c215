import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';

/** The process's environment, handed in. */
export type Environment = { readonly [name: string]: string | undefined };

export type Surroundings = {
  readonly environment: Environment;
  readonly workingFolder: string;
  readonly homeFolder: string;
};

/** `project`: found in the working folder or above it, so somebody else may have written it. */
export type ConfigPlace = 'flag' | 'environment' | 'project' | 'user';

export type ConfigSearch = {
  readonly found: { readonly path: string; readonly place: ConfigPlace } | null;
  /** Every path that was tried, in order. */
  readonly looked: readonly string[];
};

/** A file that was named is found whether it exists or not: its absence is an error, not a reason to look further. */
export function findConfig(surroundings: Surroundings, flag: string | null): ConfigSearch {
  const { environment, workingFolder } = surroundings;
  if (flag !== null) return named(resolve(workingFolder, flag), 'flag');
  const fromEnvironment = environment['COMPACT_CONFIG'];
  if (fromEnvironment !== undefined && fromEnvironment !== '') {
    return named(resolve(workingFolder, fromEnvironment), 'environment');
  }
  const user = join(
    xdgFolder(surroundings, { name: 'XDG_CONFIG_HOME', fallback: '.config' }),
    'compact',
    'config.toml',
  );
  const projectPaths = projectFolders(workingFolder).map((folder) => join(folder, 'compact.toml'));
  const looked = [...projectPaths, user];
  const project = projectPaths.find((path) => existsSync(path));
  if (project !== undefined) return { found: { path: project, place: 'project' }, looked };
  return { found: existsSync(user) ? { path: user, place: 'user' } : null, looked };
}

export function defaultArchivePath(surroundings: Surroundings): string {
  const folder = xdgFolder(surroundings, { name: 'XDG_DATA_HOME', fallback: join('.local', 'share') });
  return join(folder, 'compact', 'archive.db');
}

/** The XDG base directory specification: a relative path in one of its variables is to be ignored. */
function xdgFolder(surroundings: Surroundings, variable: { readonly name: string; readonly fallback: string }): string {
  const value = surroundings.environment[variable.name];
  return value !== undefined && isAbsolute(value) ? value : join(surroundings.homeFolder, variable.fallback);
}

function named(path: string, place: ConfigPlace): ConfigSearch {
  return { found: { path, place }, looked: [path] };
}

/**
 * The working folder and its parents up to the repository's root. Outside of a repository the working folder alone: above it
 * may stand a folder that anyone can write to.
 */
function projectFolders(workingFolder: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = resolve(workingFolder); ; folder = dirname(folder)) {
    folders.push(folder);
    if (existsSync(join(folder, '.git'))) return folders;
    if (dirname(folder) === folder) return folders.slice(0, 1);
  }
}
