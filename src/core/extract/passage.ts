import type { ConversationMessage } from '../message.ts';
import { dayOf, labelOf } from './summary-lines.ts';
import type { SpeakerKind } from './terms.ts';
import { messageText, type Unit, unitsOf } from './units.ts';

/** A message, or a line of an earlier summary. */
export type Passage = {
  /** The message's id, or `batch:N` for a line of an earlier summary. */
  readonly id: string;
  /** Units are spans of this text. */
  readonly text: string;
  readonly units: readonly Unit[];
  readonly day: string | null;
  readonly speaker: string;
  /** The role that prose in this passage counts as. */
  readonly speakerKind: SpeakerKind;
};

// Half the length of a sentence, because a call or a line of output is less informative.
const MAX_TOOL_PIECE_CHARS = 120;
// A tool's output can be megabytes long, and a small summary can use little of it.
const READ_PER_BUDGET = 64;
const MIN_TOOL_CHARS = 2_000;
const MAX_TOOL_CHARS = 24_000;

/** Reads messages as passages. The budget and the number of calls and results decide how much of each is read. */
export function readMessages(messages: readonly ConversationMessage[], budgetChars: number): readonly Passage[] {
  const toolCount = messages.reduce((sum, message) => sum + toolPartsOf(message), 0);
  const share = Math.floor((budgetChars * READ_PER_BUDGET) / Math.max(1, toolCount));
  const maxToolChars = Math.max(MIN_TOOL_CHARS, Math.min(MAX_TOOL_CHARS, share));
  return messages.map((message) => {
    const text = messageText(message);
    return {
      id: message.id,
      text,
      units: unitsOf(message, text, { maxToolChars, maxPieceChars: MAX_TOOL_PIECE_CHARS }),
      day: dayOf(message.created_at),
      speaker: labelOf(message.role, message.name),
      speakerKind: message.role === 'user' ? 'user' : 'assistant',
    };
  });
}

function toolPartsOf({ role, parts }: ConversationMessage): number {
  if (parts !== undefined) return parts.filter(({ kind }) => kind !== 'text').length;
  return role === 'tool' ? 1 : 0;
}
