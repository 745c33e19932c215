import type { Readable } from 'node:stream';
import { readQueryGroups } from '../query-lines.ts';
import { safeJson } from '../render/safe-text.ts';
import { systemCode } from '../system-failure.ts';
import { clipField } from './bounds.ts';

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
  return {
    read: async (onValue) => {
      const take = (line: string): void => {
        const value = parse(line);
        if (value === undefined) {
          return notice(`a line of standard input is no JSON, and was passed over: ${clipField(line)}`);
        }
        const { asked, withdrawn } = readRequest(value);
        if (asked !== null) unanswered.add(asked);
        unanswered.delete(withdrawn);
        onValue(value);
      };
      try {
        const groups = readQueryGroups(input, AbortSignal.any([signal, closing.signal]));
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
      if (closing.signal.aborted) return;
      // A person who looks on must be safe from what a transcript holds, and so must a reader that ends lines at U+2028.
      const isRead = write(`${safeJson(JSON.stringify(value))}\n`);
      unanswered.delete(readAnswered(value));
      if (isRead) endIfAnswered();
      else close();
    },
    close,
  };
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

export function isRequestId(id: unknown): id is string | number {
  return typeof id === 'string' || typeof id === 'number';
}

type Fields = {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly requestId?: unknown;
};

/** Of a message that nobody has checked yet. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? value : {};
}
