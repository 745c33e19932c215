import { dayOf } from '../extract/summary-lines.ts';
import { callsOf, type ConversationMessage } from '../message.ts';
import type { KeptRequest } from '../model-request.ts';
import { isProducerSummary } from '../producer-texts.ts';
import { isAnnouncement } from './statements.ts';
import { readOptions } from './tool-call.ts';

export type Request = Extract<Step, { readonly kind: 'request' }>;
export type AssistantText = Extract<Step, { readonly kind: 'said' }>;

/** What the user wrote in a tool result: a reason for refusing a call, or answers to the model's questions. */
type Reply = {
  readonly kind: 'refusal' | 'answers';
  readonly messageId: string;
  readonly text: string;
  /** The name of the call that was refused or asked; empty: unknown. */
  readonly tool: string;
  /** What the question said of each option that it offered, by the option's label. */
  readonly options?: ReadonlyMap<string, string>;
};

/** A request and everything up to the next one. */
export type Turn = {
  /** Null for what comes before the first request. */
  readonly request: Request | null;
  /** Counts all requests, from 1. */
  readonly number: number;
  /** For example `8 May 2023`; null if times are unknown. */
  readonly day: string | null;
  readonly steps: readonly Step[];
  /** Reasons for refusals and answers, in the client's words. Any tool can forge them, so they do not count as typed. */
  readonly replies: readonly Reply[];
  /** The assistant's last words in this turn. */
  readonly ending: AssistantText | null;
  /** If those only announce what comes next: the last words before them that say more. */
  readonly outcome: AssistantText | null;
};

/** A conversation as turns. */
export type Conversation = {
  readonly turns: readonly Turn[];
  readonly summaries: readonly Extract<Step, { readonly kind: 'summary' }>[];
};

export function readConversation(
  messages: readonly ConversationMessage[],
  kept: readonly KeptRequest[] = [],
): Conversation {
  const dayByMessage = new Map(messages.map(({ id, created_at: at }) => [id, dayOf(at)]));
  const steps = withoutNoise(withKept(readSteps(messages), kept)).filter(
    (step) => step.kind !== 'said' || !isEmptyWord(step.text),
  );
  const groups: Step[][] = [];
  for (const step of steps) {
    const group = groups.at(-1);
    if (group === undefined || step.kind === 'request') groups.push([step]);
    else group.push(step);
  }
  const hasOpening = groups[0] !== undefined && groups[0][0]?.kind !== 'request';
  const calls = new Map(steps.flatMap((step) => (step.kind === 'call' ? [[step.callId, step]] : [])));
  const turns = groups.map((group, index): Turn => {
    const [first] = group;
    const request = first?.kind === 'request' ? first : null;
    const said = group.filter((step) => step.kind === 'said');
    const ending = endingOf(said);
    return {
      request,
      number: hasOpening ? index : index + 1,
      day: first === undefined ? null : (dayByMessage.get(first.messageId) ?? null),
      steps: request === null ? group : group.slice(1),
      replies: group.flatMap((step, index) => {
        if (step.kind !== 'result') return [];
        const call = calls.get(step.callId);
        return call !== undefined && ASKS.test(call.name)
          ? answersOf(step, call)
          : refusalsOf(step, { tool: call?.name ?? '', next: group[index + 1] });
      }),
      ending,
      outcome: outcomeOf(said, ending),
    };
  });
  return { turns, summaries: steps.filter((step) => step.kind === 'summary') };
}

/** Words that ask for nothing: commands that only steer the client or the terminal, greetings and exclamations. */
const NOISE =
  /^(?:\/(?:exit|quit|clear|help|status|cost|usage|context|config|model|login|logout|resume|doctor|compact|new|vim|theme)|:?wq?!?|ls|pwd|clear|exit|quit|test|testing|ping|hi|hello|hey|yo|wow|whoa|oh|ah|haha+|lol|hm+|cool|nice|great|awesome|amazing|perfect|thanks?(?: you| a lot)?|thx|ty)[\s.!,…)\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]*$/iu;
const CONSENT = /^(?:ok(?:ay)?|k|yes|yep|yeah|sure|right|fine)[\s.!,]*$/i;
const MAX_NOISE_CHARS = 40;

/** The steps without requests that ask for nothing. A bare "ok" stays if it answers a question or an offer. */
function withoutNoise(steps: readonly Step[]): readonly Step[] {
  let said = '';
  return steps.filter((step, at) => {
    if (step.kind === 'said') said = step.text;
    if (step.kind !== 'request' || step.rejects !== null) return true;
    if (isTypedAgain(step, steps, at)) return false;
    if (step.text.length > MAX_NOISE_CHARS) return true;
    const text = step.text.trim();
    return !NOISE.test(text) && !(CONSENT.test(text) && said !== '' && !OFFERS.test(said));
  });
}

/** Whether nothing came of a request before it was typed again, perhaps in more words. */
function isTypedAgain({ text, isKept }: Request, steps: readonly Step[], at: number): boolean {
  if (isKept === true) return false;
  let next = at + 1;
  while (steps[next]?.kind === 'note') next += 1;
  const again = steps[next];
  return again?.kind === 'request' && again.text.trim().startsWith(text.trim());
}

/** Ends with a question or an offer, or lists options. */
const OFFERS =
  /[?？؟]|\b(?:shall|should|would you|let me know|ready|option|proceed|if you)\b|^\s*(?:[A-D1-9][.)]|\*\*[A-D1-9])/im;

/** The steps with the requests that stay at their places. */
function withKept(steps: readonly Step[], kept: readonly KeptRequest[]): readonly Step[] {
  if (kept.length === 0) return steps;
  const places = new Map(steps.map(({ messageId }, at) => [messageId, at + 1]));
  let place = 0;
  const placed = kept.map(({ after, messageId, text }) => {
    if (after !== null) place = Math.max(place, places.get(after) ?? place);
    return { place, step: { kind: 'request', messageId, text, rejects: null, isKept: true } as const };
  });
  const byPlace = Map.groupBy(placed, (one) => one.place);
  const stepsAt = (at: number): readonly Step[] => (byPlace.get(at) ?? []).map(({ step }) => step);
  return [...stepsAt(0), ...steps.flatMap((step, at) => [step, ...stepsAt(at + 1)])];
}

/** Placeholders that clients write in the model's name. */
function isEmptyWord(text: string): boolean {
  return /^\s*(?:No response requested\.?|\(no content\)|\[Request interrupted by user[^\]]*\])\s*$/i.test(text);
}

/** The last words, unless they announce something that never came and earlier ones say more. */
function endingOf(said: readonly AssistantText[]): AssistantText | null {
  const last = said.at(-1) ?? null;
  return last !== null && isAnnouncement(last.text.trim()) ? (said.findLast(saysMore) ?? last) : last;
}

const MIN_OUTCOME_CHARS = 80;

function outcomeOf(said: readonly AssistantText[], ending: AssistantText | null): AssistantText | null {
  if (ending === null || saysMore(ending)) return null;
  return said.findLast(saysMore) ?? null;
}

function saysMore({ text }: AssistantText): boolean {
  return text.length >= MIN_OUTCOME_CHARS && !isAnnouncement(text.trim().split(/\n/).at(-1) ?? '');
}

/** Tools that ask the user a question. */
const ASKS = /^(?:ask_?(?:the_?)?(?:user|human)(?:_?questions?)?|ask_followup_question|request_user_input|question)$/i;

const CLIENT_FRAME = /^[^"\n]{0,80}: (?=")|(?<=")\. (?:Read the answers carefully|You can now continue)[^"]*$/g;
const REFUSAL =
  /^The user doesn't want to proceed with this tool use\.[^\n]{0,400}?the user said:\s*([\s\S]+?)(?:\n\nNote: The user's next message|$)/;
const MAX_REFUSAL_CHARS = 10_000;

function refusalsOf(
  step: Extract<Step, { readonly kind: 'result' }>,
  { tool, next }: { readonly tool: string; readonly next: Step | undefined },
): readonly Reply[] {
  const text = REFUSAL.exec(step.text.slice(0, MAX_REFUSAL_CHARS))?.[1]?.trim();
  // If the codec knows that the user typed it, it is a request already.
  if (text === undefined || (next?.kind === 'request' && next.messageId === step.messageId)) return [];
  return [{ kind: 'refusal', messageId: step.messageId, text, tool }];
}

function answersOf(
  { messageId, text, isError }: Extract<Step, { readonly kind: 'result' }>,
  question: Extract<Step, { readonly kind: 'call' }>,
): readonly Reply[] {
  const answers = text.slice(0, MAX_REFUSAL_CHARS).replace(CLIENT_FRAME, '').trim();
  if (isError || answers === '') return [];
  return [{ kind: 'answers', messageId, text: answers, tool: question.name, options: readOptions(question) }];
}

/** One step of a conversation. Texts are exactly those of the messages. */
export type Step =
  /** A person wrote this. `rejects`: the id of the call that the person refused with it. */
  | {
      readonly kind: 'request';
      readonly messageId: string;
      readonly text: string;
      readonly rejects: string | null;
      /** It stays in the transcript word for word. */
      readonly isKept?: true;
    }
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
  /** A summary that the producer wrote when it compacted the conversation. */
  | { readonly kind: 'summary'; readonly messageId: string; readonly text: string }
  /** Text that a program wrote in the user's name, such as a command or a reminder. */
  | { readonly kind: 'note'; readonly messageId: string; readonly text: string };

/** The steps of messages, in order. System messages are instructions and stay outside of summaries. */
export function readSteps(messages: readonly ConversationMessage[]): readonly Step[] {
  return messages.flatMap((message) => (message.role === 'system' ? [] : stepsOf(message)));
}

function stepsOf(message: ConversationMessage): readonly Step[] {
  const { id: messageId, typed } = message;
  const steps = message.parts === undefined ? plainSteps(message) : partSteps(message, message.parts);
  if (typed === undefined || typed.trim() === '') return steps;
  const answered = steps.findLast((step) => step.kind === 'result');
  const text = commandIn(typed) ?? typed;
  const request: Step = { kind: 'request', messageId, text, rejects: answered?.callId ?? null };
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

const COMMAND = /^\s*<command-(?:name|message)>/;
const COMMAND_NAME = /<command-name>(\/?[^<\n]{1,100})<\/command-name>/;
const COMMAND_ARGS = /<command-args>([\s\S]*?)<\/command-args>/;

/**
 * A command of the client as a person types it, from the elements in which Claude Code records it; null: the text is none. A text that only
 * quotes such elements is none.
 */
function commandIn(text: string): string | null {
  const name = COMMAND.test(text) ? COMMAND_NAME.exec(text)?.[1] : undefined;
  return name === undefined ? null : `${name} ${(COMMAND_ARGS.exec(text)?.[1] ?? '').trim()}`.trim();
}

function textStep({ id: messageId, role, isSummary }: ConversationMessage, text: string): Step {
  if (isSummary === true || (role === 'user' && isProducerSummary(text))) return { kind: 'summary', messageId, text };
  const command = role === 'user' ? commandIn(text) : null;
  // With words of a person's own it asks for something.
  if (command?.includes(' ') === true) return { kind: 'request', messageId, text: command, rejects: null };
  return role === 'assistant' ? { kind: 'said', messageId, text } : { kind: 'note', messageId, text };
}
