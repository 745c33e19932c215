import { availableParallelism } from 'node:os';
import type { FileUseCases } from './file-task.ts';
import { estimateBytes } from '../compose/transcript-files.ts';

/** When threads are worth their start, which takes each of them about a tenth of a second. */
export type ThreadRules = {
  readonly minFiles: number;
  readonly minBytes: number;
  /** A file that is compacted alone gets a thread from this size on: V8 lets less garbage pile up there. */
  readonly minBytesAlone: number;
  /** The modules that a thread and the process of the threads run; by default those of the program. */
  readonly entry?: URL;
  readonly processEntry?: URL;
};

export const DEFAULT_THREAD_RULES: ThreadRules = {
  minFiles: 4,
  minBytes: 2 * 1024 * 1024,
  minBytesAlone: 16 * 1024 * 1024,
};

/** More threads would wait for the archive, which one writes at a time. */
const MAX_DEFAULT_JOBS = 8;

/** How many files to work on at a time if nobody says so. A service is asked about one at a time. */
export function defaultJobs(isOffline: boolean): number {
  return isOffline ? Math.min(availableParallelism(), MAX_DEFAULT_JOBS) : 1;
}

/** What a session offers for this. */
export type FileSession = {
  /** Those of this thread. */
  readonly useCases: FileUseCases;
  readonly threadRules: ThreadRules;
  /** The same in so many worker threads, until the session is over. */
  readonly startThreads: (threads: number) => Promise<FileUseCases>;
};

/** Use cases for many files, and how many of these to do at a time. */
export type FilesAtWork = { readonly useCases: FileUseCases; readonly jobs: number };

type FilesRequest = {
  readonly files: readonly { readonly path: string }[];
  /** As the command line says it; null: one at a time, or in threads as many as there are cores. */
  readonly jobs: number | null;
  /** False: a service summarizes or makes embeddings. */
  readonly isOffline: boolean;
  /** The work on one large file fills the memory, and its result is not written to standard output. */
  readonly needsMemory?: boolean;
};

/**
 * Threads where the work is computing. Where it is waiting for a service, all is done in this thread: rate limits, the
 * breaker and the prices hold for all files together.
 */
export async function openFilesAtWork(session: FileSession, request: FilesRequest): Promise<FilesAtWork> {
  const { files, isOffline } = request;
  const jobs = request.jobs ?? defaultJobs(isOffline);
  const wanted = Math.min(jobs, files.length);
  const threads = wanted > 1 && areWorthThreads(files, session.threadRules) ? wanted : isWorthOne(session, request);
  if (!isOffline || threads === 0) return { useCases: session.useCases, jobs: request.jobs ?? 1 };
  return { useCases: await session.startThreads(threads), jobs: threads };
}

function isWorthOne({ threadRules }: FileSession, { files, needsMemory = false }: FilesRequest): 0 | 1 {
  return needsMemory && files.some(({ path }) => estimateBytes(path) >= threadRules.minBytesAlone) ? 1 : 0;
}

function areWorthThreads(files: FilesRequest['files'], { minFiles, minBytes }: ThreadRules): boolean {
  if (files.length < minFiles) return false;
  let bytes = 0;
  return files.some(({ path }) => {
    bytes += estimateBytes(path);
    return bytes >= minBytes;
  });
}
