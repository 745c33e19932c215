import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { anthropicError, anthropicEvents, anthropicMessage } from './anthropic-wire.ts';
import { openAiCompletion, openAiError, openAiEvents } from './openai-wire.ts';
import { expireDeadlines } from '../held-deadlines.ts';
import type { AnswerReply, Reply } from './reply.ts';
import type { Dialect } from './schemas.ts';

export type Asked = {
  readonly dialect: Dialect;
  readonly isStreamed: boolean;
  readonly hasUsage: boolean;
};

const JSON_TYPE = 'application/json';

/** Does with a request what the reply says. */
export async function sendReply(response: ServerResponse, reply: Reply, asked: Asked): Promise<void> {
  switch (reply.kind) {
    case 'answer':
      return sendAnswer(response, reply, asked);
    case 'error': {
      const error = asked.dialect === 'anthropic' ? anthropicError(reply) : openAiError(reply);
      response.writeHead(reply.status, { 'content-type': JSON_TYPE, ...reply.headers });
      response.end(JSON.stringify(error));
      return;
    }
    case 'raw':
      response.writeHead(reply.status, { 'content-type': JSON_TYPE, ...reply.headers });
      response.end(reply.body);
      return;
    case 'hang':
      expireDeadlines();
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'endless':
      return sendWithoutEnd(response, reply.status);
  }
}

async function sendAnswer(response: ServerResponse, reply: AnswerReply, asked: Asked): Promise<void> {
  const isAnthropic = asked.dialect === 'anthropic';
  if (!asked.isStreamed || reply.isWhole === true) {
    response.writeHead(200, { 'content-type': reply.contentType ?? JSON_TYPE });
    response.end(JSON.stringify(isAnthropic ? anthropicMessage(reply) : openAiCompletion(reply)));
    return;
  }
  response.writeHead(200, { 'content-type': reply.contentType ?? 'text/event-stream; charset=utf-8' });
  const events = isAnthropic ? anthropicEvents(reply) : openAiEvents(reply, asked.hasUsage);
  const middle = Math.ceil(events.length / 2);
  for (const [at, event] of events.entries()) {
    if (at === middle && reply.half !== undefined) {
      if (reply.half === 'end') break;
      if (reply.half === 'hang') {
        expireDeadlines();
        return;
      }
      if (reply.half === 'reset') {
        // What was written is to arrive first.
        await sleep(5);
        response.socket?.resetAndDestroy();
        return;
      }
      response.write(reply.half.bytes);
    }
    response.write(event);
    if (reply.pauseMs !== undefined) await sleep(reply.pauseMs, undefined, { ref: false });
    if (at === middle && reply.pauseMs !== undefined) expireDeadlines();
    if (response.destroyed) return;
  }
  response.end();
}

async function sendWithoutEnd(response: ServerResponse, status: number): Promise<void> {
  response.writeHead(status, { 'content-type': 'text/event-stream' });
  await pipeline(Readable.from(withoutEnd()), response).catch(() => undefined); // whoever reads it goes away
}

function* withoutEnd(): Iterable<Buffer> {
  const lines = Buffer.from(`${'x'.repeat(1023)}\n`.repeat(1024));
  for (;;) yield lines;
}
