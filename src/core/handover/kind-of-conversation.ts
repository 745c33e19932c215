import { callsOf, type ConversationMessage, resultIdsOf } from '../message.ts';

/** work: an assistant used tools. chat: a model answered at length without tools. talk: people spoke with each other. */
export type ConversationKind = 'work' | 'chat' | 'talk';

// A model answers with paragraphs where people write to each other as much as they are written to.
const MIN_ANSWER_CHARS = 300;
const MIN_ANSWER_RATIO = 2;
/** A character of a script that writes syllables or words says as much as this many letters. */
const WIDE_CHARACTER_LETTERS = 3;
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const SAMPLE_MESSAGES = 400;
const SAMPLE_CHARS = 2_000;

/** What kind of conversation messages are, by what is in them: calls, and how much each side says. */
export function kindOfConversation(messages: readonly ConversationMessage[]): ConversationKind {
  if (
    messages.some((message) => callsOf(message).length > 0 || resultIdsOf(message).length > 0 || hasToolParts(message))
  ) {
    return 'work';
  }
  const user = meanLength(messages, 'user');
  const assistant = meanLength(messages, 'assistant');
  const names = new Set(messages.flatMap(({ name }) => (name === undefined ? [] : [name])));
  if (names.size > 1 || user === 0 || assistant === 0) return 'talk';
  return assistant >= MIN_ANSWER_CHARS && assistant >= MIN_ANSWER_RATIO * user ? 'chat' : 'talk';
}

function hasToolParts({ parts }: ConversationMessage): boolean {
  return parts?.some(({ kind }) => kind !== 'text') === true;
}

function meanLength(messages: readonly ConversationMessage[], role: 'user' | 'assistant'): number {
  const said = messages.filter((message) => message.role === role);
  const step = Math.max(1, Math.floor(said.length / SAMPLE_MESSAGES));
  const sample = said.filter((_, index) => index % step === 0);
  const letters = sample.reduce((sum, { content }) => sum + lettersIn(content), 0);
  return sample.length === 0 ? 0 : letters / sample.length;
}

function lettersIn(content: string): number {
  const head = content.slice(0, SAMPLE_CHARS);
  const wide = (head.match(WIDE) ?? []).length;
  return Math.min(content.length, SAMPLE_CHARS) + wide * (WIDE_CHARACTER_LETTERS - 1);
}
