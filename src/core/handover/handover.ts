import { renderLines } from '../extract/layout.ts';
import type { Stemmer } from '../extract/lexicon.ts';
import { readMessages } from '../extract/passage.ts';
import { type ChooseOptions, createSelection, type SelectedUnit, selectUnits } from '../extract/select-units.ts';
import type { ConversationMessage } from '../message.ts';
import { type HAND_OVER_HEADINGS, quoteText } from '../quoted-text.ts';
import { readCalls } from './command-line.ts';
import { createWorthOfDetail } from './details.ts';
import { worthOfFinding } from './findings.ts';
import { type ConversationKind, kindOfConversation } from './kind-of-conversation.ts';
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

// A tool may answer with megabytes, of which a small summary can use little.
const READ_PER_BUDGET = 64;
const MIN_TOOL_CHARS = 2_000;
const MAX_TOOL_CHARS = 60_000;

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
  const maxToolChars = toolChars(calls.length * 2, maxChars);
  const selection = createSelection(readPassages(reading, { calls, maxToolChars }), {
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
    // A path, a command or a task may hold anything: whoever wrote the line, only headings of ours begin like one.
    const lines = room <= 0 ? [] : write(room).map((line) => ({ ...line, text: quoteText(line.text) }));
    if (lines.length === 0) return;
    sections.push({ heading, lines });
    selection.cover(lines.flatMap(({ text }) => text.split('\n')));
  };
  const choose =
    (worthOf?: ChooseOptions['worthOf']) =>
    (budgetChars: number): readonly HandoverLine[] =>
      asLines(selection.choose({ budgetChars, onlyNovel: true, ...(worthOf === undefined ? {} : { worthOf }) }));
  add(HEADINGS.summary, shares.summary, (room) => summaryLines(reading.summaries, room));
  add(HEADINGS.requests, shares.requests, (room) => writeRequestLines(reading.turns, room));
  add(HEADINGS.state, shares.state, (room) => writeStateLines({ reading, calls }, room));
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
