import type { Stemmer } from '../extract/terms.ts';
import { readMessages } from '../extract/passage.ts';
import { selectUnits } from '../extract/select-units.ts';
import { renderLines } from '../extract/summary-lines.ts';
import { callsOf, type ConversationMessage, resultIdsOf } from '../message.ts';
import type { KeptRequest } from '../model-request.ts';
import { type HAND_OVER_HEADINGS, quoteText } from '../quoted-text.ts';
import { readCalls } from './calls.ts';
import { writeCommandLines } from './commands.ts';
import { definitionLines, namesMentioned } from './definitions.ts';
import { answerLines, createDetails } from './details.ts';
import { readFileChanges, writeFileLines } from './files.ts';
import { writeLastEdits } from './last-edits.ts';
import {
  charsOfAll,
  type HandoverLine,
  type HandoverSection,
  headingChars,
  renderSections,
  sectionChars,
} from './line.ts';
import { summaryLines } from './producer-summary.ts';
import { writeRequestLines } from './requests.ts';
import { wordsInState, writeStateLines } from './state.ts';
import { readConversation } from './turns.ts';

type HandoverInput = {
  /** The messages to summarize, in order. */
  readonly messages: readonly ConversationMessage[];
  /** Summaries that will stand next to this one. What they say counts as kept. */
  readonly earlier?: readonly string[];
  /** Requests that stay in the transcript. They are numbered and named at their places. */
  readonly kept?: readonly KeptRequest[];
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
  state: '## Where it stands',
  summary: '## Earlier summary',
  requests: '## Requests and how they ended',
  findings: '## Decisions and findings',
  files: '## Files',
  commands: '## Commands',
  details: '## Details',
} as const satisfies Readonly<Record<string, Heading>>;

/** The most that each section may take of the whole; the requests take what the others leave, and the details what they leave. */
const SHARES = {
  work: { summary: 0.3, state: 0.24, findings: 0.05, files: 0.14, commands: 0.05 },
  chat: { summary: 0.3, state: 0, findings: 0.1, files: 0, commands: 0 },
} as const;
/** From a third of this length, an earlier summary gets its full share. */
const SUMMARY_CHARS = 36_000;
/** The most that the user's answers to questions take, and what is left beside them to what the assistant found. */
const ANSWERS_SHARE = 0.2;
const MIN_FINDINGS_SHARE = 0.03;
/** What the details leave to the newest edits, and the most that these take. */
const EDITS_SHARE = 0.14;
const MAX_EDITS_SHARE = 0.35;
/** The most that definitions of names may take of it. */
const DEFINITIONS_SHARE = 0.08;
/** What requests and endings leave to the details if they need all of the rest. */
const DETAILS_SHARE = 0.08;
const MIN_REQUESTS_SHARE = 0.58;
/** More details make a summary hard to read, but whoever asks for a very long one wants them. */
const MAX_DETAILS_SHARE = 0.3;
const MAX_OTHER_CHARS = 11_500;

/** Writes the hand-over of a conversation: quotations and counts, at most `maxChars` long. Deterministic, in time linear in the messages. */
export function writeHandover(
  { messages, earlier = [], kept = [] }: HandoverInput,
  { maxChars, stem }: HandoverOptions,
): Handover {
  const kind = kindOfConversation(messages);
  if (kind === 'talk') {
    const units = selectUnits(readMessages(messages), { budgetChars: maxChars, stem, earlier });
    return { kind, text: renderLines(units.map(({ line }) => line)), sections: [] };
  }
  const conversation = readConversation(messages, kept);
  const { turns } = conversation;
  const calls = readCalls(turns);
  const files = readFileChanges(calls);
  const mentioned = namesMentioned(conversation);
  const shares = SHARES[kind];
  const sections = new Map<Heading, HandoverSection>();
  const used = (): number => [...sections.values()].reduce((sum, section) => sum + sectionChars(section), 0);
  const add = (heading: Heading, maxRoom: number, write: (roomChars: number) => readonly HandoverLine[]): void => {
    const before = sections.get(heading)?.lines ?? [];
    const room = Math.min(maxChars - used(), Math.floor(maxRoom)) - (before.length > 0 ? 0 : headingChars(heading));
    // A path, a command or a task can contain anything, so its text is escaped: only our own headings may look like headings.
    const lines = room <= 0 ? [] : write(room).map((line) => ({ ...line, text: quoteText(line.text) }));
    if (lines.length > 0) sections.set(heading, { heading, lines: [...before, ...lines] });
  };
  // A short text is for what came later.
  add(HEADINGS.summary, maxChars * Math.min(shares.summary, maxChars / SUMMARY_CHARS), (room) =>
    summaryLines(conversation, room),
  );
  add(HEADINGS.state, maxChars * shares.state, (room) => writeStateLines({ conversation, calls, files }, room));
  const above = sections.has(HEADINGS.state) ? wordsInState(conversation) : null;
  add(HEADINGS.files, maxChars * shares.files, (room) => writeFileLines(files, { turns, calls, maxChars: room }));
  add(HEADINGS.commands, maxChars * shares.commands, (room) =>
    writeCommandLines(calls, { maxChars: room, hasState: true }),
  );
  const answerChars = charsOfAll(answerLines(conversation, Math.floor(maxChars * ANSWERS_SHARE)));
  const findingsRoom = Math.max(maxChars * shares.findings, answerChars + maxChars * MIN_FINDINGS_SHARE);
  const requestRoom = maxChars * (1 - DETAILS_SHARE) - findingsRoom - used();
  add(HEADINGS.requests, Math.max(requestRoom, maxChars * MIN_REQUESTS_SHARE), (room) =>
    writeRequestLines(turns, { maxChars: room, above }),
  );
  const details = createDetails(conversation, { calls, stem });
  details.cover([...earlier, ...[...sections.values()].flatMap(({ lines }) => lines.map(({ text }) => text))]);
  add(HEADINGS.findings, maxChars, (room) => {
    // What the options meant may take all that is left.
    const answers = answerLines(conversation, room);
    const left = Math.min(room, Math.floor(findingsRoom)) - charsOfAll(answers);
    return [...answers, ...details.findings(Math.max(0, left))];
  });
  add(HEADINGS.files, maxChars * DEFINITIONS_SHARE, (room) =>
    definitionLines(conversation, { calls, files, mentioned, maxChars: room }),
  );
  const edits = (maxChars: number): readonly HandoverLine[] => {
    const above = (sections.get(HEADINGS.files)?.lines ?? []).map(({ text }) => text).join('\n');
    return writeLastEdits(files, { calls, above, maxChars });
  };
  const detailRoom = Math.max(maxChars * MAX_DETAILS_SHARE, maxChars - MAX_OTHER_CHARS);
  add(
    HEADINGS.details,
    Math.min(detailRoom, maxChars - used() - charsOfAll(edits(Math.floor(maxChars * EDITS_SHARE)))),
    details.rest,
  );
  add(HEADINGS.files, Math.max(maxChars * MAX_EDITS_SHARE, maxChars - MAX_OTHER_CHARS), edits);
  const ordered = Object.values(HEADINGS).flatMap((heading) => sections.get(heading) ?? []);
  return { kind, text: renderSections(ordered), sections: ordered };
}

/** How much of what is left each part of the facts may take. */
const FACT_SHARES = { files: 0.3, commands: 0.2, definitions: 0.3, details: 0.5 } as const;

/**
 * What to put behind a summary in other words, which are `beside`: changed files, failures, definitions, statements that it does not make, and
 * the code of the newest edits. Null for a conversation without tools.
 */
export function writeFacts(
  { messages, beside }: Pick<HandoverInput, 'messages'> & { readonly beside: readonly string[] },
  { maxChars, stem }: HandoverOptions,
): string | null {
  if (kindOfConversation(messages) !== 'work') return null;
  const conversation = readConversation(messages);
  const { turns } = conversation;
  const calls = readCalls(turns);
  const files = readFileChanges(calls);
  const mentioned = namesMentioned(conversation);
  const details = createDetails(conversation, { calls, stem });
  details.cover(beside);
  const texts: string[] = [];
  let left = maxChars;
  const add = (share: number, write: (roomChars: number) => readonly HandoverLine[]): void => {
    for (const { text } of write(Math.floor(left * share))) {
      const quotedText = quoteText(text);
      if (quotedText.length >= left) return;
      texts.push(quotedText);
      left -= quotedText.length + 1;
    }
  };
  add(FACT_SHARES.files, (room) => writeFileLines(files, { turns, calls, maxChars: room }));
  add(FACT_SHARES.commands, (room) => writeCommandLines(calls, { maxChars: room, hasState: false }));
  add(FACT_SHARES.definitions, (room) => definitionLines(conversation, { calls, files, mentioned, maxChars: room }));
  add(FACT_SHARES.details, details.rest);
  add(1, (room) => writeLastEdits(files, { calls, above: [...beside, ...texts].join('\n'), maxChars: room }));
  return texts.join('\n');
}

/** The requests of a conversation and how they ended, to put before a summary that a model wrote. */
export function writeRequests(
  messages: readonly ConversationMessage[],
  { maxChars }: Pick<HandoverOptions, 'maxChars'>,
): readonly HandoverLine[] {
  return writeRequestLines(readConversation(messages).turns, { maxChars });
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
