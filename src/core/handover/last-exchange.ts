import type { ConversationMessage } from '../message.ts';
import { excerptOf } from './excerpt.ts';
import { condenseProse } from './prose.ts';
import { REPORTED } from './requests.ts';
import { wordsInState } from './state.ts';
import { readConversation } from './turns.ts';

/** Who said something last, and what: the whole text, or an excerpt of it. */
export type LastWords = { readonly role: 'user' | 'assistant'; readonly text: string };

type LastOptions = {
  readonly maxChars: number;
  /** They follow a hand-over, which quotes the closing report of the last work. */
  readonly followHandover: boolean;
};

const REQUEST_SHARE = 0.4;

/** The last request and the assistant's last words. `messages`: the end of a conversation, from that request on. */
export function readLastExchange(
  messages: readonly ConversationMessage[],
  { maxChars, followHandover }: LastOptions,
): readonly LastWords[] {
  const conversation = readConversation(messages);
  const { request = null, ending = null, steps = [] } = conversation.turns.at(-1) ?? {};
  const isAbove =
    followHandover && steps.some(({ kind }) => kind === 'call') && wordsInState(conversation)?.quotes === 'report';
  const asked = excerptOf(request?.text ?? '', {
    maxChars: Math.floor(ending === null ? maxChars : maxChars * REQUEST_SHARE),
  });
  const said = isAbove ? REPORTED : condenseProse(ending?.text ?? '', maxChars - asked.length);
  const words = [
    { role: 'user', text: asked },
    { role: 'assistant', text: said },
  ] as const satisfies readonly LastWords[];
  return words.filter(({ text }) => text !== '');
}
