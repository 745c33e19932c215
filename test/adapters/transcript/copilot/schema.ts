import { z } from 'zod';

/**
 * The events of a session file, as far as they are read; everything else in them is carried along. Decoding narrows by hand: this is the statement
 * of the shapes, and a test holds both equal.
 */

/** What Copilot asks of every event that it knows by its type; it refuses the whole file otherwise. */
export const envelope = z.looseObject({
  type: z.string(),
  id: z.uuid(),
  timestamp: z.iso.datetime({ offset: true }),
  parentId: z.uuid().nullable(),
  /** The subagent that it belongs to. */
  agentId: z.string().optional(),
});

/** The first event. */
export const startEvent = z.looseObject({
  type: z.literal('session.start'),
  data: z.looseObject({
    sessionId: z.string(),
    copilotVersion: z.string().optional(),
    context: z.looseObject({ cwd: z.string() }).optional(),
  }),
});

/** `content` is what was typed, `transformedContent` what the model got; `source` names who else spoke in the user's name. */
const userEvent = z.looseObject({ type: z.literal('user.message'), data: z.looseObject({ content: z.string() }) });

/** An element of `toolRequests`. */
export const toolRequest = z.looseObject({
  toolCallId: z.string(),
  name: z.string(),
  /** An object, or the text that a tool takes as it is. */
  arguments: z.unknown().optional(),
});

/** `parentToolCallId` stands in what a subagent said. */
const answerEvent = z.looseObject({
  type: z.literal('assistant.message'),
  data: z.looseObject({ content: z.string(), toolRequests: z.unknown().optional() }),
});

/** The result of a call, or of a command that a person ran (`isUserRequested`): such a one needs no call. */
const resultEvent = z.looseObject({
  type: z.literal('tool.execution_complete'),
  data: z.union([z.looseObject({ isUserRequested: z.literal(true) }), z.looseObject({ toolCallId: z.string() })]),
});

const foundInstructions = z.looseObject({ type: z.literal('instruction_discovered') });

const notificationEvent = z.looseObject({
  type: z.literal('system.notification'),
  data: z.union([z.looseObject({ kind: foundInstructions }), z.looseObject({ content: z.string() })]),
});

/** What Copilot makes its history of: the only events that can be malformed. */
export const saidEvent = z.discriminatedUnion('type', [userEvent, answerEvent, resultEvent, notificationEvent]);

/** What we write. */
export const ownCompaction = z.strictObject({
  type: z.literal('session.compaction_complete'),
  data: z.strictObject({ success: z.literal(true), preCompactionTokens: z.number(), summaryContent: z.string() }),
  id: z.uuid(),
  timestamp: z.iso.datetime({ offset: true }),
  parentId: z.uuid().nullable(),
});
