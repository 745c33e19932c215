import { excerptOf, openingOf } from './excerpt.ts';
import { type HandoverLine, quoted, quotedExactly } from './line.ts';
import type { AssistantText, Request, Turn } from './turns.ts';

// The first request says what the work is about, the newest what is wanted now.
const EDGE_CHARS = 2_000;
const EDGE_SHARE = 0.2;
// Longer requests contain pasted text. Their beginning, their end and the lines that ask or demand something say what was wanted.
const LONG_CHARS = 700;
const TIGHT_CHARS = 440;
const FIRST_SENTENCE_CHARS = 160;
/** If requests take more than this share of the room, longer ones are cut further to leave room for the endings. */
const REQUESTS_SHARE = 0.6;
const ENDING_CHARS = 170;
// The newest endings show where the work stands, so the newer an ending, the more of it is quoted.
const NEWEST_SHARES = [0.35, 0.3, 0.25, 0.2, 0.15];
const OLDER_SHARE = 0.1;
// The rest is better spent on findings and details.
const GROWTH_SHARE = 0.5;
const MAX_ENDING_CHARS = 2_400;

const ASKING =
  /[?？؟]|\b(?:must|never|always|don['’]?t|do not|only|make sure|should|please|need|want|instead|keep|use)\b|`[^`]+`|[\w-]+\.\w{2,4}\b/giu;

const MIN_REQUEST_CHARS = '1. x\n'.length;

type AskedTurn = Turn & { readonly request: Request };

/** Every request in order, each followed by the assistant's last words before the next one (`→`), within `maxChars`. */
export function writeRequestLines(turns: readonly Turn[], maxChars: number): readonly HandoverLine[] {
  const all = turns.filter((turn): turn is AskedTurn => turn.request !== null);
  const newest = all.slice(-Math.ceil(maxChars / MIN_REQUEST_CHARS));
  // Older ones cannot fit, whatever they say.
  const asked = newest.length === all.length ? all : [...all.slice(0, 1), ...newest];
  const texts = fitRequests(asked, maxChars);
  const rows = turns.flatMap((turn): readonly Row[] => {
    const text = turn.request === null ? '(before the first request)' : texts.get(turn.number);
    return text === undefined ? [] : [{ turn, text }];
  });
  const used = rows.reduce((sum, { text }) => sum + text.length + 1, 0);
  const { replies, chars } = fitReplies(rows, maxChars - used);
  const endings = fitEndings(rows, maxChars - used - chars);
  return rows.flatMap(({ turn, text }): readonly HandoverLine[] => {
    const below = [...(replies.get(turn.number) ?? []), ...(endings.get(turn.number) ?? [])];
    if (turn.request === null) return below.length === 0 ? [] : [{ text, messageIds: [] }, ...below];
    return [{ text, messageIds: [turn.request.messageId] }, ...below];
  });
}

type Row = { readonly turn: Turn; readonly text: string };

const REPLY_MARKS = {
  refusal: '   (refusing a call, says its result) ',
  answers: '   (answering questions, says their result) ',
} as const;
const MAX_REPLY_CHARS = { refusal: 500, answers: 1_000 } as const;
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
  for (const { turn } of rows.toReversed()) {
    for (const { kind, text, messageId } of turn.replies.toReversed()) {
      const words = excerptOf(text, { maxChars: MAX_REPLY_CHARS[kind] });
      const line = { text: REPLY_MARKS[kind] + quoted(words, '     '), messageIds: [messageId] };
      if (chars + line.text.length + 1 > maxChars) continue;
      chars += line.text.length + 1;
      replies.set(turn.number, [line, ...(replies.get(turn.number) ?? [])]);
    }
  }
  return { replies, chars };
}

/** Gives each ending a sentence or two, the newest first. The rest goes to the newest endings and to earlier words that say more. */
function fitEndings(rows: readonly Row[], roomChars: number): ReadonlyMap<number, readonly HandoverLine[]> {
  const endings = new Map<number, readonly HandoverLine[]>();
  let left = roomChars;
  const newestFirst = rows.toReversed();
  for (const { turn } of newestFirst) {
    if (turn.ending === null) continue;
    const line = endingLine(turn.ending, ENDING_CHARS);
    if (line.text.length + 1 > left) continue;
    endings.set(turn.number, [line]);
    left -= line.text.length + 1;
  }
  left = Math.floor(left * GROWTH_SHARE);
  for (const [age, { turn }] of newestFirst.entries()) {
    const [short] = endings.get(turn.number) ?? [];
    if (short === undefined || turn.ending === null) continue;
    const room = Math.floor(left * (NEWEST_SHARES[age] ?? OLDER_SHARE));
    const maxChars = Math.min(MAX_ENDING_CHARS, short.text.length + room);
    const lines =
      turn.outcome === null || room < FIRST_SENTENCE_CHARS
        ? [endingLine(turn.ending, maxChars)]
        : [endingLine(turn.outcome, room - 1), short];
    const more = lines.reduce((sum, { text }) => sum + text.length + 1, 0) - short.text.length - 1;
    if (more > left || more <= 0) continue;
    endings.set(turn.number, lines);
    left -= more;
  }
  return endings;
}

const ENDING_MARK = '   → ';

function endingLine(said: AssistantText, maxChars: number): HandoverLine {
  const roomChars = maxChars - ENDING_MARK.length;
  const opening = openingOf(said.text, Math.min(FIRST_SENTENCE_CHARS, roomChars));
  const excerpt = excerptOf(said.text, {
    maxChars: roomChars,
    openingShare: 0.55,
    closingShare: 0.25,
    skipsCode: true,
  });
  const text = excerpt.length > opening.length ? excerpt : opening;
  return { text: ENDING_MARK + quoted(text, '     '), messageIds: [said.messageId] };
}

/**
 * The text of each request that fits, by number. If they are too long, those between the first and the newest are reduced to their first
 * sentence.
 */
function fitRequests(asked: readonly AskedTurn[], maxChars: number): ReadonlyMap<number, string> {
  const edges = new Set([asked[0]?.number, asked.at(-1)?.number]);
  const edgeChars = Math.max(LONG_CHARS, Math.min(EDGE_CHARS, Math.floor(maxChars * EDGE_SHARE)));
  const texts = new Map(
    asked.map((turn) => [turn.number, requestText(turn, edges.has(turn.number) ? edgeChars : LONG_CHARS)]),
  );
  let chars = [...texts.values()].reduce((sum, text) => sum + text.length + 1, 0);
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
  reduce(maxChars * REQUESTS_SHARE, (turn) => requestText(turn, TIGHT_CHARS));
  reduce(maxChars, (turn) => requestText(turn, FIRST_SENTENCE_CHARS));
  reduce(maxChars, () => null);
  if (chars <= maxChars) return texts;
  const share = Math.floor(maxChars / edges.size) - 1;
  const shortest = asked
    .filter(({ number }) => edges.has(number))
    .map((turn) => [turn.number, requestText(turn, share)] as const);
  return new Map(shortest.filter(([, text]) => text.length <= share));
}

function requestText({ number, request }: AskedTurn, maxChars: number): string {
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
