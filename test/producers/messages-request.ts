import { type Fields, listOf, parseFields, textOf } from './json.ts';
import type { Asked } from './mock-model.ts';

/** What was sent to the Messages API, as far as it is looked at. */
export type SentMessages = {
  readonly count: number;
  readonly texts: readonly string[];
  readonly calls: readonly string[];
  readonly results: readonly string[];
};

/** The request that has a prompt in it; of several the longest, since programs ask for other things beside. */
export function readMessagesRequest(asked: readonly Asked[], prompt: string): SentMessages {
  const messages =
    asked
      .filter(({ path, body }) => path.endsWith('/v1/messages') && body.includes(prompt))
      .map(({ body }) => listOf(parseFields(body)?.['messages']))
      .toSorted((a, b) => b.length - a.length)[0] ?? [];
  const blocks = messages.flatMap(blocksOf);
  return {
    count: messages.length,
    texts: blocks.flatMap((block) => textOf(block['text']) ?? []),
    calls: idsOf(blocks, 'tool_use', 'id'),
    results: idsOf(blocks, 'tool_result', 'tool_use_id'),
  };
}

function blocksOf({ content }: Fields): readonly Fields[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);
}

function idsOf(blocks: readonly Fields[], type: string, key: string): readonly string[] {
  return blocks.filter((block) => block['type'] === type).flatMap((block) => textOf(block[key]) ?? []);
}
