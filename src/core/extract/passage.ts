import type { ConversationMessage } from '../message.ts';
import { dayOf } from './layout.ts';
import { labelOf } from './quoting.ts';
import { messageText } from './segment.ts';
import type { Voice } from './terms.ts';
import { unitsOf } from './unit.ts';
import type { Unit } from './unit.ts';

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
  readonly voice: Voice;
};

export function readMessages(messages: readonly ConversationMessage[]): readonly Passage[] {
  return messages.map((message) => {
    const text = messageText(message);
    return {
      id: message.id,
      text,
      units: unitsOf(message, text),
      day: dayOf(message.created_at),
      speaker: labelOf(message.role, message.name),
      voice: message.role === 'user' ? 'user' : 'assistant',
    };
  });
}
