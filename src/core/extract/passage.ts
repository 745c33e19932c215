import type { ConversationMessage } from '../message.ts';
import { dayOf, labelOf } from './summary-lines.ts';
import type { SpeakerKind } from './terms.ts';
import { messageText, proseUnits, segmentsOf, type Unit } from './units.ts';

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

// A small summary can use little of what a tool wrote.
const MAX_TOOL_CHARS = 24_000;

/** Reads the messages of a talk as passages. */
export function readMessages(messages: readonly ConversationMessage[]): readonly Passage[] {
  return messages.map((message) => {
    const text = messageText(message);
    return {
      id: message.id,
      text,
      units: segmentsOf(message, text, MAX_TOOL_CHARS).flatMap((segment) =>
        proseUnits(text, segment).map((unit) => ({ ...unit, kind: segment.kind })),
      ),
      day: dayOf(message.created_at),
      speaker: labelOf(message.role, message.name),
      speakerKind: message.role === 'user' ? 'user' : 'assistant',
    };
  });
}
