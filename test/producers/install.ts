import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseFields, textOf } from './json.ts';
import type { Package } from './producers.ts';

/** Outside the repository: `$PRODUCERS`, else below the user's cache. */
export function producersFolder(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return process.env['PRODUCERS'] ?? join(cache, 'compact-producers');
}

/** Pinned versions, or the newest that npm has, which stand beside them. */
export type Versions = 'pinned' | 'newest';

/** Installs a package from npm where it is not there yet; null: it is there, else why it is not. */
export function install(wanted: Package, into: string, versions: Versions = 'pinned'): string | null {
  const { folder, packageName, movedTo = packageName } = wanted;
  const version = versions === 'pinned' ? wanted.version : findNewest(movedTo);
  if (version === null) return `npm does not say what the newest version of ${movedTo} is`;
  const prefix = join(into, folder);
  const manifest = join(prefix, 'node_modules', packageName, 'package.json');
  const installed = existsSync(manifest) ? textOf(parseFields(readFileSync(manifest, 'utf8'))?.['version']) : undefined;
  if (installed === version) return null;
  mkdirSync(prefix, { recursive: true });
  const isMoved = versions === 'newest' && movedTo !== packageName;
  const spec = isMoved ? `${packageName}@npm:${movedTo}@${version}` : `${packageName}@${version}`;
  const args = ['install', '--no-audit', '--no-fund', '--prefix', prefix, spec];
  const { status, stderr, error } = spawnSync('npm', args, { encoding: 'utf8' });
  if (status === 0) return null;
  return `npm could not install ${spec}: ${error?.message ?? stderr.trim().split('\n').at(-1)}`;
}

function findNewest(packageName: string): string | null {
  const { status, stdout } = spawnSync('npm', ['view', packageName, 'version'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}
