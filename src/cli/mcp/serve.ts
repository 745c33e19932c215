import type { Readable } from 'node:stream';
import {
  type CallToolResult,
  type JSONRPCMessage,
  McpServer,
  parseJSONRPCMessage,
  type Tool as ListedTool,
  type Transport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { systemCode, parseJson } from '../../core/result.ts';
import { readQueryGroups } from '../commands/search.ts';
import { safeJson } from '../../messages/text.ts';
import { MAX_ANSWER_CHARS, takeChars, type Tool } from './tool.ts';

export type ServeOptions = WireOptions & {
  readonly version: string;
  readonly instructions: string;
  readonly tools: readonly Tool[];
  /** Called with an unexpected exception; returns what the model is told. */
  readonly onBug: (error: unknown) => string;
};

/** Speaks the Model Context Protocol until the input has ended and every request is answered, the reader is gone, or the signal comes. */
export async function serve(options: ServeOptions): Promise<void> {
  const { signal, notice } = options;
  const running = new Set<Promise<unknown>>();
  const { transport, ended, close } = createWire(options);
  const createServer = (): McpServer => buildServer(options, running);
  const handle = serveStdio(createServer, { transport, onerror: ({ message }) => notice(clipEcho(message)) });
  signal.addEventListener('abort', close);
  await ended;
  signal.removeEventListener('abort', close);
  await handle.close();
  // A running call finishes its work on files and the archive.
  await Promise.allSettled(running);
}

function buildServer(options: ServeOptions, running: Set<Promise<unknown>>): McpServer {
  const { version, instructions, tools } = options;
  const server = new McpServer(
    { name: 'compact', title: 'compact: past conversations', version },
    { instructions, capabilities: { tools: { listChanged: false } } },
  );
  for (const tool of tools) {
    const { name, title, description, input, hints } = tool;
    const config = { title, description, inputSchema: input, annotations: hints };
    server.registerTool(name, config, async (args, { mcpReq }) => {
      const answer = callTool(tool, args, { ...options, signal: AbortSignal.any([options.signal, mcpReq.signal]) });
      running.add(answer);
      return answer.finally(() => running.delete(answer));
    });
  }
  // A tool that is not offered can still be called: the answer then says what to do.
  const offered = tools.filter(({ isOffered }) => isOffered);
  server.server.setRequestHandler('tools/list', () => ({
    tools: offered.map(({ name, title, description, input, hints }): ListedTool => {
      const schema = JSON_FIELDS.parse(z.toJSONSchema(input, { io: 'input' }));
      return { name, title, description, inputSchema: { ...schema, type: 'object' }, annotations: { ...hints } };
    }),
  }));
  return server;
}

const JSON_FIELDS = z.record(z.string(), z.json());

async function callTool(
  tool: Tool,
  args: unknown,
  { signal, onBug }: Pick<ServeOptions, 'signal' | 'onBug'>,
): Promise<CallToolResult> {
  try {
    const outcome = await tool.call(args, signal);
    if (!outcome.ok) return failed(outcome.error);
    const { text, data } = outcome.value;
    return { content: [{ type: 'text', text }], structuredContent: { ...data } };
  } catch (error) {
    // Errors while aborting are expected, and nobody waits for the answer.
    return failed(signal.aborted ? 'interrupted' : onBug(error));
  }
}

function failed(text: string): CallToolResult {
  return { content: [{ type: 'text', text: takeChars(text, MAX_ANSWER_CHARS) }], isError: true };
}

/** No client needs a larger request; the answer to one is an error. */
const MAX_REQUEST_BYTES = 1024 * 1024;
/** How much of a client's message stderr shows: people read logs and keep them. */
const MAX_ECHO_CHARS = 80;
/** Of a batch; a client with more requests sends several. */
const MAX_REQUESTS = 100;

/** Both ends of a connection. */
type WireOptions = {
  readonly input: Readable;
  /** Writes a line; false: the reader is gone. */
  readonly write: (line: string) => boolean;
  readonly signal: AbortSignal;
  /** Called with what is wrong with a line. */
  readonly notice: (sentence: string) => void;
};

/** Requests in an array, whose answers go into one. `openCount`: requests without an answer, and 1 while it is read. */
type Batch = { readonly answers: unknown[]; openCount: number };

/**
 * JSON lines in both directions, and batches of JSON-RPC as in protocol 2025-03-26. Requests from before the end of the input are still
 * answered: the protocol's own reader and writer would drop them, and keep answers in memory. `ended`: every request is answered and no more
 * input can come, or the wire was closed.
 */
function createWire({ input, write, signal, notice }: WireOptions) {
  const closing = new AbortController();
  const ended = Promise.withResolvers<void>();
  /** The requests without an answer, each with its batch. */
  const waiting = new Map<RequestId, Batch | null>();
  let isOver = false;
  const endIfAnswered = (): void => {
    if (isOver && waiting.size === 0) ended.resolve();
  };
  const close = (): void => {
    closing.abort();
    ended.resolve();
  };
  const writeOut = (value: unknown): void => {
    if (closing.signal.aborted) return;
    // Escape what could harm a person's terminal, or a reader that ends lines at U+2028.
    if (!write(`${safeJson(JSON.stringify(value))}\n`)) close();
  };
  const closeOne = (batch: Batch): void => {
    batch.openCount -= 1;
    if (batch.openCount === 0 && batch.answers.length > 0) writeOut(batch.answers);
  };
  /** No answer: the client withdrew its request. */
  const settle = (id: unknown, answer?: unknown): void => {
    const batch = isRequestId(id) ? waiting.get(id) : undefined;
    if (isRequestId(id)) waiting.delete(id);
    if (batch === undefined || batch === null) {
      if (answer !== undefined) writeOut(answer);
    } else {
      if (answer !== undefined) batch.answers.push(answer);
      closeOne(batch);
    }
    endIfAnswered();
  };
  const receive = (value: unknown, batch: Batch | null): void => {
    const { id, method, params } = fieldsOf(value);
    const isRequest = isRequestId(id) && !isResponse(value);
    if (isRequest && (waiting.get(id) ?? null) !== null) {
      const refusal = rpcError(id, 'invalid', 'Another request has this id');
      if (batch === null) writeOut(refusal);
      else batch.answers.push(refusal);
      return;
    }
    if (method === 'notifications/cancelled') settle(fieldsOf(params).requestId);
    // A subscription gets no answer.
    if (isRequest && method !== 'subscriptions/listen') {
      waiting.set(id, batch);
      if (batch !== null) batch.openCount += 1;
    }
    const message = readMessage(value);
    if (message !== null) return transport.onmessage?.(message);
    if (isResponse(value)) return;
    const refusal = rpcError(isRequestId(id) ? id : null, 'invalid', 'Not a JSON-RPC 2.0 message');
    if (batch === null || isRequestId(id)) settle(id, refusal);
    else batch.answers.push(refusal);
  };
  const receiveBatch = (values: readonly unknown[]): void => {
    if (values.length === 0 || values.length > MAX_REQUESTS)
      return writeOut(rpcError(null, 'invalid', `A batch has 1 to ${MAX_REQUESTS} requests`));
    const batch: Batch = { answers: [], openCount: 1 };
    for (const value of values) receive(value, batch);
    closeOne(batch);
  };
  const take = (line: string): void => {
    if (Buffer.byteLength(line) > MAX_REQUEST_BYTES) {
      notice('a request is larger than 1 MiB and was refused');
      return writeOut(rpcError(null, 'invalid', 'The request is larger than 1 MiB. Ask for less at a time.'));
    }
    const value = parseJson(line);
    if (value === undefined) {
      notice(`a line of standard input is not valid JSON: ${clipEcho(line)}`);
      return writeOut(rpcError(null, 'parse', 'Not valid JSON'));
    }
    if (Array.isArray(value)) receiveBatch(value);
    else receive(value, null);
  };
  const readAll = async (): Promise<void> => {
    try {
      const groups = readQueryGroups(input, AbortSignal.any([signal, closing.signal]), MAX_REQUEST_BYTES + 1);
      for await (const lines of groups) for (const line of lines) if (line.trim() !== '') take(line);
    } catch (error) {
      const code = systemCode(error);
      if (code === null) throw error;
      notice(`standard input cannot be read any more (${code})`);
    }
    isOver = true;
    if (signal.aborted) close();
    endIfAnswered();
  };
  const transport: Transport = {
    start: async () => void readAll().catch(ended.reject),
    send: async (message) => {
      const { id, method } = fieldsOf(message);
      settle(method === undefined ? id : undefined, message);
    },
    close: async () => {
      close();
      transport.onclose?.();
    },
  };
  return { transport, ended: ended.promise, close };
}

/** The beginning of what a client sent, for a message on stderr. */
function clipEcho(text: string): string {
  return text.length <= MAX_ECHO_CHARS ? text : `${takeChars(text, MAX_ECHO_CHARS - 1)}…`;
}

function readMessage(value: unknown): JSONRPCMessage | null {
  try {
    return parseJSONRPCMessage(value);
  } catch (error) {
    if (error instanceof z.core.$ZodError) return null;
    throw error;
  }
}

type RequestId = string | number;

/** JSON-RPC 2.0's codes for invalid requests. */
const RPC_ERRORS = { parse: -32_700, invalid: -32_600 } as const;

/** The answer to an invalid request; `id` null: it could not be read. */
function rpcError(id: RequestId | null, kind: keyof typeof RPC_ERRORS, message: string): object {
  return { jsonrpc: '2.0', id, error: { code: RPC_ERRORS[kind], message } };
}

/** The fields of an unchecked message. */
function fieldsOf(value: unknown): {
  readonly [name in 'id' | 'method' | 'params' | 'requestId' | 'result' | 'error']?: unknown;
} {
  return typeof value === 'object' && value !== null ? value : {};
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === 'string' || typeof id === 'number';
}

/** A client's answer to a request of ours; it gets no answer, even if it is malformed. */
function isResponse(value: unknown): boolean {
  const { method, result, error } = fieldsOf(value);
  return method === undefined && (result !== undefined || error !== undefined);
}
