import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

/** What a producer asked of its model. */
export type Asked = { readonly path: string; readonly body: string };

export type MockModel = {
  /** Without a path. */
  readonly url: string;
  readonly asked: readonly Asked[];
  readonly close: () => void;
};

/** What the model answers to everything. */
export const ANSWER = 'the mock has answered';

/** A server on loopback that speaks as much of Anthropic's Messages and OpenAI's Responses as a producer needs for one answer. */
export async function serveMockModel(): Promise<MockModel> {
  const asked: Asked[] = [];
  const server = createServer((incoming, response) => {
    const handle = async (): Promise<void> => {
      const body = await readBody(incoming);
      const path = new URL(incoming.url ?? '/', 'http://mock').pathname;
      if (incoming.method === 'POST') asked.push({ path, body });
      const { type, text } = replyTo(path, body);
      // Codex would rather have a web socket: it is told at once that there is none.
      response.writeHead(incoming.headers.upgrade === undefined ? 200 : 426, { 'content-type': type });
      response.end(text);
    };
    handle().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the mock listens on no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const bytes = await buffer(incoming);
  return (incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
}

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';

function replyTo(path: string, body: string): { readonly type: string; readonly text: string } {
  if (path.endsWith('/responses')) return { type: STREAM_TYPE, text: toEvents(RESPONSE_EVENTS) };
  if (path.includes('enerateContent'))
    return { type: path.includes('stream') ? STREAM_TYPE : JSON_TYPE, text: geminiReply(path) };
  if (!path.endsWith('/v1/messages')) {
    return { type: JSON_TYPE, text: JSON.stringify({ object: 'list', data: [], models: [], input_tokens: 1 }) };
  }
  const isStreamed = /"stream"\s*:\s*true/.test(body);
  return isStreamed
    ? { type: STREAM_TYPE, text: toEvents(MESSAGE_EVENTS) }
    : { type: JSON_TYPE, text: JSON.stringify({ ...MESSAGE, content: [{ type: 'text', text: ANSWER }] }) };
}

function geminiReply(path: string): string {
  const content = { role: 'model', parts: [{ text: ANSWER }] };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const reply = JSON.stringify({ candidates: [{ content, finishReason: 'STOP', index: 0 }], usageMetadata });
  return path.includes('stream') ? `data: ${reply}\n\n` : reply;
}

type ModelEvent = { readonly type: string; readonly [field: string]: unknown };

function toEvents(events: readonly ModelEvent[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

const MESSAGE = {
  id: 'msg_mock',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
};

const MESSAGE_EVENTS = [
  { type: 'message_start', message: { ...MESSAGE, stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ANSWER } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
] as const satisfies readonly ModelEvent[];

const RESPONSE_EVENTS = [
  { type: 'response.created', response: { id: 'resp_mock' } },
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: { type: 'message', id: 'msg_mock', role: 'assistant', content: [{ type: 'output_text', text: ANSWER }] },
  },
  {
    type: 'response.completed',
    response: {
      id: 'resp_mock',
      usage: {
        input_tokens: 1,
        input_tokens_details: null,
        output_tokens: 1,
        output_tokens_details: null,
        total_tokens: 2,
      },
    },
  },
] as const satisfies readonly ModelEvent[];
