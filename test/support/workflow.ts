import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { CODE_CACHE, folderWith } from './folders.ts';

type Values = Readonly<Record<string, string | number | boolean>>;

/** A step of a workflow or a composite action of GitHub. */
export type Step = {
  readonly id?: string;
  readonly if?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly env?: Values;
  readonly with?: Values;
};

export type Job = {
  /** The repository's folder. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly inputs?: Readonly<Record<string, string>>;
  readonly github?: Readonly<Record<string, string>>;
};

export type JobEnd = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
  /** The actions of others, which are not run: their names, with their resolved inputs. */
  readonly used: readonly { readonly uses: string; readonly with: Readonly<Record<string, string>> }[];
};

/** A repository that has only these files. npm is a fake that says what it was asked, because `npm ci` needs the network. */
export function repositoryWith(t: TestContext, files: Readonly<Record<string, string>>) {
  const own = Object.entries(files).map(([path, text]) => [`repository/${path}`, text] as const);
  const place = folderWith(t, { 'bin/npm': '#!/bin/sh\necho "npm $* in $PWD" >&2\n', ...Object.fromEntries(own) });
  const bin = join(place, 'bin');
  chmodSync(join(bin, 'npm'), 0o755);
  const path = [bin, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  return { folder: join(place, 'repository'), bin, environment: { PATH: path, HOME: place, ...CODE_CACHE } };
}

/**
 * Runs the `run` steps as GitHub's runner does: in bash, with its variables and files, each in turn until one fails. Conditions count only as
 * `always()` or none.
 */
export function runSteps(steps: readonly Step[], job: Job): JobEnd {
  const runner = join(job.folder, '../runner');
  rmSync(runner, { recursive: true, force: true });
  mkdirSync(join(runner, 'temp'), { recursive: true });
  const file = (name: string): string => join(runner, name);
  const names = ['GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY', 'GITHUB_PATH', 'GITHUB_ENV'];
  for (const name of names) writeFileSync(file(name), '');
  const read = (name: string): readonly string[] => readFileSync(file(name), 'utf8').split('\n').slice(0, -1);
  const resolve = (text: string): string =>
    text.replaceAll(/\$\{\{ *(\w+)\.([\w-]+) *\}\}/g, (whole, from: string, name: string) => {
      const value = from === 'inputs' ? job.inputs?.[name] : from === 'github' ? job.github?.[name] : undefined;
      if (value === undefined) throw new Error(`the runner has no value for ${whole}`);
      return value;
    });
  const resolveAll = (record: Values = {}) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, resolve(String(value))]));
  const end = { code: 0 as number | null, stdout: '', stderr: '', used: [] as JobEnd['used'] };
  for (const step of steps) {
    if (end.code !== 0 && step.if?.includes('always()') !== true) continue;
    if (step.uses !== undefined) end.used = [...end.used, { uses: step.uses, with: resolveAll(step.with) }];
    if (step.run === undefined) continue;
    const added = read('GITHUB_PATH').map((path) => `${path}:`);
    const env = {
      ...job.environment,
      PATH: `${added.join('')}${job.environment['PATH'] ?? ''}`,
      ...Object.fromEntries(names.map((name) => [name, file(name)])),
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: job.folder,
      RUNNER_TEMP: file('temp'),
      CI: 'true',
      ...resolveAll(step.env),
    };
    const bash = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', resolve(step.run)];
    const ended = spawnSync('bash', bash, { cwd: job.folder, env, encoding: 'utf8', input: '' });
    if (end.code === 0) end.code = ended.status;
    end.stdout += ended.stdout;
    end.stderr += ended.stderr;
  }
  const outputs = Object.fromEntries(
    read('GITHUB_OUTPUT').map((line) => [line.split('=')[0] ?? '', line.replace(/^[^=]*=/, '')]),
  );
  return { ...end, outputs, summary: read('GITHUB_STEP_SUMMARY').join('\n') };
}
