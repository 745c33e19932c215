import { z } from 'zod';

/**
 * The entries of a session file, as far as they are read; everything else in them is carried along. Decoding narrows by hand: this is the statement
 * of the shapes, and a test holds both equal.
 */

/** The first record; pi truncates a file that begins otherwise. Its search for sessions reads 512 bytes of it. */
export const headerRecord = z.looseObject({
  type: z.literal('session'),
  id: z.string(),
  /** 1 where it is missing. */
  version: z.number().optional(),
  timestamp: z.string().optional(),
  cwd: z.string().optional(),
});

/** What every entry of version 2 and 3 has. */
const link = { id: z.string(), parentId: z.string().nullable(), timestamp: z.string() };

const content = z.union([z.string(), z.array(z.unknown())]);

/** Messages whose content is read. In version 2 `custom` was called `hookMessage`. */
const contentMessage = z.looseObject({
  role: z.enum(['user', 'assistant', 'toolResult', 'custom', 'hookMessage']),
  content,
});

/** A command that a person ran in pi's shell; excluded ones are not sent. */
export const shellMessage = z.looseObject({
  role: z.literal('bashExecution'),
  command: z.string().optional(),
  output: z.string().optional(),
  exitCode: z.number().nullish(),
  excludeFromContext: z.boolean().optional(),
});

/** What pi, or an extension, made of a branch or of what was said before. */
const summaryMessage = z.looseObject({ role: z.enum(['branchSummary', 'compactionSummary']), summary: z.string() });

/** Any other role is aside: extensions have some of their own, which pi does not send. */
const asideMessage = z.looseObject({
  role: z
    .string()
    .refine((role) => [contentMessage, summaryMessage].every(({ shape }) => !shape.role.safeParse(role).success)),
});

/** Together with a compaction the only entries that can be malformed. */
export const messageEntry = z.looseObject({
  type: z.literal('message'),
  message: z.union([contentMessage, summaryMessage, asideMessage]),
});

/** pi's own compaction, and ours. In version 1 `firstKeptEntryIndex` counts entries, the header as 0. */
export const compactionEntry = z.looseObject({
  type: z.literal('compaction'),
  summary: z.string(),
  firstKeptEntryId: z.unknown().optional(),
  firstKeptEntryIndex: z.unknown().optional(),
});

/** What we write into files of version 2 and 3. */
export const ownCompaction = z.strictObject({
  type: z.literal('compaction'),
  ...link,
  summary: z.string(),
  firstKeptEntryId: z.string(),
  tokensBefore: z.number(),
  fromHook: z.literal(true),
});

/** Blocks of a message's content that are read; thinking is not, and of an image only that it is there. */
export const textBlock = z.looseObject({ type: z.literal('text'), text: z.string() });

export const callBlock = z.looseObject({
  type: z.literal('toolCall'),
  id: z.string(),
  name: z.string(),
  arguments: z.unknown(),
});
