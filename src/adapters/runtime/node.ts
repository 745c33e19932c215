import { createHash, hash } from 'node:crypto';
import { kill, pid } from 'node:process';
import type { Runtime } from '../../ports/runtime.ts';

/** The clock, hashes and processes of this machine. An aborted sleep ends at once, without an error. */
export function createNodeRuntime(): Runtime {
  return {
    now: () => new Date(),
    sha256: (data) => hash('sha256', data, 'hex'),
    createHash: () => {
      const running = createHash('sha256');
      return {
        update: (data) => {
          running.update(data);
        },
        digest: () => running.digest('hex'),
      };
    },
    sleep,
    processId: pid,
    isProcessAlive,
  };
}

/** 0 ms lets signals and the terminal have their turn, and no more. */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    if (ms <= 0) {
      setImmediate(resolve);
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}

function isProcessAlive(processId: number): boolean {
  // 0 and below mean groups of processes.
  if (!Number.isSafeInteger(processId) || processId <= 0) return false;
  try {
    kill(processId, 0);
    return true;
  } catch (error) {
    // Somebody else's process may not be signalled, but it is there.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
