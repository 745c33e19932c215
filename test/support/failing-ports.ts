import { fileError } from '../../src/system/files.ts';
import { err } from '../../src/core/result.ts';
import type { Archive, ArchiveError, ArchiveFailure } from '../../src/ports/archive.ts';
import type { FileFailure, FileStore } from '../../src/ports/files.ts';
import type { Runtime } from '../../src/ports/runtime.ts';

/** Which call of a method fails, counted over all things that have it, and whether it has done its work by then. */
export type Fault = { readonly nth: number | 'each'; readonly when: 'before' | 'after'; readonly onFail: () => void };

export type ArchiveMethod =
  | 'findCycles'
  | 'loadCompaction'
  | 'findSame'
  | 'begin'
  | 'append'
  | 'commit'
  | 'markApplied'
  | 'discard'
  | 'listPrepared'
  | 'readLines';
type SourceMethod = 'lines' | 'read';
export type FileMethod =
  | 'open'
  | 'stamp'
  | 'lock'
  | 'begin'
  | 'write'
  | 'drain'
  | 'sync'
  | 'takePlace'
  | 'syncFolder'
  | SourceMethod;
export type RuntimeMethod = 'now' | 'sha256' | 'createHash' | 'yieldToEvents';

const ARCHIVE_FAILURE: ArchiveFailure = { kind: 'cannot-open', path: 'archive.db', reason: 'disk I/O error' };
const FILE_FAILURE: FileFailure = { kind: 'io', path: 'a file', code: 'EIO' };

/** A method of the archive, or of the writers that it begins. */
export function faultyArchive(archive: Archive, method: ArchiveMethod, fault: Fault): Archive {
  const fail = (): never => {
    throw Object.assign(new Error('disk I/O error'), { failure: ARCHIVE_FAILURE }) satisfies ArchiveError;
  };
  const atItsTurn = createFault(fault, fail);
  const begin: Archive['begin'] = async (outline) => replaceMethod(await archive.begin(outline), method, atItsTurn);
  return replaceMethod({ ...archive, begin }, method, atItsTurn);
}

export function faultyRuntime(runtime: Runtime, method: RuntimeMethod, fault: Fault): Runtime {
  const fail = (): never => {
    throw new Error('broken runtime');
  };
  return replaceMethod(runtime, method, createFault(fault, fail));
}

/** A method of the store, of its locks, of the files that are begun, or of those that are opened. */
export function faultyFiles(files: FileStore, method: FileMethod, fault: Fault): FileStore {
  const isRead = method === 'lines' || method === 'read';
  const atItsTurn = createFault(fault, () => {
    if (isRead) throw fileError('EIO', FILE_FAILURE);
    return err(FILE_FAILURE);
  });
  const inner = <T extends object>(thing: T): T => replaceMethod(thing, method, atItsTurn);
  const store: FileStore = {
    ...files,
    open: async (path) => {
      const opened = await files.open(path);
      return opened.ok ? { ok: true, value: inner(opened.value) } : opened;
    },
    lock: async (path) => {
      const locked = await files.lock(path);
      if (!locked.ok) return locked;
      const lock = inner(locked.value);
      const begin: typeof lock.begin = async (like) => {
        const begun = await lock.begin(like);
        return begun.ok ? { ok: true, value: inner(begun.value) } : begun;
      };
      return { ok: true, value: { ...lock, begin } };
    },
  };
  return inner(store);
}

type Call = (...args: readonly unknown[]) => unknown;

/** Makes a method fail at its turn; one that gives an iterator fails after the first item when it fails after its work. */
function createFault({ nth, when, onFail }: Fault, fail: () => unknown): (call: Call) => Call {
  let calls = 0;
  const giveUp = (): unknown => {
    onFail();
    return fail();
  };
  return (call) =>
    (...args) => {
      calls += 1;
      if (nth !== 'each' && calls !== nth) return call(...args);
      if (when === 'before') return giveUp();
      const done = call(...args);
      if (done instanceof Promise) return done.then(giveUp);
      if (isAsyncIterator(done)) return afterFirstOf(done, giveUp);
      return isIterator(done) ? afterFirst(done, giveUp) : giveUp();
    };
}

function isIterator(value: unknown): value is IterableIterator<unknown> {
  return typeof value === 'object' && value !== null && 'next' in value;
}

function isAsyncIterator(value: unknown): value is AsyncIterableIterator<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value;
}

async function* afterFirstOf(items: AsyncIterableIterator<unknown>, giveUp: () => unknown): AsyncGenerator {
  const first = await items.next();
  if (first.done !== true) yield first.value;
  giveUp();
}

function* afterFirst(items: IterableIterator<unknown>, giveUp: () => unknown): Generator {
  const first = items.next();
  if (first.done !== true) yield first.value;
  giveUp();
}

/** The same thing but for one method, if it has it. */
function replaceMethod<T extends object>(thing: T, method: string, change: (call: Call) => Call): T {
  const call: unknown = Reflect.get(thing, method);
  if (typeof call !== 'function') return thing;
  return { ...thing, [method]: change((...args) => Reflect.apply(call, thing, args)) };
}
