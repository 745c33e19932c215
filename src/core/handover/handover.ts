import { renderLines } from '../extract/layout.ts';
import type { Stemmer } from '../extract/lexicon.ts';
import type { Passage } from '../extract/passage.ts';
import { readMessages } from '../extract/passage.ts';
import { selectUnits } from '../extract/select-units.ts';
import type { SelectedUnit } from '../extract/select-units.ts';
import type { ConversationMessage } from '../message.ts';
import { readCalls } from './command-line.ts';
import { kindOfConversation } from './kind-of-conversation.ts';
import type { ConversationKind } from './kind-of-conversation.ts';
import { charsOf, headingChars, renderSections } from './line.ts';
import type { HandoverLine, HandoverSection } from './line.ts';
import { allPassages, assistantPassages } from './passages.ts';
import { summaryLines } from './producer-summary.ts';
import { writeRequestLines } from './requests.ts';
import { writeStateLines } from './state.ts';
import { readConversation } from './turns.ts';
import { writeCommandLines, writeFileLines } from './work-done.ts';

export type HandoverInput = {
  /** What goes, in the order in which it was said. */
  readonly messages: readonly ConversationMessage[];
  /** Summaries that stand beside this one: what they say counts as kept. */
  readonly earlier?: readonly string[];
};

export type HandoverOptions = {
  /** Of the text, in UTF-16 units. */
  readonly maxChars: number;
  readonly stem: Stemmer;
};

export type Handover = {
  readonly text: string;
  readonly kind: ConversationKind;
  /** What the text is made of; a talk between people has no sections. */
  readonly sections: readonly HandoverSection[];
};

const HEADINGS = {
  summary: 'Summary written by the program that recorded this conversation',
  requests: 'Requests in order, each with the last words of the assistant (→)',
  state: 'Where it stands',
  findings: 'Findings, in the words of the assistant',
  files: 'Files written or edited, latest last',
  commands: 'Commands and their latest results',
  details: 'Details',
} as const;

const SHARES = {
  work: { summary: 1 / 3, requests: 0.5, state: 0.18, findings: 0.3, files: 0.12, commands: 0.15 },
  chat: { summary: 1 / 3, requests: 0.7, state: 0, findings: 0, files: 0, commands: 0 },
} as const;

// A tool may answer with megabytes, of which a small summary can use little.
const READ_PER_BUDGET = 64;
const MIN_TOOL_CHARS = 2_000;
const MAX_TOOL_CHARS = 24_000;

/** The hand-over of a conversation: quotations and counts, never over `maxChars`. Same input, same text; time grows with the messages. */
export function writeHandover(
  { messages, earlier = [] }: HandoverInput,
  { maxChars, stem }: HandoverOptions,
): Handover {
  const kind = kindOfConversation(messages);
  if (kind === 'talk') {
    const units = selectUnits(readMessages(messages, maxChars), { budgetChars: maxChars, stem, earlier });
    return { kind, text: renderLines(units.map(({ line }) => line)), sections: [] };
  }
  const reading = readConversation(messages);
  const calls = readCalls(reading.turns);
  const shares = SHARES[kind];
  const sections: HandoverSection[] = [];
  const usedChars = (): number =>
    sections.reduce(
      (sum, { heading, lines }) =>
        sum + headingChars(heading) + lines.reduce((chars, line) => chars + charsOf(line), 0),
      0,
    );
  const add = (heading: string, share: number, write: (roomChars: number) => readonly HandoverLine[]): void => {
    const left = maxChars - usedChars() - headingChars(heading);
    const room = Math.min(left, Math.floor(maxChars * share));
    const lines = room <= 0 ? [] : write(room);
    if (lines.length > 0) sections.push({ heading, lines });
  };
  const choose =
    (passages: readonly Passage[], worthOf?: (text: string) => number) =>
    (room: number): readonly HandoverLine[] => {
      const kept = [...earlier, ...sections.flatMap(({ lines }) => lines.map(({ text }) => text))];
      const units = selectUnits(passages, {
        budgetChars: room,
        stem,
        earlier: kept,
        onlyNovel: true,
        ...(worthOf === undefined ? {} : { worthOf }),
      });
      return asLines(units);
    };
  add(HEADINGS.summary, shares.summary, (room) => summaryLines(reading.summaries, room));
  add(HEADINGS.requests, shares.requests, (room) => writeRequestLines(reading.turns, room));
  add(HEADINGS.state, shares.state, (room) => writeStateLines({ reading, calls }, room));
  add(HEADINGS.files, shares.files, (room) => writeFileLines(calls, room));
  add(HEADINGS.commands, shares.commands, (room) => writeCommandLines(calls, room));
  if (shares.findings > 0) add(HEADINGS.findings, shares.findings, choose(assistantPassages(reading), worthOfFinding));
  const maxToolChars = toolChars(calls.length * 2, maxChars);
  add(HEADINGS.details, 1, choose(allPassages(reading, maxToolChars)));
  return { kind, text: renderSections(sections), sections };
}

/** The requests of a conversation with their endings, to stand before a summary of another make. */
export function writeRequests(
  messages: readonly ConversationMessage[],
  { maxChars }: Pick<HandoverOptions, 'maxChars'>,
): readonly HandoverLine[] {
  return writeRequestLines(readConversation(messages).turns, maxChars);
}

function toolChars(count: number, maxChars: number): number {
  const share = Math.floor((maxChars * READ_PER_BUDGET) / Math.max(1, count));
  return Math.max(MIN_TOOL_CHARS, Math.min(MAX_TOOL_CHARS, share));
}

const FINDING =
  /\b(?:because|since the|the (?:problem|issue|bug|cause|reason|fix) (?:is|was)|root cause|caused by|due to|turns out|instead of|rather than|decided|chose|so that|means that|that['’]s why|which is why|in order to|fixed|found|actually|however|but|not)\b|[原因所以]|weil|deshalb|porque|parce que|потому/iu;

function worthOfFinding(text: string): number {
  return FINDING.test(text) ? 1.8 : 1;
}

/** Chosen units grouped by the request during which they were said. */
function asLines(units: readonly SelectedUnit[]): readonly HandoverLine[] {
  let day: string | null = null;
  return units.map(({ line, messageId }) => {
    const text = renderLines([line]);
    const isSame = line.day === day;
    day = line.day;
    const bare = line.day !== null && isSame ? text.slice(text.indexOf('\n') + 1) : text;
    return { text: bare, messageIds: [messageId] };
  });
}
