import { z } from 'zod';

/**
 * The records of a rollout and the items of the Responses API, as far as they are read; everything else in them is carried along. Decoding
 * runs over gigabytes and narrows by hand: this is the statement of the shapes, and a test holds both equal.
 */

/** The types that are read; a record of one without a payload is malformed. A record of any other type is always carried. */
export const readRecord = z.looseObject({
  type: z.enum([
    'response_item',
    'compacted',
    'event_msg',
    'turn_context',
    'inter_agent_communication',
    'inter_agent_communication_metadata',
  ]),
  /** ISO 8601. */
  timestamp: z.unknown().optional(),
  /** In threads of `history_mode: "paginated"`: rises from record to record. */
  ordinal: z.unknown().optional(),
  payload: z.looseObject({}),
});

const parts = z.array(z.unknown());

/** The one item that can be malformed. Role developer or system: an instruction. */
export const messageItem = z.looseObject({
  type: z.literal('message'),
  role: z.string(),
  content: z.union([z.string(), parts]),
});

/** function_call, custom_tool_call, local_shell_call, tool_search_call, web_search_call, … */
export const callItem = z.looseObject({
  type: z.string().endsWith('_call'),
  /** Calls that the server runs itself have `id` alone. */
  call_id: z.string().nullish(),
  name: z.string().optional(),
  namespace: z.string().nullish(),
  /** JSON as text; custom tools have `input`, shells and searches an `action`. */
  arguments: z.union([z.string(), z.looseObject({})]).optional(),
});

/** function_call_output, custom_tool_call_output, tool_search_output, … */
export const outputItem = z.looseObject({
  type: z.string().endsWith('_output'),
  call_id: z.string(),
  output: z.union([z.string(), parts, z.looseObject({})]).optional(),
});

/** Payload of a `compacted` record, Codex's own and ours; older versions have no history in it. */
export const compaction = z.looseObject({
  message: z.string(),
  replacement_history: z.array(z.looseObject({ type: z.string() })).nullish(),
});
