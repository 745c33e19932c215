import { rmSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Composition, UseCases } from '../../compose/use-cases.ts';
import { assertNever } from '../../core/result.ts';
import type { Progress } from '../../ports/runtime.ts';

/** The use cases that work on one file, so that another process can do them. */
export type FileUseCases = Pick<UseCases, 'compactFile' | 'restoreFile' | 'scanFile' | 'undoFile' | 'verifyFile'>;

export type ToWorker =
  /** `codeFolder`: where compiled code is kept; null: nowhere. */
  | { readonly kind: 'start'; readonly composition: WorkerComposition; readonly codeFolder: string | null }
  /** The request of this use case. A worker summarizes on this machine and without embeddings, so all of it is plain data. */
  | { readonly kind: 'task'; readonly name: keyof FileUseCases; readonly request: never }
  /** `reason` is that of the signal. */
  | { readonly kind: 'interrupt'; readonly reason: unknown }
  | { readonly kind: 'close' };

/** What a worker makes its use cases of. */
export type WorkerComposition = Pick<Composition, 'archivePath' | 'maxUnpackedBytes' | 'run'>;

export type FromWorker =
  | { readonly kind: 'progress'; readonly stage: string; readonly done: number; readonly total: number }
  /** A path that must not outlive the process was created or removed. */
  | { readonly kind: 'created' | 'removed'; readonly path: string }
  | { readonly kind: 'result'; readonly result: unknown }
  /** An unexpected error, which fails the task but not the process. */
  | { readonly kind: 'thrown'; readonly error: unknown }
  /** An error that nothing caught ends the process. */
  | { readonly kind: 'dying'; readonly reason: string };

/** Does one task after the other, each with the archive that this process has opened. */
export function serve(hooks: Pick<Composition, 'reached'> = {}): void {
  const parent = process.ppid;
  const interruption = new AbortController();
  const state: { useCases: Promise<UseCases> | null } = { useCases: null };
  // If the program dies, nothing is written after it. While this process computes, it hears that only at its next step.
  const die = (): void => void process.kill(process.pid, 'SIGKILL');
  const dieWithProgram = (): void => {
    if (process.ppid !== parent) die();
  };
  const compose = async (composition: WorkerComposition): Promise<UseCases> => {
    // Imported only now: until signals are handled, one of them would end this process.
    const { createUseCases } = await import('../../compose/use-cases.ts');
    return createUseCases({
      ...composition,
      reached: (step) => {
        hooks.reached?.(step);
        dieWithProgram();
      },
      signal: interruption.signal,
      progress: NO_PROGRESS,
      // Rewriting the archive would hold up all processes.
      finishesErasures: false,
      stdout: () => {
        throw new Error('several files cannot share standard output');
      },
      removeAtExit: (path) => {
        send({ kind: 'created', path });
        return (how) => {
          if (how !== 'keep') rmSync(path, { recursive: true, force: true });
          send({ kind: 'removed', path });
        };
      },
    });
  };
  const handle = async (message: ToWorker): Promise<void> => {
    switch (message.kind) {
      case 'start':
        if (message.codeFolder !== null) enableCompileCache(message.codeFolder);
        state.useCases = compose(message.composition);
        return;
      case 'task':
        return send(await perform(state.useCases, message, createProgress(dieWithProgram)));
      case 'interrupt':
        return interruption.abort(message.reason);
      case 'close':
        await (await state.useCases)?.close();
        process.off('disconnect', die);
        return process.disconnect();
      default:
        return assertNever(message);
    }
  };
  process.on('disconnect', die);
  // A terminal also signals this process. The program decides what an interruption means.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.on('uncaughtException', (error: unknown) =>
    send({ kind: 'dying', reason: error instanceof Error ? error.message : String(error) }, () => process.exit(1)),
  );
  process.on('message', (message: ToWorker) => void handle(message));
}

async function perform(
  composed: Promise<UseCases> | null,
  { name, request }: Extract<ToWorker, { readonly kind: 'task' }>,
  progress: Progress,
): Promise<FromWorker> {
  try {
    const useCases = await composed;
    if (useCases === null) throw new Error('the worker was not started');
    const perform: (request: never, progress: Progress) => Promise<unknown> =
      name === 'compactFile' ? compactOffline(useCases) : useCases[name];
    return { kind: 'result', result: await perform(request, progress) };
  } catch (error) {
    return { kind: 'thrown', error };
  }
}

function compactOffline({ createSummarizer, compactFile }: UseCases) {
  type Request = Omit<Parameters<typeof compactFile>[0], 'summarizer' | 'embeddings'>;
  return async (request: Request, progress: Progress) => {
    const { compaction } = request.policy;
    const created = await createSummarizer({ model: null, compaction });
    if (!created.ok) throw new Error(created.error);
    return compactFile({ ...request, summarizer: created.value.value, embeddings: null }, progress);
  };
}

const NO_PROGRESS: Progress = { update: () => undefined, finish: () => undefined };
/** Nobody reads a progress line that changes more often. */
const PROGRESS_MS = 100;

function createProgress(onUpdate: () => void): Progress {
  const state = { sentAtMs: 0 };
  return {
    ...NO_PROGRESS,
    update: (stage, done, total) => {
      onUpdate();
      const nowMs = Date.now();
      if (nowMs - state.sentAtMs < PROGRESS_MS) return;
      state.sentAtMs = nowMs;
      send({ kind: 'progress', stage, done, total });
    },
  };
}

function send(message: FromWorker, sent?: () => void): void {
  process.send?.(message, undefined, undefined, sent);
}

// The program starts this file; tests import it, and serve with hooks of their own.
if (process.argv[1] === fileURLToPath(import.meta.url)) serve();
