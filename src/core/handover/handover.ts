import type { Stemmer } from '../extract/lexicon.ts';
import { readMessages } from '../extract/passage.ts';
import { selectUnits } from '../extract/select-units.ts';
import { type ChooseOptions, createSelection, type SelectedUnit } from '../extract/selection.ts';
import { renderLines } from '../extract/summary-lines.ts';
import { callsOf, type ConversationMessage, resultIdsOf } from '../message.ts';
import { type HAND_OVER_HEADINGS, quoteText } from '../quoted-text.ts';
import { readCalls } from './calls.ts';
import {
  type HandoverLine,
  type HandoverSection,
  headingChars,
  renderSections,
  sectionChars,
  withoutHeadingMarks,
} from './line.ts';
import { readPassages } from './passages.ts';
import { summaryLines } from './producer-summary.ts';
import { writeRequestLines } from './requests.ts';
import { createWorthOfDetail, worthOfFinding } from './sentence-worth.ts';
import { readConversation } from './turns.ts';
import { writeCommandLines, writeFileLines, writeStateLines } from './work-sections.ts';

type HandoverInput = {
  /** The messages to summarize, in order. */
  readonly messages: readonly ConversationMessage[];
  /** Summaries that will stand next to this one. What they say counts as kept. */
  readonly earlier?: readonly string[];
};

type HandoverOptions = {
  /** The length of the text, in UTF-16 units. */
  readonly maxChars: number;
  readonly stem: Stemmer;
};

type Handover = {
  readonly text: string;
  readonly kind: ConversationKind;
  /** The parts of the text. Small talk has none. */
  readonly sections: readonly HandoverSection[];
};

type Heading = (typeof HAND_OVER_HEADINGS)[number];

const HEADINGS = {
  summary: '## Earlier summary',
  requests: '## Requests and how they ended',
  state: '## Where it stands',
  findings: '## Findings',
  files: '## Files',
  commands: '## Commands',
  details: '## Details',
} as const satisfies Readonly<Record<string, Heading>>;

const SHARES = {
  work: { summary: 1 / 3, requests: 0.5, state: 0.16, findings: 0.15, files: 0.12, commands: 0.1 },
  chat: { summary: 1 / 3, requests: 0.7, state: 0, findings: 0, files: 0, commands: 0 },
} as const;

// A tool's output can be megabytes long, and a small summary can use little of it.
const READ_PER_BUDGET = 64;
const MIN_TOOL_CHARS = 2_000;
const MAX_TOOL_CHARS = 60_000;

/** Writes the hand-over of a conversation: quotations and counts, at most `maxChars` long. Deterministic, in time linear in the messages. */
export function writeHandover(
  { messages, earlier = [] }: HandoverInput,
  { maxChars, stem }: HandoverOptions,
): Handover {
  const kind = kindOfConversation(messages);
  if (kind === 'talk') {
    const units = selectUnits(readMessages(messages, maxChars), { budgetChars: maxChars, stem, earlier });
    return { kind, text: renderLines(units.map(({ line }) => line)), sections: [] };
  }
  const conversation = readConversation(messages);
  const calls = readCalls(conversation.turns);
  const shares = SHARES[kind];
  const maxToolChars = toolChars(calls.length * 2, maxChars);
  const selection = createSelection(readPassages(conversation, { calls, maxToolChars }), {
    stem,
    lineOf: (text, { day }) => ({
      text: `- ${withoutHeadingMarks(text.replace(LIST_MARK, '')).replace(/\s+/g, ' ')}`,
      day,
      speaker: '',
      isNamed: false,
      isQuoted: false,
    }),
  });
  selection.cover(earlier.flatMap((text) => text.split('\n')));
  const sections: HandoverSection[] = [];
  const add = (heading: string, share: number, write: (roomChars: number) => readonly HandoverLine[]): void => {
    const used = sections.reduce((sum, section) => sum + sectionChars(section), 0);
    const room = Math.min(maxChars - used - headingChars(heading), Math.floor(maxChars * share));
    // A path, a command or a task can contain anything, so its text is escaped: only our own headings may look like headings.
    const lines = room <= 0 ? [] : write(room).map((line) => ({ ...line, text: quoteText(line.text) }));
    if (lines.length === 0) return;
    sections.push({ heading, lines });
    selection.cover(lines.flatMap(({ text }) => text.split('\n')));
  };
  const choose =
    (worthOf?: ChooseOptions['worthOf']) =>
    (budgetChars: number): readonly HandoverLine[] =>
      asLines(selection.choose({ budgetChars, onlyNovel: true, ...(worthOf === undefined ? {} : { worthOf }) }));
  add(HEADINGS.summary, shares.summary, (room) => summaryLines(conversation.summaries, room));
  add(HEADINGS.requests, shares.requests, (room) => writeRequestLines(conversation.turns, room));
  add(HEADINGS.state, shares.state, (room) => writeStateLines({ conversation, calls }, room));
  const findingsAt = sections.length;
  add(HEADINGS.files, shares.files, (room) => writeFileLines(calls, room));
  add(HEADINGS.commands, shares.commands, (room) => writeCommandLines(calls, room));
  add(HEADINGS.findings, shares.findings, choose(worthOfFinding));
  const findings = sections.findIndex(({ heading }) => heading === HEADINGS.findings);
  if (findings > findingsAt) sections.splice(findingsAt, 0, ...sections.splice(findings, 1));
  const above = sections.flatMap(({ lines }) => lines.map(({ text }) => text));
  add(HEADINGS.details, 1, choose(createWorthOfDetail(above)));
  return { kind, text: renderSections(sections), sections };
}

const LIST_MARK = /^[-*•+]\s+/;

/** The requests of a conversation and how they ended, to put before a summary that a model wrote. */
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

/** Formats chosen units, grouped by the request that they belong to. */
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

/** work: an assistant used tools. chat: a model gave long answers without tools. talk: people talked with each other. */
type ConversationKind = 'work' | 'chat' | 'talk';

// A model answers in paragraphs, while people write about as much as they read.
const MIN_ANSWER_CHARS = 300;
const MIN_ANSWER_RATIO = 2;
/** A character of a syllabic or ideographic script says as much as this many letters. */
const WIDE_CHARACTER_LETTERS = 3;
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const SAMPLE_MESSAGES = 400;
const SAMPLE_CHARS = 2_000;

/** Detects the kind of a conversation from its tool calls and from how much each side says. */
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
