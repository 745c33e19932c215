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

/** Installs the pinned version from npm where it is not there yet; null: it is there, else why it is not. */
export function install({ folder, packageName, version }: Package, into: string): string | null {
  const prefix = join(into, folder);
  const manifest = join(prefix, 'node_modules', packageName, 'package.json');
  const installed = existsSync(manifest) ? textOf(parseFields(readFileSync(manifest, 'utf8'))?.['version']) : undefined;
  if (installed === version) return null;
  mkdirSync(prefix, { recursive: true });
  const args = ['install', '--no-audit', '--no-fund', '--prefix', prefix, `${packageName}@${version}`];
  const { status, stderr, error } = spawnSync('npm', args, { encoding: 'utf8' });
  if (status === 0) return null;
  return `npm could not install ${packageName}@${version}: ${error?.message ?? stderr.trim().split('\n').at(-1)}`;
}
