import type { ConversationMessage } from '../message.ts';
import { dayOf, labelOf } from './summary-lines.ts';
import type { SpeakerKind } from './terms.ts';
import { messageText, type Unit, unitsOf } from './units.ts';

/** What somebody said at one time: a message, or a line of an earlier summary. */
export type Passage = {
  /** The message's id; of a batch's line, the batch's. */
  readonly id: string;
  /** Units are substrings of it. */
  readonly text: string;
  readonly units: readonly Unit[];
  readonly day: string | null;
  readonly speaker: string;
  /** Who speaks where it is prose. */
  readonly speakerKind: SpeakerKind;
};

// A call or a line of a result is less to the point than a sentence of this length: half of it leaves room for another.
const MAX_TOOL_PIECE_CHARS = 120;
// A tool may answer with megabytes, of which a small summary can use little.
const READ_PER_BUDGET = 64;
const MIN_TOOL_CHARS = 2_000;
const MAX_TOOL_CHARS = 24_000;

/** Messages as passages. How much is read of each call and result follows from the budget and from how many of them there are. */
export function readMessages(messages: readonly ConversationMessage[], budgetChars: number): readonly Passage[] {
  return readPassages(messages, { budgetChars, maxPieceChars: MAX_TOOL_PIECE_CHARS });
}

// A line of a terminal. Of longer pieces fewer fit, and most of each is not what is needed of it.
const MAX_DETAIL_CHARS = 80;

/** The same with calls and results in short pieces, for where there is room for a few details only. */
export function readDetails(messages: readonly ConversationMessage[], budgetChars: number): readonly Passage[] {
  return readPassages(messages, { budgetChars, maxPieceChars: MAX_DETAIL_CHARS });
}

function readPassages(
  messages: readonly ConversationMessage[],
  { budgetChars, maxPieceChars }: { readonly budgetChars: number; readonly maxPieceChars: number },
): readonly Passage[] {
  const toolCount = messages.reduce((sum, message) => sum + toolPartsOf(message), 0);
  const share = Math.floor((budgetChars * READ_PER_BUDGET) / Math.max(1, toolCount));
  const maxToolChars = Math.max(MIN_TOOL_CHARS, Math.min(MAX_TOOL_CHARS, share));
  return messages.map((message) => {
    const text = messageText(message);
    return {
      id: message.id,
      text,
      units: unitsOf(message, text, { maxToolChars, maxPieceChars }),
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
