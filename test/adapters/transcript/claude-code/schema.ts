import { z } from 'zod';

/**
 * The records of a session file, as far as they are read; everything else in them is carried along. Decoding runs over gigabytes and
 * narrows by hand: this is the statement of the shapes, and a test holds both equal.
 */

const id = z.string().nullish();

/** Types user and assistant: the only records that can be malformed. A record of any other type is always carried. */
export const conversationRecord = z.looseObject({
  type: z.enum(['user', 'assistant']),
  uuid: id,
  parentUuid: id,
  message: z.looseObject({
    role: z.string().optional(),
    content: z.union([z.string(), z.array(z.unknown())]),
  }),
});

/** Blocks of a message's content that are read; thinking, images and unknown blocks are not. */
export const textBlock = z.looseObject({ type: z.literal('text'), text: z.string() });

export const callBlock = z.looseObject({
  /** tool_use, server_tool_use, mcp_tool_use */
  type: z.string().endsWith('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.unknown(),
});

export const resultBlock = z.looseObject({
  /** tool_result, web_search_tool_result, mcp_tool_result, … */
  type: z.string().endsWith('tool_result'),
  tool_use_id: z.string(),
  /** A list holds text, images and others; only its text is read. */
  content: z.union([z.string(), z.array(z.unknown())]).optional(),
  is_error: z.boolean().optional(),
});

/** The producer's own compaction; what it kept of the records before it is named by their uuids. */
export const boundaryRecord = z.looseObject({
  type: z.literal('system'),
  subtype: z.literal('compact_boundary'),
  uuid: z.string(),
  parentUuid: z.null(),
  compactMetadata: z
    .looseObject({
      trigger: z.enum(['auto', 'manual']),
      preTokens: z.number(),
      preservedSegment: z
        .looseObject({ headUuid: z.string(), anchorUuid: z.string(), tailUuid: z.string() })
        .optional(),
      preservedMessages: z.looseObject({ anchorUuid: z.string(), uuids: z.array(z.string()) }).optional(),
    })
    .optional(),
});

/** What stands for the compacted part, right after the boundary. */
export const summaryRecord = conversationRecord.extend({
  type: z.literal('user'),
  uuid: z.string(),
  parentUuid: z.string(),
  isCompactSummary: z.literal(true),
  isVisibleInTranscriptOnly: z.literal(true),
});
