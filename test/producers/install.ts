import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseFields, textOf } from './json.ts';
import type { Package } from './resumed.ts';

/** Outside the repository: `$PRODUCERS`, else below the user's cache. */
export function producersFolder(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return process.env['PRODUCERS'] ?? join(cache, 'compact-producers');
}

/** Pinned versions, or the newest that npm can install, which stand beside them. */
export type Versions = 'pinned' | 'newest';

const MAX_VERSIONS_TRIED = 12;

/** Installs a package from npm where it is not there yet; null: it is there, else why it is not. */
export function install(wanted: Package, into: string, versions: Versions = 'pinned'): string | null {
  const { folder, packageName, movedTo = packageName } = wanted;
  const prefix = join(into, folder);
  const isLibrary = wanted.isLibrary === true;
  if (versions === 'pinned') {
    return installVersion(prefix, { packageName, from: packageName, version: wanted.version, isLibrary });
  }
  // The newest may need packages that the registry does not have (yet).
  const problems: string[] = [];
  for (const version of listNewest(movedTo)) {
    const problem = installVersion(prefix, { packageName, from: movedTo, version, isLibrary });
    if (problem === null) {
      if (problems.length > 0) console.log(`${problems.join('\n')}\nUsing ${movedTo}@${version}.`);
      return null;
    }
    problems.push(problem);
  }
  return problems[0] ?? `npm does not say which versions of ${movedTo} there are`;
}

type Wanted = {
  readonly packageName: string;
  readonly from: string;
  readonly version: string;
  readonly isLibrary: boolean;
};

function installVersion(prefix: string, { packageName, from, version, isLibrary }: Wanted): string | null {
  const manifest = join(prefix, 'node_modules', packageName, 'package.json');
  const installed = existsSync(manifest) ? textOf(parseFields(readFileSync(manifest, 'utf8'))?.['version']) : undefined;
  if (installed === version) return null;
  mkdirSync(prefix, { recursive: true });
  const spec = from === packageName ? `${packageName}@${version}` : `${packageName}@npm:${from}@${version}`;
  const omitted = isLibrary ? ['--omit=optional'] : [];
  const args = ['install', '--no-audit', '--no-fund', ...omitted, '--prefix', prefix, spec];
  const { status, stderr, error } = spawnSync('npm', args, { encoding: 'utf8' });
  if (status === 0) return null;
  const reason = stderr.match(/^npm error (?!code )(.+)$/m)?.[1] ?? stderr.trim();
  return `npm could not install ${spec}: ${error?.message ?? reason}`;
}

/** Releases, newest first; none if npm cannot say. */
function listNewest(packageName: string): readonly string[] {
  const { status, stdout } = spawnSync('npm', ['view', packageName, 'versions', '--json'], { encoding: 'utf8' });
  if (status !== 0) return [];
  const listed: unknown = JSON.parse(stdout);
  const all = Array.isArray(listed) ? listed : [listed];
  const releases = all.filter((one): one is string => typeof one === 'string' && !one.includes('-'));
  return releases.toReversed().slice(0, MAX_VERSIONS_TRIED);
}
