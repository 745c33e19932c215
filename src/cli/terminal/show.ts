import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { platform } from 'node:process';
import type { Terminal } from './terminal.ts';

/** Ends at once if everything fits on the screen, keeps colors, and leaves the text there. */
const DEFAULT_PAGER = 'less -FRX';

/** Shows a text with $PAGER if there is a terminal. False: nothing was shown. */
export function showInPager(text: string, { stdout, host }: Pick<Terminal, 'stdout' | 'host'>): boolean {
  const { environment, userId } = host;
  const pager = (environment['PAGER'] ?? DEFAULT_PAGER).trim();
  const isWindows = userId === null;
  if (!stdout.isTerminal || isWindows || pager === '' || pager === 'cat' || environment['TERM'] === 'dumb')
    return false;
  // As git does: the variable may hold options, so a shell splits it.
  const ended = spawnSync('sh', ['-c', pager], { input: text, stdio: ['pipe', 'inherit', 'inherit'] });
  return ended.error === undefined && ended.status !== NOT_FOUND && ended.status !== NOT_EXECUTABLE;
}

const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;

const OPENERS: { readonly [system: string]: string } = { darwin: 'open', win32: 'explorer' };

/** Opens a file with $BROWSER, or as the system does, and does not wait. False: there is no such program. */
export async function openInBrowser(path: string, { host }: Pick<Terminal, 'host'>): Promise<boolean> {
  const opener = host.environment['BROWSER'] ?? OPENERS[platform] ?? 'xdg-open';
  const [program = '', ...args] = opener.trim().split(/\s+/);
  const child = spawn(program, [...args, path], { detached: true, stdio: 'ignore' });
  child.unref();
  return once(child, 'spawn').then(
    () => true,
    () => false,
  );
}
