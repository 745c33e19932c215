import { callsOf, type ConversationMessage } from '../message.ts';
import { isProducerSummary } from './producer-summary.ts';

/** Something that happened in a conversation, in the order in which it happened. Texts are the messages' own, unchanged. */
export type Step =
  /** A person wrote this. `rejects`: it came with the result of a call that the person refused. */
  | { readonly kind: 'request'; readonly messageId: string; readonly text: string; readonly rejects: string | null }
  | { readonly kind: 'said'; readonly messageId: string; readonly text: string }
  | {
      readonly kind: 'call';
      readonly messageId: string;
      readonly callId: string;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly kind: 'result';
      readonly messageId: string;
      readonly callId: string;
      readonly text: string;
      readonly isError: boolean;
    }
  /** The producer wrote this summary when it compacted the conversation itself. */
  | { readonly kind: 'summary'; readonly messageId: string; readonly text: string }
  /** What a program put in the user's name: a command, a reminder. */
  | { readonly kind: 'note'; readonly messageId: string; readonly text: string };

/** The steps of messages, in order. System messages are instructions, which stay outside a summary. */
export function readSteps(messages: readonly ConversationMessage[]): readonly Step[] {
  return messages.flatMap((message) => (message.role === 'system' ? [] : stepsOf(message)));
}

function stepsOf(message: ConversationMessage): readonly Step[] {
  const { id: messageId, typed } = message;
  const steps = message.parts === undefined ? plainSteps(message) : partSteps(message, message.parts);
  if (typed === undefined || typed.trim() === '') return steps;
  const answered = steps.findLast((step) => step.kind === 'result');
  const request: Step = { kind: 'request', messageId, text: typed, rejects: answered?.callId ?? null };
  return [...steps.filter(({ kind }) => kind !== 'note' && kind !== 'summary'), request];
}

function plainSteps(message: ConversationMessage): readonly Step[] {
  const { id: messageId, content, role } = message;
  const calls = callsOf(message);
  if (role === 'tool')
    return [{ kind: 'result', messageId, callId: message.tool_call_id ?? '', text: content, isError: false }];
  const texts: readonly Step[] = content.trim() === '' ? [] : [textStep(message, content)];
  return [
    ...texts,
    ...calls.map(({ id, name, arguments: args }): Step => ({
      kind: 'call',
      messageId,
      callId: id,
      name,
      arguments: args,
    })),
  ];
}

function partSteps(message: ConversationMessage, parts: NonNullable<ConversationMessage['parts']>): readonly Step[] {
  const { id: messageId } = message;
  return parts.flatMap((part): readonly Step[] => {
    if (part.kind === 'call') {
      return [{ kind: 'call', messageId, callId: part.id, name: part.name, arguments: part.arguments }];
    }
    if (part.kind === 'result') {
      return [{ kind: 'result', messageId, callId: part.callId, text: part.text, isError: part.isError }];
    }
    return part.text.trim() === '' ? [] : [textStep(message, part.text)];
  });
}

function textStep({ id: messageId, role, isSummary }: ConversationMessage, text: string): Step {
  if (isSummary === true || (role === 'user' && isProducerSummary(text))) return { kind: 'summary', messageId, text };
  return role === 'assistant' ? { kind: 'said', messageId, text } : { kind: 'note', messageId, text };
}
