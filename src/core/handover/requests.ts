import { lazilyFor } from '../lazy.ts';
import { excerptOf, openingOf } from './excerpt.ts';
import { charsOfAll, type HandoverLine, quoted, quotedExactly } from './line.ts';
import { offerOf, OFFER_TURNS } from './offers.ts';
import { createCondenser, readPieces } from './prose.ts';
import { isAnnouncement, isBareAnnouncement, isPondering, statesCause, wordsIn } from './statements.ts';
import type { AssistantText, Request, Turn } from './turns.ts';

// The first request says what the work is about, the newest what is wanted now.
const EDGE_CHARS = 2_400;
const EDGE_SHARE = 0.2;
// Longer requests contain pasted text. Their beginning, their end and the lines that ask or demand something say what was wanted.
const LONG_CHARS = 700;
const TIGHT_CHARS = 440;
const FIRST_SENTENCE_CHARS = 160;
/** If requests take more than this share of the room, longer ones are cut further to leave room for the endings. */
const REQUESTS_SHARE = 0.6;
/** As long as requests take less than this, long ones get more. */
const GENEROUS_SHARE = 0.4;
/** Longer requests that were typed again are not quoted twice. */
const MAX_REPEATED_CHARS = 80;
const ENDING_CHARS = 190;
/** How much more room than an older one each of the newest turns gets. */
const NEWEST_WEIGHTS = [3, 2, 1.5];
const MAX_TURN_CHARS = 24_000;
/** For line ends and indents that a longer text brings. */
const SLACK_CHARS = 80;

const ASKING =
  /[?？؟]|\b(?:must|never|always|don['’]?t|do not|only|make sure|should|please|need|want|instead|keep|use)\b|`[^`]+`|[\w-]+\.\w{2,4}\b/giu;

const MIN_REQUEST_CHARS = '1. x\n'.length;

type AskedTurn = Turn & { readonly request: Request };

/** What the state of the work quotes of a turn, by its number. */
export type WordsAbove = { readonly number: number; readonly quotes: 'report' | 'remarks' };

type RequestOptions = {
  readonly maxChars: number;
  /** The turn whose words stand above: its closing report, or its remarks. */
  readonly above?: WordsAbove | null;
};

/** Every request in order, each followed by what the assistant said and how it ended (`→`), within `maxChars`. */
export function writeRequestLines(
  turns: readonly Turn[],
  { maxChars, above = null }: RequestOptions,
): readonly HandoverLine[] {
  const all = turns.filter((turn): turn is AskedTurn => turn.request !== null);
  const newest = all.slice(-Math.ceil(maxChars / MIN_REQUEST_CHARS));
  // Older ones cannot fit, whatever they say.
  const asked = newest.length === all.length ? all : [...all.slice(0, 1), ...newest];
  const texts = fitRequests(asked, maxChars);
  const noted = turns.flatMap((turn, at): readonly Row[] => {
    const text = turn.request === null ? '(before the first request)' : texts.get(turn.number);
    const before = turns.slice(Math.max(0, at - OFFER_TURNS), at).toReversed();
    const next = isOpenEnded(turn) ? (turns[at + 1] ?? null) : null;
    const isNextRefusal = next?.request?.rejects !== null;
    return text === undefined ? [] : [{ turn, text, before, next: isNextRefusal ? null : next.number }];
  });
  const charsOfRows = (some: readonly Row[]): number =>
    some.reduce((sum, { text, next }) => sum + text.length + 1 + (next === null ? 0 : goesOn(next).length + 1), 0);
  const rows = charsOfRows(noted) <= maxChars ? noted : noted.map((row) => ({ ...row, next: null }));
  const used = charsOfRows(rows);
  const { replies, chars } = fitReplies(rows, maxChars - used);
  const endings = fitWords(rows, { roomChars: maxChars - used - chars, above });
  return rows.flatMap(({ turn, text, next }): readonly HandoverLine[] => {
    const below = [
      ...(replies.get(turn.number) ?? []),
      ...(endings.get(turn.number) ?? []),
      ...(next === null ? [] : [{ text: goesOn(next), messageIds: [] }]),
    ];
    if (turn.request === null) return below.length === 0 ? [] : [{ text, messageIds: [] }, ...below];
    return [{ text, messageIds: [turn.request.messageId] }, ...below];
  });
}

type Row = {
  readonly turn: Turn;
  readonly text: string;
  /** The turns before it, the nearest first. */
  readonly before: readonly Turn[];
  /** The number of the request that was typed before the work for this one had ended; null: it had ended. */
  readonly next: number | null;
};

/** Whether the last step is a call or its result, so that work was going on when the next request came. */
function isOpenEnded({ steps }: Turn): boolean {
  const last = steps.at(-1)?.kind;
  return last === 'call' || last === 'result';
}

const MAX_REFUSAL_CHARS = 500;
/** The share of the room beside the requests. Any tool can forge such words, so they must not crowd out the endings. */
const REPLIES_SHARE = 0.3;

/** Takes the newest first. */
function fitReplies(
  rows: readonly Row[],
  roomChars: number,
): { readonly replies: ReadonlyMap<number, readonly HandoverLine[]>; readonly chars: number } {
  const replies = new Map<number, HandoverLine[]>();
  const maxChars = Math.floor(roomChars * REPLIES_SHARE);
  let chars = 0;
  for (const { turn, before } of rows.toReversed()) {
    const offer = offerOf(turn, before);
    if (offer !== null && chars + offer.text.length + 1 <= maxChars) {
      chars += offer.text.length + 1;
      replies.set(turn.number, [offer]);
    }
    for (const { kind, text, messageId, tool } of turn.replies.toReversed()) {
      if (kind !== 'refusal') continue;
      const words = excerptOf(text, { maxChars: MAX_REFUSAL_CHARS });
      const mark = `   (refused ${tool === '' ? 'a call' : quoted(tool)}, as its result tells:) `;
      const line = { text: mark + quoted(words, INDENT), messageIds: [messageId] };
      if (chars + line.text.length + 1 > maxChars) continue;
      chars += line.text.length + 1;
      replies.set(turn.number, [...(replies.get(turn.number) ?? []), line]);
    }
  }
  return { replies, chars };
}

/**
 * What the assistant said in each turn. Each ending gets a sentence or two, the newest first; the room that is left is shared by all turns, more
 * to the newest, and goes to longer endings, then to other reports, then to remarks that state a cause.
 */
function fitWords(
  rows: readonly Row[],
  { roomChars, above }: { readonly roomChars: number; readonly above: WordsAbove | null },
): ReadonlyMap<number, readonly HandoverLine[]> {
  const rooms = new Map<number, number>();
  let left = roomChars;
  for (const { turn } of rows.toReversed()) {
    if (turn.ending === null) continue;
    const chars = Math.min(ENDING_CHARS, turn.ending.text.length + ENDING_MARK.length);
    if (chars + 1 > left) continue;
    rooms.set(turn.number, chars);
    left -= chars + 1;
  }
  const write = createWordWriter();
  const lines = (turn: Turn, room: number): readonly HandoverLine[] =>
    write(turn, room, turn.number === above?.number ? above.quotes : null);
  // The newest turn may be quoted above.
  const newest = rows.at(-1)?.turn.number === above?.number ? rows.length - 2 : rows.length - 1;
  const wants = rows.flatMap(({ turn }, at) => {
    const has = rooms.get(turn.number);
    if (has === undefined) return [];
    const chars = charsOfAll(lines(turn, MAX_TURN_CHARS)) + SLACK_CHARS;
    return [{ number: turn.number, chars: Math.max(chars, has), weight: NEWEST_WEIGHTS[newest - at] ?? 1 }];
  });
  // Whoever wants less than a share leaves the rest to the others, and so does whoever cannot fill its share.
  const written = new Map<number, readonly HandoverLine[]>();
  for (let pass = 0; pass < PASSES && (pass === 0 || left > MIN_SPARE_CHARS); pass += 1) {
    let weights = wants.reduce((sum, { weight }) => sum + weight, 0);
    for (const { number, chars, weight } of wants.toSorted((a, b) => a.chars / a.weight - b.chars / b.weight)) {
      const has = rooms.get(number) ?? 0;
      const share = Math.min(Math.max(0, chars - has), Math.floor((Math.max(0, left) * weight) / weights));
      rooms.set(number, has + share);
      left -= share;
      weights -= weight;
    }
    left = roomChars;
    for (const { turn } of rows) {
      const next = lines(turn, rooms.get(turn.number) ?? 0);
      const before = written.get(turn.number) ?? [];
      const longest = charsOfAll(next) > charsOfAll(before) ? next : before;
      written.set(turn.number, longest);
      rooms.set(turn.number, charsOfAll(longest));
      left -= charsOfAll(longest);
    }
  }
  return written;
}

/** How often room that was left over is shared again. */
const PASSES = 4;
const MIN_SPARE_CHARS = 120;

function goesOn(next: number): string {
  return `   (the work went on when ${next} was typed; see there)`;
}

const ENDING_MARK = '   → ';
const OTHER_MARK = '   - ';
const INDENT = '     ';
/** In the place of a closing report that the state of the work quotes. */
export const REPORTED = '(its closing report: see “Where it stands”)';
const UNFINISHED = '(not finished: see “Where it stands”)';
const MIN_OTHER_CHARS = 120;
const MIN_REPORT_CHARS = 400;
const MIN_REMARK_WORDS = 6;

/** Writes the words of a turn within its room, in order: reports and telling remarks, then the ending. What several rooms have in common is read once. */
function createWordWriter() {
  const condense = createCondenser();
  const rankedOf = lazilyFor(rankWords);
  return (turn: Turn, roomChars: number, above: WordsAbove['quotes'] | null): readonly HandoverLine[] => {
    const { ending } = turn;
    if (ending === null || roomChars < ENDING_MARK.length + 12) return [];
    const lineOf = (said: AssistantText, mark: string, maxChars: number): HandoverLine => {
      const chars = maxChars - mark.length - 1;
      const openings = mark === OTHER_MARK ? 0 : undefined;
      const text = mark + quoted(condense(said.text, chars, openings), INDENT);
      // Its lines are indented.
      const share = (maxChars - 1) / Math.max(maxChars - 1, text.length);
      const fits = share === 1 ? text : mark + quoted(condense(said.text, Math.floor(chars * share), openings), INDENT);
      return { text: fits, messageIds: [said.messageId] };
    };
    const last =
      above !== null
        ? { text: ENDING_MARK + (above === 'report' ? REPORTED : UNFINISHED), messageIds: [ending.messageId] }
        : lineOf(ending, ENDING_MARK, roomChars);
    let left = roomChars - last.text.length - 1;
    const lines = new Map<Turn['steps'][number], HandoverLine>();
    for (const said of above === 'remarks' ? [] : rankedOf(turn)) {
      if (left < MIN_OTHER_CHARS) continue;
      const line = lineOf(said, OTHER_MARK, left);
      if (line.text.length + 1 > left || line.text.length < OTHER_MARK.length + 12) continue;
      lines.set(said, line);
      left -= line.text.length + 1;
    }
    return [...turn.steps.flatMap((step) => lines.get(step) ?? []), last];
  };
}

/** What is worth telling of a turn besides its ending, the most telling first. */
function rankWords({ steps, ending, outcome }: Turn): readonly AssistantText[] {
  const firstCall = steps.findIndex(({ kind }) => kind === 'call');
  const rank = (said: AssistantText): number => {
    if (said === outcome) return 4;
    if (said.text.length >= MIN_REPORT_CHARS) return 3;
    if (steps.indexOf(said) < firstCall && !isAnnouncement(said.text)) return 2;
    const remarks = readPieces(said.text).filter(
      ({ text }) => !isBareAnnouncement(text) && !isPondering(text) && wordsIn(text) >= MIN_REMARK_WORDS,
    );
    if (isPondering(said.text.trim())) return -1;
    return remarks.length === 0 ? -1 : remarks.some(({ text }) => statesCause(text)) ? 1 : 0;
  };
  return steps
    .flatMap((step) => (step.kind === 'said' && step !== ending ? [{ said: step, worth: rank(step) }] : []))
    .filter(({ worth }) => worth >= 0)
    .toSorted((a, b) => b.worth - a.worth)
    .map(({ said }) => said);
}

/**
 * The text of each request that fits, by number. If they are too long, those between the first and the newest are reduced to their first
 * sentence.
 */
function fitRequests(asked: readonly AskedTurn[], maxChars: number): ReadonlyMap<number, string> {
  const edges = new Set([asked[0]?.number, asked.at(-1)?.number]);
  const edgeChars = Math.max(LONG_CHARS, Math.min(EDGE_CHARS, Math.floor(maxChars * EDGE_SHARE)));
  // Of equal ones, the first of all or the newest: these are left out last.
  const shownAs = new Map([...asked, ...asked.slice(0, 1)].map(({ request, number }) => [request.text, number]));
  const textOf = (turn: AskedTurn, maxTextChars: number): string => {
    const { text, isKept } = turn.request;
    const shown = shownAs.get(text) ?? turn.number;
    const isRepeated = shown !== turn.number && text.length > MAX_REPEATED_CHARS && isKept !== true;
    return isRepeated && !edges.has(turn.number)
      ? `${turn.number}. (the same words as ${shown})`
      : requestText(turn, maxTextChars);
  };
  const texts = new Map(
    asked.map((turn) => [turn.number, textOf(turn, edges.has(turn.number) ? edgeChars : LONG_CHARS)]),
  );
  let chars = [...texts.values()].reduce((sum, text) => sum + text.length + 1, 0);
  // A plan is quoted whole, if there is room; what a terminal or a diff showed is not.
  for (const turn of asked.toReversed()) {
    const short = texts.get(turn.number) ?? '';
    const spare = Math.floor(maxChars * GENEROUS_SHARE) - chars;
    if (spare < MIN_SPARE_CHARS || turn.request.text.length < LONG_CHARS || !isWritten(turn.request.text)) continue;
    const long = textOf(turn, short.length + spare);
    texts.set(turn.number, long);
    chars += long.length - short.length;
  }
  const reduce = (limitChars: number, shorten: (turn: AskedTurn) => string | null): void => {
    for (const turn of asked) {
      if (chars <= limitChars) return;
      const long = texts.get(turn.number);
      if (long === undefined || edges.has(turn.number)) continue;
      const short = shorten(turn);
      chars -= long.length - (short === null ? -1 : short.length);
      if (short === null) texts.delete(turn.number);
      else texts.set(turn.number, short);
    }
  };
  reduce(maxChars * REQUESTS_SHARE, (turn) => textOf(turn, TIGHT_CHARS));
  reduce(maxChars, (turn) => textOf(turn, FIRST_SENTENCE_CHARS));
  reduce(maxChars, () => null);
  if (chars <= maxChars) return texts;
  const share = Math.floor(maxChars / edges.size) - 1;
  const shortest = asked
    .filter(({ number }) => edges.has(number))
    .map((turn) => [turn.number, textOf(turn, share)] as const);
  return new Map(shortest.filter(([, text]) => text.length <= share));
}

/** A line of prose, a heading, an item, a row of a table, or short code in a plan. */
const WRITTEN_LINE = /^\s*(?:[-*+•>#|]|\d{1,3}[.)]\s|\p{L}\S*\s+\S+\s+\S+|`)/u;
const MIN_WRITTEN_SHARE = 0.7;
/** So much of a line tells what it is; a pattern may fail on millions of characters. */
const MAX_LINE_CHARS = 400;

/** Whether most lines of a text read as if a person or a model had written them. */
function isWritten(text: string): boolean {
  const lines = text.split('\n').filter((line) => /\S/.test(line));
  return (
    lines.filter((line) => WRITTEN_LINE.test(line.slice(0, MAX_LINE_CHARS))).length >= lines.length * MIN_WRITTEN_SHARE
  );
}

const KEPT = '(kept word for word) ';

function requestText({ number, request }: AskedTurn, maxChars: number): string {
  if (request.isKept === true)
    return `${number}. ${KEPT}${quotedExactly(openingOf(request.text, FIRST_SENTENCE_CHARS))}`;
  const label = `${number}. ${request.rejects === null ? '' : '(rejecting a call) '}`;
  const roomChars = maxChars - label.length;
  const text =
    maxChars <= FIRST_SENTENCE_CHARS
      ? openingOf(request.text, roomChars)
      : excerptOf(request.text, {
          maxChars: roomChars,
          openingShare: 0.62,
          closingShare: 0.15,
          worthOf: (sentence) => (sentence.match(ASKING) ?? []).length,
        });
  return label + quotedExactly(text);
}
