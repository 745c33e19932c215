import { availableParallelism } from 'node:os';
import type { FileUseCases } from './worker.ts';
import { estimateBytes } from '../../compose/transcript-files.ts';

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
  minBytesAlone: 16 * 1024 * 1024,
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

/** Use cases for many files, and how many of these to do at a time. */
export type FilesAtWork = { readonly useCases: FileUseCases; readonly jobs: number };

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
 * breaker and the prices hold for all files together.
 */
export async function openFilesAtWork(session: FileSession, request: FilesRequest): Promise<FilesAtWork> {
  const { files, isOffline } = request;
  const jobs = request.jobs ?? defaultJobs(isOffline);
  const wanted = Math.min(jobs, files.length);
  const processes = wanted > 1 && areWorthProcesses(files, session.poolRules) ? wanted : isWorthOne(session, request);
  if (!isOffline || processes === 0) return { useCases: session.useCases, jobs: request.jobs ?? 1 };
  return { useCases: await session.startProcesses(processes), jobs: processes };
}

function isWorthOne({ poolRules }: FileSession, { files, needsMemory = false }: FilesRequest): 0 | 1 {
  return needsMemory && files.some(({ path }) => estimateBytes(path) >= poolRules.minBytesAlone) ? 1 : 0;
}

function areWorthProcesses(files: FilesRequest['files'], { minFiles, minBytes }: PoolRules): boolean {
  if (files.length < minFiles) return false;
  let bytes = 0;
  return files.some(({ path }) => {
    bytes += estimateBytes(path);
    return bytes >= minBytes;
  });
}
