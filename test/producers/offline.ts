import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import type { Asked } from './mock-model.ts';

/** A command as it is to be run; `MODEL_URL` in its arguments and environment becomes the URL of the mock. */
export type OfflineCommand = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** All of its environment but PATH. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** It runs on a terminal of its own. Once the model was asked with these words, it is interrupted until it ends. */
  readonly onTerminalUntil?: string;
};

export type OfflineRun = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly asked: readonly Asked[];
  /** Nothing but the mock could be reached. */
  readonly isIsolated: boolean;
};

/** Ways to bring up loopback in a network namespace of one's own, where there is nothing else. */
const RAISE_LOOPBACK = [
  'ip link set lo up',
  `python3 -c 'import fcntl,socket,struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh", b"lo", 0x41))'`,
];

/** With processes of one's own too, what a producer leaves running (Codex: a server) ends with it. */
const KINDS = [['--net', '--pid', '--fork', '--kill-child', '--mount-proc'], ['--net']];

/** The command that runs the command after it without a network; empty where this machine has none. */
function findIsolation(): readonly string[] {
  const wrappers = KINDS.flatMap((kinds) =>
    RAISE_LOOPBACK.map((raise) => ['unshare', '-r', ...kinds, 'sh', '-c', `${raise} && exec "$@"`, 'sh']),
  );
  return wrappers.find(([command = '', ...args]) => spawnSync(command, [...args, 'true']).status === 0) ?? [];
}

/** Runs a producer beside a mock of its model, both in a network namespace of their own where the machine allows it. */
export async function runOffline(offline: OfflineCommand): Promise<OfflineRun> {
  const isolation = findIsolation();
  const [command, ...args] = [...isolation, process.execPath, join(import.meta.dirname, 'offline-child.ts')];
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] },
  });
  child.stdin.end(JSON.stringify(offline));
  const [told] = await Promise.all([readText(child.stdout), once(child, 'close')]);
  const run: Omit<OfflineRun, 'isIsolated'> = JSON.parse(told);
  return { ...run, isIsolated: isolation.length > 0 };
}
