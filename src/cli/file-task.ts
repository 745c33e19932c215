import type { MessagePort } from 'node:worker_threads';
import type { Composition, UseCases } from '../compose/use-cases.ts';

/** The use cases that work on one file, so that a worker thread can do them. */
export type FileUseCases = Pick<UseCases, FileUseCase>;
type FileUseCase = 'compactFile' | 'restoreFile' | 'scanFile' | 'undoFile' | 'verifyFile';

/** Worker threads summarize on this machine and without embeddings, so their requests are plain data. */
export type FileTask = {
  readonly [N in FileUseCase]: {
    readonly name: N;
    readonly request: Omit<Parameters<UseCases[N]>[0], 'summarizer' | 'embeddings'>;
  };
}[FileUseCase];

export type FileResult = Awaited<ReturnType<UseCases[FileUseCase]>>;

/** What a worker makes its use cases of. */
export type WorkerComposition = Pick<
  Composition,
  'archivePath' | 'maxUnpackedBytes' | 'run' | 'minBytesForArchiveThread'
>;

/** What a worker gets for each task; messages go through the port while it works. */
export type Assignment = {
  readonly task: FileTask;
  readonly composition: WorkerComposition;
  readonly port: MessagePort;
};

/** An unexpected error comes back as a value, so that a rejection always means that the worker died. */
export type Outcome = { readonly result: FileResult } | { readonly thrown: unknown };

/** Interrupts the work; `reason` is that of the signal. */
export type ToWorker = { readonly kind: 'interrupt'; readonly reason: unknown };

/** What a worker tells while it works. */
export type WorkerNews =
  | { readonly kind: 'progress'; readonly stage: string; readonly done: number; readonly total: number }
  /** A path that must not outlive the process was created or removed. */
  | { readonly kind: 'created' | 'removed'; readonly path: string };
