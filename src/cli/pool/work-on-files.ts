import { availableParallelism } from 'node:os';
import type { Failure } from '../../app/contract/failure.ts';
import { estimateBytes } from '../../compose/transcript-files.ts';
import { err, type Result } from '../../core/result.ts';
import type { Progress } from '../../ports/runtime.ts';
import type { NotDone } from '../../messages/failure.ts';
import { renderBug } from '../../messages/problems.ts';
import type { Place, Reporter } from '../terminal/reporter.ts';
import type { FileUseCases } from './worker.ts';

/** When other processes are worth their start, which takes each of them about a tenth of a second. */
export type PoolRules = {
  readonly minFiles: number;
  readonly minBytes: number;
  /** A file that is compacted alone gets a process from this size on: V8 lets less garbage pile up there. */
  readonly minBytesAlone: number;
  /** The module that the processes run; by default that of the program. */
  readonly entry?: URL;
};

export const DEFAULT_POOL_RULES: PoolRules = {
  minFiles: 4,
  minBytes: 2 * 1024 * 1024,
  minBytesAlone: 8 * 1024 * 1024,
};

/** More processes would wait for the archive, which one writes at a time. */
const MAX_DEFAULT_JOBS = 8;

/** How many files to work on at a time if nobody says so. A service is asked about one at a time. */
export function defaultJobs(isOffline: boolean): number {
  return isOffline ? Math.min(availableParallelism(), MAX_DEFAULT_JOBS) : 1;
}

/** What a session offers for this. */
export type FileSession = {
  /** Those of this process. */
  readonly useCases: FileUseCases;
  readonly poolRules: PoolRules;
  /** The same in so many other processes, until the session is over. */
  readonly startProcesses: (processes: number) => Promise<FileUseCases>;
};

type FilesRequest = {
  readonly files: readonly { readonly path: string }[];
  /** As the command line says it; null: one at a time, or in processes as many as there are cores. */
  readonly jobs: number | null;
  /** False: a service summarizes or makes embeddings. */
  readonly isOffline: boolean;
  /** The work on one large file fills the memory, and its result is not written to standard output. */
  readonly needsMemory?: boolean;
};

/**
 * Other processes where the work is computing. Where it is waiting for a service, all is done in this one: rate limits, the
 * breaker and the prices hold for all files together. `jobs`: how many files to do at a time.
 */
export async function openFilesAtWork(session: FileSession, request: FilesRequest) {
  const { files, isOffline, needsMemory = false } = request;
  const { poolRules, useCases } = session;
  const wanted = Math.min(request.jobs ?? defaultJobs(isOffline), files.length);
  const isLarge = ({ path }: { readonly path: string }): boolean => estimateBytes(path) >= poolRules.minBytesAlone;
  const areSeveral = wanted > 1 && areWorthProcesses(files, poolRules);
  const processes = areSeveral ? wanted : Number(needsMemory && files.some(isLarge));
  if (!isOffline || processes === 0) return { useCases, jobs: request.jobs ?? 1 };
  return { useCases: await session.startProcesses(processes), jobs: processes };
}

function areWorthProcesses(files: FilesRequest['files'], { minFiles, minBytes }: PoolRules): boolean {
  if (files.length < minFiles) return false;
  let bytes = 0;
  return files.some(({ path }) => {
    bytes += estimateBytes(path);
    return bytes >= minBytes;
  });
}

type WorkOn<Item, T> = Pick<FilesRequest, 'jobs'> &
  Partial<Pick<FilesRequest, 'isOffline' | 'needsMemory'>> & {
    readonly items: readonly Item[];
    readonly work: (item: Item, useCases: FileUseCases, progress: Progress) => Promise<Result<T, Failure>>;
    /** Called in the order of the items, as soon as all earlier ones are done. */
    readonly report: (outcome: Result<T, NotDone>, item: Item) => void;
    /** The item was at work when the run was interrupted; nothing of it changed. */
    readonly interrupted?: (item: Item) => void;
  };

/** How far the work may run ahead of an item that takes long: this bounds the results that wait to be reported. */
const MAX_AHEAD = 1024;

/** Works on files, several at a time, and reports them in their order. Returns how many an interruption left undone. */
export async function workOnFiles<Item extends { readonly path: string; readonly name: string }, T>(
  session: FileSession & {
    readonly reporter: Pick<Reporter, 'progress'>;
    readonly terminal: { readonly signal: AbortSignal };
  },
  { items, jobs, isOffline = true, needsMemory = false, work, report, interrupted }: WorkOn<Item, T>,
): Promise<number> {
  const { signal } = session.terminal;
  const atWork = await openFilesAtWork(session, { files: items, jobs, isOffline, needsMemory });
  const attempt = async (item: Item, place: Place): Promise<Result<T, NotDone> | null> => {
    try {
      const done = await work(item, atWork.useCases, session.reporter.progress.of(item.name, place));
      if (done.ok) return done;
      if (done.error.kind !== 'interrupted') return err(done.error);
      interrupted?.(item);
      return null;
    } catch (error) {
      // Errors while aborting are expected.
      return signal.aborted ? null : err({ kind: 'bug', message: renderBug(error).trimEnd() });
    }
  };
  const done = new Map<number, Result<T, NotDone>>();
  const state = { nextBegun: 0, nextReported: 0, reportedCount: 0, isOver: false };
  const waiting: (() => void)[] = [];
  const reportAt = (index: number): void => {
    const item = items[index];
    const result = done.get(index);
    if (item === undefined || result === undefined) return;
    done.delete(index);
    state.reportedCount += 1;
    report(result, item);
  };
  const reportReady = (): void => {
    for (; done.has(state.nextReported); state.nextReported += 1) reportAt(state.nextReported);
    for (const wake of waiting.splice(0)) wake();
  };
  const takeTurns = async (): Promise<void> => {
    for (let item = items[state.nextBegun]; item !== undefined; item = items[state.nextBegun]) {
      if (signal.aborted || state.isOver) return;
      if (state.nextBegun - state.nextReported >= MAX_AHEAD) {
        await new Promise<void>((resolve) => waiting.push(resolve));
        continue;
      }
      const index = state.nextBegun;
      state.nextBegun += 1;
      const result = await attempt(item, { index, count: items.length });
      // After an interruption, or at the limit of the cost, no further item is begun.
      state.isOver ||= result === null || (!result.ok && result.error.kind === 'cost-limit');
      if (result !== null) done.set(index, result);
      reportReady();
    }
  };
  await Promise.all(Array.from({ length: Math.min(atWork.jobs, items.length) }, takeTurns));
  // After an interruption, files behind an interrupted one may be done.
  for (const index of [...done.keys()].toSorted((a, b) => a - b)) reportAt(index);
  return items.length - state.reportedCount;
}
