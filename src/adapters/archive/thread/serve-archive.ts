import type { MessagePort } from 'node:worker_threads';
import type { ArchiveWriter } from '../../../ports/archive-writer.ts';
import type { Archive, ArchiveFailure, ArchiveState } from '../../../ports/archive.ts';
import type { Answer, Greeting, NextItem, Request, SentError } from './messages.ts';
import { buffersOf, isObject } from './transfer.ts';

/**
 * Answers a client in another thread until its port is closed, or its thread ends. What the client has begun by then is
 * undone. An archive may have several clients: their writes wait for each other.
 */
export function serveArchive(archive: Archive, port: MessagePort): void {
  const iterators = new Map<number, AsyncIterator<unknown>>();
  const writers = new Map<number, Writer>();
  const states: State[] = [];
  // Between 'enter-state' and 'leave-state', everything is read in that state.
  const method = (name: string): Method =>
    findMethod(hasMethod(states.at(-1)?.state, name) ? states.at(-1)?.state : archive, name);
  const status = { isClosed: false };

  const run = async (request: Request): Promise<unknown> => {
    switch (request.kind) {
      case 'call':
        return method(request.method)(...request.args);
      case 'iterate':
        iterators.set(request.id, iteratorOf(method(request.method)(...request.args)));
        return request.id;
      case 'next':
        return nextOf(iterators, request.iterator);
      case 'stop':
        await iterators.get(request.iterator)?.return?.();
        iterators.delete(request.iterator);
        return null;
      case 'begin': {
        const begun = await findMethod(archive, request.method)(...request.args);
        if (begun === null) return null;
        const writer = begun as Writer;
        if (status.isClosed) await writer.abandon();
        else writers.set(request.id, writer);
        return request.id;
      }
      case 'write': {
        const writer = writers.get(request.writer);
        if (request.step !== 'append') writers.delete(request.writer);
        return findMethod(writer, request.step)(...request.args);
      }
      case 'enter-state':
        await enterState(archive, states);
        if (status.isClosed) states.pop()?.leave();
        return null;
      case 'leave-state':
        states.pop()?.leave();
        return null;
      default:
        return request satisfies never;
    }
  };
  const answer = async (request: Request): Promise<void> => {
    try {
      const value = await run(request);
      const item = isObject(value) ? value['item'] : null;
      post(port, { id: request.id, kind: 'value', value }, request.kind === 'next' ? buffersOf(item) : []);
    } catch (error) {
      post(port, { id: request.id, kind: 'error', error: toSent(error) });
    }
  };

  port.on('message', (request: Request) => void answer(request));
  port.on('close', () => {
    status.isClosed = true;
    for (const { leave } of states) leave();
    // Nobody is left to hear of errors, and the archive may be closed already.
    for (const iterator of iterators.values()) void iterator.return?.().catch(() => undefined);
    for (const writer of writers.values()) void writer.abandon().catch(() => undefined);
  });
  const { path, isReadOnly, isReadableWhileStoring } = archive;
  const greeting: Greeting = {
    kind: 'greeting',
    path,
    isReadOnly,
    isReadableWhileStoring,
    methods: methodsOf(archive),
  };
  port.postMessage(greeting, []);
}

function post(port: MessagePort, answer: Answer, transfer: readonly ArrayBuffer[] = []): void {
  port.postMessage(answer, transfer);
}

type Writer = ArchiveWriter<unknown, unknown, unknown>;
type Method = (...args: readonly unknown[]) => unknown;

/** The names of a port's methods; `a.b`: one of a part of it. */
function methodsOf(port: object): readonly string[] {
  return Object.entries(port).flatMap(([name, value]: readonly [string, unknown]) => {
    if (typeof value === 'function') return [name];
    return isObject(value) ? methodsOf(value).map((method) => `${name}.${method}`) : [];
  });
}

function lookUp(thing: unknown, name: string): unknown {
  return name.split('.').reduce<unknown>((part, key) => (isObject(part) ? part[key] : undefined), thing);
}

function hasMethod(thing: unknown, name: string): boolean {
  return typeof lookUp(thing, name) === 'function';
}

/** The port's method of this name. */
function findMethod(thing: unknown, name: string): Method {
  const method = lookUp(thing, name);
  if (typeof method !== 'function') throw new Error(`an archive has no method '${name}'`);
  return (...args) => Reflect.apply(method, thing, args);
}

function iteratorOf(items: unknown): AsyncIterator<unknown> {
  if (isObject(items) && Symbol.asyncIterator in items)
    return (items as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  throw new Error('this method gives no iterable');
}

async function nextOf(iterators: Map<number, AsyncIterator<unknown>>, id: number): Promise<NextItem> {
  const next = await iterators.get(id)?.next();
  if (next !== undefined && next.done !== true) return { item: next.value };
  iterators.delete(id);
  return null;
}

type State = { readonly state: ArchiveState; readonly leave: () => void };

/** Comes back when the state is there; it lasts until its `leave` is called. */
async function enterState(archive: Archive, states: State[]): Promise<null> {
  const entered = Promise.withResolvers<null>();
  const work = archive.inOneState(async (state) => {
    const left = Promise.withResolvers<void>();
    states.push({ state, leave: left.resolve });
    entered.resolve(null);
    await left.promise;
  });
  work.catch(entered.reject);
  return entered.promise;
}

function toSent(error: unknown): SentError {
  if (!(error instanceof Error)) return { message: String(error), stack: null, failure: null };
  const failure = 'failure' in error ? (error.failure as ArchiveFailure) : null;
  return { message: error.message, stack: error.stack ?? null, failure };
}
