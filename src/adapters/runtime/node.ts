import { readFileSync } from 'node:fs';
import { hostname, release, userInfo } from 'node:os';
import { isSea } from 'node:sea';
import { lazily } from '../../core/lazy.ts';
import type { RunMark, Caller } from '../../ports/archive.ts';
import { orElse } from '../../system/files.ts';
import { readPackageVersion } from '../../system/package-version.ts';
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

export function systemFacts(): { readonly node: string; readonly platform: string } {
  const { arch, platform, version } = process;
  return { node: isSea() ? `${version}, inside this file` : version, platform: `${platform} ${arch} ${release()}` };
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

/**
 * The token differs from those of other runs in the same archive, and begins with the user and machine (`belongsTo`). `command`: without
 * secrets; null: no command line began the run.
 */
export function beginRun(command: string | null, owner: () => string = thisUser): RunMark {
  const begunAt = new Date();
  const random = [Math.random(), Math.random()].map((part) => part.toString(36).slice(2));
  const token = lazily(() => [owner(), begunAt.getTime().toString(36), ...random].join('-'));
  const by = lazily(thisCaller);
  return {
    begunAt,
    command,
    get token() {
      return token();
    },
    get by() {
      return by();
    },
  };
}

/** A user of a container may have a number alone. */
export function thisCaller(): Caller {
  const user = orElse(`user ${process.getuid?.() ?? ''}`.trim(), () => userInfo().username);
  return { user, host: hostname(), version: readPackageVersion() };
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

/**
 * Names a machine, by default this one, in an archive that several share: its host name, and a hash of its id where it has one (machine-id(5)
 * asks not to store the id itself). Containers of one image may share the id, and machines of one network the host name.
 */
export function thisMachine({ host = hostname(), id = readMachineId() } = {}): string {
  return `${host} ${sha256(`compact ${id}`)}`;
}

function readMachineId(): string {
  return orElse('', () => readFileSync('/etc/machine-id', 'utf8').trim());
}

/** Names the user of this program on this machine, in 16 hexadecimal digits. */
export function thisUser({ machine = thisMachine(), user = process.getuid?.() ?? '' } = {}): string {
  return sha256(`${machine} ${user}`);
}

function sha256(text: string): string {
  return loadCrypto().hash('sha256', text).slice(0, 16);
}
