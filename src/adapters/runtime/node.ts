import type { Hash } from 'node:crypto';
import type { RunningHash, Runtime } from '../../ports/runtime.ts';

/** The clock and hashes of this machine. An aborted sleep ends at once, without an error. */
export function createNodeRuntime(): Runtime {
  return {
    now: () => new Date(),
    sha256: (data) => loadCrypto().hash('sha256', data, 'hex'),
    utf8Length: (text) => Buffer.byteLength(text),
    createHash: () => toRunningHash(loadCrypto().createHash('sha256')),
    random: () => Math.random(),
    sleep,
    // Twice: only between two of them is the loop certain to poll for events.
    yieldToEvents: () => new Promise((resolve) => setImmediate(() => setImmediate(resolve))),
    processId: process.pid,
  };
}

function toRunningHash(running: Hash): RunningHash {
  return {
    update: (data) => {
      running.update(data);
    },
    digest: () => running.digest('hex'),
    copy: () => toRunningHash(running.copy()),
  };
}

/** Loaded on first use, because loading it takes a tenth of the program's start-up time. */
function loadCrypto() {
  return process.getBuiltinModule('node:crypto');
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
