import { z } from 'zod';

/**
 * The records of a session's log, as far as they are read; everything else in them is carried along. Decoding narrows by hand: this is the
 * statement of the shapes, and a test holds both equal.
 */

/** The one record that can be malformed. Messages of types info, error and warning are for the screen alone. */
export const saidRecord = z.looseObject({
  id: z.string(),
  type: z.enum(['user', 'gemini']),
  /** ISO 8601. */
  timestamp: z.unknown().optional(),
  /** Text, one part, or a list of both. */
  content: z.union([z.string(), z.array(z.unknown()), z.looseObject({})]).nullish(),
  toolCalls: z.array(z.unknown()).nullish(),
});

/** `result`: text, a part, or a list of parts, mostly one `functionResponse`. */
export const toolCall = z.looseObject({
  id: z.string(),
  name: z.string(),
  args: z.looseObject({}),
  result: z.unknown().optional(),
  status: z.string(),
});

/** The first record; the same keys may be set anew by `update`s. */
export const metadata = z.looseObject({ sessionId: z.string(), projectHash: z.string() });

/** With a list of `messages` it is a checkpoint, which takes the place of all messages so far. */
export const update = z.looseObject({ $set: z.looseObject({ messages: z.array(z.unknown()).optional() }) });

/** Takes back that message and all after it; one that is not there, all. */
export const rewind = z.looseObject({ $rewindTo: z.string() });
