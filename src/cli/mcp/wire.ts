import type { Readable } from 'node:stream';
import { readQueryGroups } from '../commands/search.ts';
import { safeJson } from '../render/text.ts';
import { takeChars } from './tool.ts';
import { systemCode } from '../../core/result.ts';

/** No client needs a larger request; the answer to one is an error. */
const MAX_REQUEST_BYTES = 1024 * 1024;
/** How much of a client's message stderr shows: people read logs and keep them. */
const MAX_ECHO_CHARS = 80;

/** Both ends of a connection. */
export type WireOptions = {
  readonly input: Readable;
  /** Writes a line; false: the reader is gone. */
  readonly write: (line: string) => boolean;
  readonly signal: AbortSignal;
  /** Called with what is wrong with a line. */
  readonly notice: (sentence: string) => void;
};

export type Wire = {
  /** Passes on each value that arrives; ends when every request is answered and no more input can come. */
  readonly read: (onValue: (value: unknown) => void) => Promise<void>;
  readonly send: (value: unknown) => void;
  readonly close: () => void;
};

/** JSON lines in both directions. Requests from before the end of the input are still answered. */
export function createWire({ input, write, signal, notice }: WireOptions): Wire {
  const closing = new AbortController();
  const unanswered = new Set<unknown>();
  const ended = Promise.withResolvers<void>();
  const state = { isOver: false };
  const endIfAnswered = (): void => {
    if (state.isOver && unanswered.size === 0) ended.resolve();
  };
  const close = (): void => {
    closing.abort();
    ended.resolve();
  };
  const writeOut = (value: unknown): void => {
    if (closing.signal.aborted) return;
    // Escape what could harm a person's terminal, or a reader that ends lines at U+2028.
    const isRead = write(`${safeJson(JSON.stringify(value))}\n`);
    if (isRead) endIfAnswered();
    else close();
  };
  const batches = createBatches(writeOut);
  return {
    read: async (onValue) => {
      const deliver = (value: unknown): void => {
        const { request, cancelled } = readRequest(value);
        if (request !== null) unanswered.add(request);
        if (cancelled !== undefined) {
          unanswered.delete(cancelled);
          batches.cancel(cancelled);
        }
        onValue(value);
      };
      const take = (line: string): void => {
        if (Buffer.byteLength(line) > MAX_REQUEST_BYTES) {
          notice('a request is larger than 1 MiB and was refused');
          return writeOut(rpcError(null, 'invalid', 'The request is larger than 1 MiB. Ask for less at a time.'));
        }
        const value = parse(line);
        if (value === undefined) {
          notice(`a line of standard input is not valid JSON: ${clipEcho(line)}`);
          return writeOut(rpcError(null, 'parse', 'Not valid JSON'));
        }
        if (Array.isArray(value)) batches.read(value, deliver);
        else deliver(value);
      };
      try {
        const groups = readQueryGroups(input, AbortSignal.any([signal, closing.signal]), MAX_REQUEST_BYTES + 1);
        for await (const lines of groups) for (const line of lines) if (line.trim() !== '') take(line);
      } catch (error) {
        const code = systemCode(error);
        if (code === null) throw error;
        notice(`standard input cannot be read any more (${code})`);
      }
      state.isOver = true;
      if (signal.aborted) close();
      endIfAnswered();
      await ended.promise;
    },
    send: (value) => {
      const id = readAnswered(value);
      unanswered.delete(id);
      if (!batches.take(id, value)) writeOut(value);
    },
    close,
  };
}

/** The beginning of what a client sent, for a message on stderr. */
export function clipEcho(text: string): string {
  return text.length <= MAX_ECHO_CHARS ? text : `${takeChars(text, MAX_ECHO_CHARS - 1)}…`;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

type RequestFacts = { readonly request: unknown; readonly cancelled: unknown };

/** Subscriptions and cancelled requests get no answer. */
function readRequest(value: unknown): RequestFacts {
  const { id, method, params } = fieldsOf(value);
  if (method === 'notifications/cancelled') return { request: null, cancelled: fieldsOf(params).requestId };
  const isAnswered = isRequestId(id) && method !== undefined && method !== 'subscriptions/listen';
  return { request: isAnswered ? id : null, cancelled: undefined };
}

function readAnswered(value: unknown): unknown {
  const { id, method } = fieldsOf(value);
  return method === undefined ? id : undefined;
}

/** A client with more requests sends several batches. */
const MAX_REQUESTS = 100;

type Batch = { readonly waiting: Set<RequestId>; readonly answers: unknown[]; isRead: boolean };

type Batches = {
  /** Passes on each request of a batch. */
  readonly read: (values: readonly unknown[], deliver: (value: unknown) => void) => void;
  /** Keeps the answer to a request of a batch until the others are there; false: it belongs to no batch. */
  readonly take: (id: unknown, answer: unknown) => boolean;
  /** The client cancelled the request: its batch does not wait for it. */
  readonly cancel: (id: unknown) => void;
};

/** Batches of JSON-RPC as in protocol 2025-03-26: requests in an array, and their answers in one. `write` gets what to send. */
function createBatches(write: (value: unknown) => void): Batches {
  const batchOf = new Map<unknown, Batch>();
  const finish = (batch: Batch): void => {
    if (batch.isRead && batch.waiting.size === 0 && batch.answers.length > 0) write(batch.answers);
  };
  const settle = (id: unknown, answer?: unknown): boolean => {
    const batch = batchOf.get(id);
    if (batch === undefined || !isRequestId(id)) return false;
    batchOf.delete(id);
    batch.waiting.delete(id);
    if (answer !== undefined) batch.answers.push(answer);
    finish(batch);
    return true;
  };
  return {
    read: (values, deliver) => {
      if (values.length === 0 || values.length > MAX_REQUESTS) {
        return write(rpcError(null, 'invalid', `A batch has 1 to ${MAX_REQUESTS} requests`));
      }
      const batch: Batch = { waiting: new Set(), answers: [], isRead: false };
      for (const value of values) {
        const { id, method } = fieldsOf(value);
        if (!isRequestId(id)) {
          if (typeof method === 'string' || isResponse(value)) deliver(value);
          else batch.answers.push(rpcError(null, 'invalid', 'Not a JSON-RPC 2.0 message'));
        } else if (isResponse(value)) {
          deliver(value);
        } else if (batchOf.has(id)) {
          batch.answers.push(rpcError(id, 'invalid', 'Another request has this id'));
        } else {
          batch.waiting.add(id);
          batchOf.set(id, batch);
          deliver(value);
        }
      }
      batch.isRead = true;
      finish(batch);
    },
    take: settle,
    cancel: (id) => void settle(id),
  };
}

/** JSON-RPC 2.0's codes for invalid requests. */
const RPC_ERRORS = { parse: -32_700, invalid: -32_600 } as const;

type RequestId = string | number;

/** The answer to an invalid request; `id` null: it could not be read. */
export function rpcError(id: RequestId | null, kind: keyof typeof RPC_ERRORS, message: string): object {
  return { jsonrpc: '2.0', id, error: { code: RPC_ERRORS[kind], message } };
}

type Fields = {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly requestId?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
};

/** The fields of an unchecked message. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? value : {};
}

export function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || typeof id === 'number';
}

/** A client's answer to a request of ours; it gets no answer, even if it is malformed. */
export function isResponse(value: unknown): boolean {
  const { method, result, error } = fieldsOf(value);
  return method === undefined && (result !== undefined || error !== undefined);
}
