import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { Reply } from './reply.ts';
import { bodyCheck, type Dialect } from './schemas.ts';
import { sendReply } from './send.ts';

/** A request as it came over the wire. */
export type RecordedRequest = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
};

/** The n-th request gets the n-th reply; a function is asked for each, with its number from 0. */
export type Script = readonly Reply[] | ((request: RecordedRequest, index: number) => Reply);

export type ModelServer = {
  /** Without a path: Anthropic's base URL as it is, OpenAI's with `/v1` behind it. */
  readonly url: string;
  /** As errors name it. */
  readonly host: string;
  readonly requests: readonly RecordedRequest[];
  /** Settles when nobody waits any longer for an answer to what was asked so far. */
  readonly allEnded: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** What was recorded, for whoever started the server as a process of its own. */
export const REQUESTS_PATH = '/recorded-requests';

const DIALECTS: Readonly<Record<string, Dialect>> = {
  '/v1/messages': 'anthropic',
  '/v1/chat/completions': 'openai',
};

/**
 * A real server on a free port of loopback that speaks both APIs by a script. A body that is not as the SDK's types have it is
 * answered with 400 and what is wrong; a request that the script does not know of with 418.
 */
export async function serveModels(script: Script): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  const ends: Promise<unknown>[] = [];
  const server = createServer((incoming, response) => {
    ends.push(once(response, 'close'));
    const handle = async (): Promise<void> => {
      if (incoming.method === 'GET' && incoming.url === REQUESTS_PATH) {
        response.end(JSON.stringify(requests));
        return undefined;
      }
      const dialect = DIALECTS[incoming.url ?? ''];
      if (dialect === undefined) return sendReply(response, NO_PATH, anyAsked);
      const request = await record(incoming);
      const index = requests.push(request) - 1;
      const problems = bodyCheck(dialect)(request.body);
      const reply = problems.length > 0 ? badBody(problems) : replyTo(script, request, index);
      const { stream, stream_options: options } = request.body;
      return sendReply(response, reply, { dialect, isStreamed: stream === true, hasUsage: options !== undefined });
    };
    handle().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    requests,
    allEnded: async () => {
      await Promise.all(ends);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const NO_PATH: Reply = { kind: 'error', status: 404, message: 'no such path' };
const anyAsked = { dialect: 'openai', isStreamed: false, hasUsage: false } as const;

function replyTo(script: Script, request: RecordedRequest, index: number): Reply {
  const reply = typeof script === 'function' ? script(request, index) : script[index];
  return reply ?? { kind: 'error', status: 418, message: `the script has no reply to request ${index + 1}` };
}

function badBody(problems: readonly string[]): Reply {
  return {
    kind: 'error',
    status: 400,
    message: `the request is not as the SDK's types have it: ${problems.join('; ')}`,
  };
}

async function record(incoming: IncomingMessage): Promise<RecordedRequest> {
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
  return { path: incoming.url ?? '', headers, body: JSON.parse(await readText(incoming)) };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (typeof address === 'object' && address !== null) resolve(address.port);
    });
  });
}
