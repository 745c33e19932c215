import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const CHILD = join(import.meta.dirname, 'stopping-child.ts');

/** What the child does: the name of a file to capture, the text to erase, or archives to merge, with commas. */
export type StoppingWork = {
  readonly work: 'capture' | 'remove' | 'erase' | 'merge';
  readonly folder: string;
  readonly named: string;
  /** By default it does not stop. */
  readonly stopsAt?: string;
  /** Of the archive; by default, it is in the folder. */
  readonly url?: string;
};

export function startStopping(
  t: TestContext,
  { work, folder, named, stopsAt = '', url = '' }: StoppingWork,
): ChildProcess {
  const args = [CHILD, work, folder, named, stopsAt, url];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

export async function saidBy({ stdout }: ChildProcess): Promise<string> {
  assert.ok(stdout);
  const [text] = await once(stdout, 'data');
  return String(text).trim();
}

/** Kills the child where it stops. */
export async function killWhereItStops(t: TestContext, work: StoppingWork): Promise<void> {
  const child = startStopping(t, work);
  assert.equal(await saidBy(child), 'stopped');
  child.kill('SIGKILL');
  await once(child, 'close');
}
