import type { MessagePort } from 'node:worker_threads';
import type { ArchiveWriter } from '../../../ports/archive-writer.ts';
import type { Archive, CompactionDraft, LineDraft, StoredAs } from '../../../ports/archive.ts';
import type { CaptureDraft, StoredCapture } from '../../../ports/captures.ts';
import { archiveError } from '../failure.ts';
import { deadThread, isDeadThread } from './dead-thread.ts';
import type { Answer, Greeting, NextItem, Request, SentError } from './messages.ts';
import { buffersOf, bytesOf } from './transfer.ts';

/** The lines on their way to the other thread, in bytes; their texts come on top. More lines wait, so that memory stays bounded. */
const MAX_BYTES_UNDERWAY = 8 * 1024 * 1024;

type Unnumbered<T> = T extends unknown ? Omit<T, 'id'> : never;
type Ask = (request: Unnumbered<Request>, transfer?: readonly ArrayBuffer[]) => Promise<unknown>;

/**
 * The archive that another thread serves at the other end of a port. If that thread ends, all calls reject with a
 * `DeadThreadError`; `ended` resolves to the reason.
 */
export async function connectArchive(port: MessagePort, ended?: Promise<string>): Promise<Archive> {
  const link = createLink(port, ended ?? Promise.resolve('its thread ended'));
  const greeting = await link.greeting;
  const { ask } = link;

  const methods = Object.fromEntries(
    greeting.methods.map((method) => [
      method,
      (...args: readonly unknown[]) =>
        ITERATED.has(method) ? iterateOver(ask, method, args) : ask({ kind: 'call', method, args }),
    ]),
  );
  const { path, isReadOnly, isReadableWhileStoring } = greeting;
  const remote = unflatten(methods) as Archive; // what the other side's archive has
  return {
    ...remote,
    path,
    isReadOnly,
    isReadableWhileStoring,
    begin: async (outline) =>
      createWriter<LineDraft, CompactionDraft, StoredAs>(
        ask,
        await ask({ kind: 'begin', method: 'begin', args: [outline] }),
      ),
    captures: {
      ...remote.captures,
      begin: async (outline) => {
        const writer = await ask({ kind: 'begin', method: 'captures.begin', args: [outline] });
        return writer === null ? null : createWriter<Uint8Array, CaptureDraft, StoredCapture>(ask, writer);
      },
    },
    inOneState: async (work) => {
      await ask({ kind: 'enter-state' });
      try {
        return await work(remote);
      } finally {
        await ask({ kind: 'leave-state' });
      }
    },
    close: async () => link.close(),
  };
}

/** The methods that give an iterable. */
const ITERATED: ReadonlySet<string> = new Set([
  'readOriginals',
  'readLines',
  'check',
  'captures.read',
  'retention.listErasable',
  'retention.readPieces',
]);

/** `{'a.b': x}` becomes `{a: {b: x}}`. */
function unflatten(flat: Readonly<Record<string, unknown>>): object {
  const whole: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(flat)) {
    const [first = '', second] = name.split('.');
    whole[first] = second === undefined ? value : { ...(whole[first] as object | undefined), [second]: value };
  }
  return whole;
}

/** Asks for the next item while the caller works on one. */
async function* iterateOver(ask: Ask, method: string, args: readonly unknown[]): AsyncGenerator {
  const iterator = Number(await ask({ kind: 'iterate', method, args }));
  const askNext = (): Promise<NextItem> => ask({ kind: 'next', iterator }) as Promise<NextItem>;
  let ahead = askNext();
  try {
    for (let next = await ahead; next !== null; next = await ahead) {
      ahead = askNext();
      ahead.catch(() => undefined); // thrown when it is awaited
      yield next.item;
    }
  } finally {
    await ask({ kind: 'stop', iterator }).catch(() => undefined); // an error ends the iteration before this
  }
}

/** `append` returns before the other thread has stored the lines, unless too many are underway. A later step throws what went wrong. */
function createWriter<Piece, Draft, Stored>(ask: Ask, writer: unknown): ArchiveWriter<Piece, Draft, Stored> {
  const underway: { readonly done: Promise<unknown>; readonly sizeBytes: number }[] = [];
  const status = { hasEnded: false, bytesUnderway: 0 };
  const step = (name: 'append' | 'commit' | 'abandon', args: readonly unknown[], lines?: readonly Piece[]) =>
    ask({ kind: 'write', writer: Number(writer), step: name, args }, lines === undefined ? [] : buffersOf(lines));
  const waitFor = async (maxBytes: number): Promise<void> => {
    while (status.bytesUnderway > maxBytes) {
      const first = underway.shift();
      status.bytesUnderway -= first?.sizeBytes ?? 0;
      try {
        await first?.done;
      } catch (error) {
        status.hasEnded = true;
        throw error;
      }
    }
  };
  const checkActive = (): void => {
    if (status.hasEnded) throw new Error('this compaction was stored or abandoned before');
  };
  return {
    append: async (lines) => {
      checkActive();
      const sizeBytes = lines.reduce((sum, line) => sum + (bytesOf(line)?.length ?? 0), 1);
      const done = step('append', [lines], lines);
      done.catch(() => undefined); // thrown when it is awaited
      underway.push({ done, sizeBytes });
      status.bytesUnderway += sizeBytes;
      await waitFor(MAX_BYTES_UNDERWAY);
    },
    commit: async (draft) => {
      checkActive();
      await waitFor(0);
      status.hasEnded = true;
      return (await step('commit', [draft])) as Stored;
    },
    abandon: async () => {
      if (status.hasEnded) return;
      status.hasEnded = true;
      try {
        await step('abandon', []);
      } catch (error) {
        if (!isDeadThread(error)) throw error; // SQLite has undone what a dead thread had not committed
      }
    },
  };
}

type Link = { readonly greeting: Promise<Greeting>; readonly ask: Ask; readonly close: () => void };

/** Matches answers to requests. The process does not stay alive for a port on which nothing is awaited. */
function createLink(port: MessagePort, ended: Promise<string>): Link {
  const greeting = Promise.withResolvers<Greeting>();
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const status = { lastId: 0, isOpen: true };
  const settle = (id: number): PromiseWithResolvers<unknown> | undefined => {
    const one = waiting.get(id);
    waiting.delete(id);
    if (waiting.size === 0) port.unref();
    return one;
  };
  port.on('message', (message: Answer | Greeting) => {
    if (message.kind === 'greeting') {
      port.unref();
      greeting.resolve(message);
    } else if (message.kind === 'value') settle(message.id)?.resolve(message.value);
    else settle(message.id)?.reject(toError(message.error));
  });
  port.on('close', async () => {
    status.isOpen = false;
    const error = deadThread(await ended);
    greeting.reject(error);
    for (const one of waiting.values()) one.reject(error);
    waiting.clear();
  });
  return {
    greeting: greeting.promise,
    ask: async (request, transfer = []) => {
      if (!status.isOpen) throw deadThread(await ended);
      status.lastId += 1;
      const id = status.lastId;
      const answer = Promise.withResolvers<unknown>();
      waiting.set(id, answer);
      port.ref();
      try {
        port.postMessage({ ...request, id }, transfer);
      } catch (error) {
        settle(id);
        throw error;
      }
      return answer.promise;
    },
    close: () => port.close(),
  };
}

function toError({ message, stack, failure }: SentError): Error {
  if (failure !== null) return archiveError(failure);
  const error = new Error(message);
  if (stack !== null) error.stack = stack;
  return error;
}
