import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { err, ok, type Result } from '../../../core/result.ts';
import type { Archive, ArchiveFailure } from '../../../ports/archive.ts';
import type { OpenArchiveOptions } from '../sqlite.ts';
import { connectArchive } from './connect-archive.ts';

export type ArchiveThreadRequest = { readonly kind: 'serve'; readonly port: MessagePort } | { readonly kind: 'close' };

/** An archive with a thread of its own, in which SQLite works. Other threads may use it through ports. */
export type ThreadedArchive = {
  readonly archive: Archive;
  /** Why the thread ended, when it has. */
  readonly ended: Promise<string>;
  /** A port for another client, which passes it to `connectArchive`. */
  readonly createPort: () => MessagePort;
};

/** Nearly everything that the thread gets is garbage soon, and by default V8 lets 50 MB of it pile up. */
const YOUNG_GENERATION_MB = 4;

/**
 * Opens an archive as `openArchive` does, in a thread of its own. The thread ends when the archive is closed. If it dies,
 * its calls reject, and SQLite undoes what was not committed.
 */
export async function openArchiveInThread(
  options: OpenArchiveOptions,
): Promise<Result<ThreadedArchive, ArchiveFailure>> {
  const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB };
  const worker = new Worker(workerFile(), { workerData: options, resourceLimits });
  const ended = whyEnded(worker);
  const stopped = ended.then((reason): ArchiveFailure => ({ kind: 'cannot-open', path: options.path, reason }));
  const failure = await Promise.race([firstFailure(worker), stopped]);
  if (failure !== null) {
    await worker.terminate();
    return err(failure);
  }
  worker.unref();
  const createPort = (): MessagePort => {
    const { port1, port2 } = new MessageChannel();
    send(worker, { kind: 'serve', port: port1 }, [port1]);
    return port2;
  };
  const archive = await connectArchive(createPort(), ended);
  const close = async (): Promise<void> => {
    worker.ref();
    send(worker, { kind: 'close' });
    await ended;
    await archive.close();
  };
  return ok({ archive: { ...archive, close }, ended, createPort });
}

/** The module of the thread: beside this one in the sources, an entry of its own in the bundle. */
function workerFile(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(isSource ? './archive-worker.ts' : '../archive-worker.js', import.meta.url);
}

/** Why the thread could not open the archive; null: it could. */
function firstFailure(worker: Worker): Promise<ArchiveFailure | null> {
  return new Promise((resolve) => worker.once('message', resolve));
}

/** Resolves when the thread has ended, however that happened. */
function whyEnded(worker: Worker): Promise<string> {
  return new Promise((resolve) => {
    worker.on('error', (error: Error & { readonly code?: string }) =>
      resolve(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? 'its thread ran out of memory'
          : `its thread failed (${error.message})`,
      ),
    );
    worker.once('exit', () => resolve('its thread ended'));
  });
}

function send(worker: Worker, request: ArchiveThreadRequest, transfer: readonly MessagePort[] = []): void {
  worker.postMessage(request, transfer);
}
