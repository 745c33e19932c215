import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export type Shell = {
  readonly home: string;
  /** Runs one line; both output streams joined in order of time. */
  readonly run: (line: string) => { readonly code: number | null; readonly output: string };
};

/** A shell in `folder/work` whose PATH has `compact` (the build in `dist`), with a home of its own. */
export function createShell(folder: string, environment: Readonly<Record<string, string>> = {}): Shell {
  const [bin, home, work] = ['bin', 'home', 'work'].map((name) => join(folder, name)) as [string, string, string];
  for (const path of [bin, home, work]) mkdirSync(path, { recursive: true });
  symlinkSync(join(ROOT, 'bin/compact.js'), join(bin, 'compact'));
  const path = [bin, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  const cache = join(tmpdir(), 'node-compile-cache');
  const env = { PATH: path, HOME: home, TZ: 'UTC', NODE_COMPILE_CACHE: cache, ...environment };
  return {
    home,
    run: (line) => {
      const { status, stdout } = spawnSync('bash', ['-c', `exec 2>&1; set -o pipefail; ${line}`], {
        cwd: work,
        env,
        input: '',
        encoding: 'utf8',
      });
      return { code: status, output: stdout };
    },
  };
}

/** Copies a fixture, for example `claude-code/session.jsonl`. */
export function copyFixture(fixture: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(join(ROOT, 'fixtures/transcripts', fixture), target);
}
