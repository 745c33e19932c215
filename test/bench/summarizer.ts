import { createExtractiveProvider } from '../../src/adapters/model/extractive.ts';
import type { ConversationMessage } from '../../src/core/message.ts';
import { createWriter } from './prose.ts';

/** Summarizes about a million tokens of made-up talk, chunk after chunk as a compaction does. Prints seconds per million tokens, as JSON. */
const MESSAGES_A_CHUNK = 20;
const CHUNKS = 100;

const writer = createWriter(4);
const chunkOf = (chunk: number): readonly ConversationMessage[] =>
  Array.from({ length: MESSAGES_A_CHUNK }, (_, at) => ({
    id: `${chunk}-${at}`,
    conversation_id: 'bench',
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: writer.paragraph(2 + writer.below(30)),
    created_at: null,
  }));
const chunks = Array.from({ length: CHUNKS }, (_, chunk) => chunkOf(chunk));
const chars = chunks.flat().reduce((sum, { content }) => sum + content.length, 0);
const model = createExtractiveProvider();
const before = performance.now();
const cpuBefore = process.cpuUsage();
for (const messages of chunks) {
  await model.complete({
    messages: [],
    model: 'extractive',
    max_tokens: 400,
    source: { kind: 'chunk', messages, earlier: [] },
  });
}
const wallMs = performance.now() - before;
const { user, system } = process.cpuUsage(cpuBefore);
const millionTokens = chars / 4 / 1_000_000;
const perMillion = (ms: number): number => ms / 1000 / millionTokens;
process.stdout.write(
  `${JSON.stringify({ seconds: perMillion(wallMs), cpuSeconds: perMillion((user + system) / 1000) })}\n`,
);
