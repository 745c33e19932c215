import { z } from 'zod';

/**
 * The records of chat lines, as far as they are read; everything else in them is carried along. Decoding runs over gigabytes and
 * narrows by hand: this is the statement of the shapes, and a test holds both equal.
 */

const id = z.union([z.string(), z.number()]).nullish();
/** ISO 8601, or seconds or milliseconds since 1970. */
const time = z.union([z.string(), z.number()]).nullish();

/**
 * A record with a role and content can be malformed in nothing but that role; without content, in having its words elsewhere. One without a
 * role is always carried.
 */
export const spokenRecord = z.looseObject({ role: z.string() });

/** OpenAI: `{role, content: string | parts | null, tool_calls, tool_call_id, name}`; `function_call` is its older form. */
export const openAiRecord = spokenRecord.extend({
  content: z.union([z.string(), z.array(z.unknown())]).nullish(),
  tool_calls: z
    .array(
      z.looseObject({
        id: z.string(),
        type: z.literal('function'),
        function: z.looseObject({ name: z.string(), arguments: z.string() }),
      }),
    )
    .nullish(),
  tool_call_id: z.string().nullish(),
  name: z.string().nullish(),
});

/** Anthropic: content is text or blocks; results stand in a user's record. */
export const anthropicRecord = z.looseObject({
  role: z.enum(['user', 'assistant']),
  content: z.union([
    z.string(),
    z.array(
      z.union([
        z.looseObject({ type: z.literal('text'), text: z.string() }),
        z.looseObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown() }),
        z.looseObject({
          type: z.literal('tool_result'),
          tool_use_id: z.string(),
          content: z.union([z.string(), z.array(z.unknown())]).optional(),
          is_error: z.boolean().optional(),
        }),
        z.looseObject({ type: z.enum(['thinking', 'redacted_thinking', 'image', 'document']) }),
      ]),
    ),
  ]),
});

/** Records that Kimi CLI keeps between its messages. */
export const kimiRecord = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('_system_prompt'), content: z.string() }),
  z.looseObject({ role: z.literal('_checkpoint'), id: z.number() }),
  z.looseObject({ role: z.literal('_usage'), token_count: z.number() }),
]);

/** A row of a table of messages. `tool_calls` are Anthropic's blocks, or the same as JSON text. */
export const databaseRow = z.looseObject({
  id,
  conversation_id: z.union([z.string(), z.number()]),
  role: z.enum(['user', 'assistant', 'system', 'tool']),
  content: z.string(),
  tool_calls: z.union([z.string(), z.array(z.looseObject({ id: z.string(), name: z.string() }))]).nullish(),
  tool_call_id: z.string().nullish(),
  created_at: time,
});
