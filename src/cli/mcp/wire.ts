import type { Readable } from 'node:stream';
import { readQueryGroups } from '../query-lines.ts';
import { safeJson } from '../render/safe-text.ts';
import { systemCode } from '../system-failure.ts';
import { createBatches } from './batches.ts';
import { takeChars } from './bounds.ts';
import { fieldsOf, isRequestId, rpcError } from './rpc.ts';

/** No request of a client needs more; a larger one is answered with an error. */
const MAX_REQUEST_BYTES = 1024 * 1024;
/** Of what a client says, on stderr: logs are read by people, and kept. */
const MAX_ECHO_CHARS = 80;

/** The two ends of a connection. */
export type WireOptions = {
  readonly input: Readable;
  /** Writes a line; false: nobody reads any more. */
  readonly write: (line: string) => boolean;
  readonly signal: AbortSignal;
  /** Told what is wrong with a line. */
  readonly notice: (sentence: string) => void;
};

export type Wire = {
  /** Hands over each value that comes in; over when all that was asked is answered and nothing more can come. */
  readonly read: (onValue: (value: unknown) => void) => Promise<void>;
  readonly send: (value: unknown) => void;
  readonly close: () => void;
};

/** JSON lines in both directions. What was asked before the input ended is answered still. */
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
    // A person who looks on must be safe from what a transcript holds, and so must a reader that ends lines at U+2028.
    const isRead = write(`${safeJson(JSON.stringify(value))}\n`);
    if (isRead) endIfAnswered();
    else close();
  };
  const batches = createBatches(writeOut);
  return {
    read: async (onValue) => {
      const deliver = (value: unknown): void => {
        const { asked, withdrawn } = readRequest(value);
        if (asked !== null) unanswered.add(asked);
        if (withdrawn !== undefined) {
          unanswered.delete(withdrawn);
          batches.withdraw(withdrawn);
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

type RequestFacts = { readonly asked: unknown; readonly withdrawn: unknown };

/** A subscription is never answered, and what was withdrawn is not either. */
function readRequest(value: unknown): RequestFacts {
  const { id, method, params } = fieldsOf(value);
  if (method === 'notifications/cancelled') return { asked: null, withdrawn: fieldsOf(params).requestId };
  const isAnswered = isRequestId(id) && method !== undefined && method !== 'subscriptions/listen';
  return { asked: isAnswered ? id : null, withdrawn: undefined };
}

function readAnswered(value: unknown): unknown {
  const { id, method } = fieldsOf(value);
  return method === undefined ? id : undefined;
}
