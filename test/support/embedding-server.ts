import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

export type EmbeddingsAsked = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions?: number;
};

/** 'answer': vectors as they should be; 'hang': nothing, ever; 'reset': the connection breaks off. */
export type EmbeddingsReply =
  | 'answer'
  | 'hang'
  | 'reset'
  | {
      readonly status?: number;
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    };

export type EmbeddingServer = {
  /** With `/v1`. */
  readonly url: string;
  readonly host: string;
  readonly asked: readonly EmbeddingsAsked[];
};

const TOY_DIMENSIONS = 64;

/**
 * A vector that is the same for the same text, and points nearly the same way for texts that share words: each word adds a direction that its
 * letters give. `synonyms` are words that stand for others.
 */
export function toyVector(
  text: string,
  dimensions = TOY_DIMENSIONS,
  synonyms: Readonly<Record<string, string>> = {},
): readonly number[] {
  const vector = Array.from({ length: dimensions }, () => 0.001);
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    let hash = 2_166_136_261;
    for (const letter of synonyms[word] ?? word)
      hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 16_777_619) >>> 0;
    for (let at = 0; at < dimensions; at += 1) {
      hash = (Math.imul(hash, 1_664_525) + 1_013_904_223) >>> 0;
      vector[at] = (vector[at] ?? 0) + hash / 2 ** 31 - 1;
    }
  }
  return vector;
}

/** The body of a good answer. */
export function embeddingsBody(vectors: readonly (readonly number[] | string)[]): unknown {
  const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
  return { object: 'list', data, model: 'toy', usage: { prompt_tokens: 7, total_tokens: 7 } };
}

/** A server of embeddings on a free port of loopback, gone when the test is over. */
export async function startEmbeddingServer(
  context: TestContext,
  script: (asked: EmbeddingsAsked, index: number) => EmbeddingsReply = () => 'answer',
  synonyms: Readonly<Record<string, string>> = {},
): Promise<EmbeddingServer> {
  const asked: EmbeddingsAsked[] = [];
  const server = createServer((incoming, response) => {
    const handle = async (): Promise<void> => {
      const body = readBody(JSON.parse(await readText(incoming)));
      const one: EmbeddingsAsked = { path: incoming.url ?? '', headers: incoming.headers, ...body };
      const reply = script(one, asked.push(one) - 1);
      const vectors = one.input.map((text) => toyVector(text, one.dimensions, synonyms));
      send(response, reply === 'answer' ? { body: embeddingsBody(vectors) } : reply);
    };
    handle().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/v1`, host: `127.0.0.1:${port}`, asked };
}

/** A closed world: a request with anything else in it is a bug. */
function readBody(body: Readonly<Record<string, unknown>>): Pick<EmbeddingsAsked, 'model' | 'input' | 'dimensions'> {
  const { model, input, dimensions, ...rest } = body;
  const isKnown = Object.keys(rest).length === 0 && typeof model === 'string' && Array.isArray(input);
  if (!isKnown) throw new Error(`no request for embeddings: ${JSON.stringify(body)}`);
  const texts = input.map((text: unknown) => {
    if (typeof text !== 'string' || text === '') throw new Error('a text is none, or empty');
    return text;
  });
  return typeof dimensions === 'number' ? { model, input: texts, dimensions } : { model, input: texts };
}

function send(response: ServerResponse, reply: Exclude<EmbeddingsReply, 'answer'>): void {
  if (reply === 'hang') return;
  if (reply === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  const { status = 200, body, headers = {} } = reply;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}
