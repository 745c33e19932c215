import { cutAtBlank, excerptOf, openingOf } from './excerpt-of.ts';
import { indented } from './line.ts';
import type { HandoverLine } from './line.ts';
import type { Request, Turn } from './turns.ts';

// Longer requests were pasted in part: their beginning, their end and the lines that ask or demand say what was wanted.
const LONG_CHARS = 700;
const FIRST_AND_LAST_CHARS = 2_000;
const FIRST_AND_LAST_SHARE = 0.2;
const LONG_OPENING_SHARE = 0.62;
const SHORT_CHARS = 160;
const MIN_ENDING_CHARS = 160;
// The newest endings say where the work stands: more of each, the newer it is.
const ENDING_SHARES = [0.35, 0.3, 0.25, 0.2, 0.15];
const LATER_ENDING_SHARE = 0.1;
const MAX_ENDING_CHARS = 2_400;

const ASKS =
  /[?？؟]|\b(?:must|never|always|don['’]?t|do not|only|make sure|should|please|need|want|instead|keep|use)\b|`[^`]+`|[\w-]+\.\w{2,4}\b/giu;

/** How many signs of a request, a rule or a name a sentence has. */
function worthOfAsking(text: string): number {
  return (text.match(ASKS) ?? []).length;
}

/** Every request in order with the assistant's last words before the next one, within `maxChars`. */
export function writeRequestLines(turns: readonly Turn[], maxChars: number): readonly HandoverLine[] {
  const asked = turns.filter((turn): turn is Turn & { readonly request: Request } => turn.request !== null);
  const texts = fitRequests(asked, maxChars);
  let left = maxChars - texts.reduce((sum, text) => sum + (text === null ? 0 : text.length + 1), 0);
  const endings = new Map<number, string>();
  const newestFirst = asked.map((_, index) => index).reverse();
  for (const index of newestFirst) {
    const ending = asked[index]?.ending?.text;
    if (ending === undefined || texts[index] === null) continue;
    const text = endingLine(ending, MIN_ENDING_CHARS);
    if (text.length + 1 > left) continue;
    endings.set(index, text);
    left -= text.length + 1;
  }
  for (const [age, index] of newestFirst.entries()) {
    const short = endings.get(index);
    const ending = asked[index]?.ending?.text;
    if (short === undefined || ending === undefined) continue;
    const room = Math.floor(left * (ENDING_SHARES[age] ?? LATER_ENDING_SHARE));
    const long = endingLine(ending, Math.min(MAX_ENDING_CHARS, short.length + room));
    if (long.length - short.length > left) continue;
    endings.set(index, long);
    left -= long.length - short.length;
  }
  return asked.flatMap((turn, index): readonly HandoverLine[] => {
    const text = texts[index];
    if (text === null || text === undefined) return [];
    const ending = endings.get(index);
    const line = { text, messageIds: [turn.request.messageId] };
    return ending === undefined || turn.ending === null
      ? [line]
      : [line, { text: ending, messageIds: [turn.ending.messageId] }];
  });
}

function endingLine(ending: string, maxChars: number): string {
  const text =
    maxChars <= MIN_ENDING_CHARS
      ? openingOf(ending, MIN_ENDING_CHARS)
      : excerptOf(ending, { maxChars, openingShare: 0.55, closingShare: 0.25 });
  return `   → ${indented(text, '     ')}`;
}

/** The requests as far as they fit: whole where they can be, else those between the first and the newest by their first sentences. Null: left out. */
function fitRequests(
  asked: readonly (Turn & { readonly request: Request })[],
  maxChars: number,
): readonly (string | null)[] {
  const last = asked.length - 1;
  const edgeChars = Math.max(LONG_CHARS, Math.min(FIRST_AND_LAST_CHARS, Math.floor(maxChars * FIRST_AND_LAST_SHARE)));
  const write = (turn: Turn & { readonly request: Request }, maxTextChars: number): string => {
    const { text } = turn.request;
    const short =
      maxTextChars === SHORT_CHARS
        ? openingOf(text, SHORT_CHARS)
        : excerptOf(text, {
            maxChars: maxTextChars,
            openingShare: LONG_OPENING_SHARE,
            closingShare: 0.15,
            worthOf: worthOfAsking,
          });
    const label = turn.request.rejects === null ? '' : '(rejecting a call) ';
    return `${turn.number}. ${label}${indented(short)}`;
  };
  const texts: (string | null)[] = asked.map((turn, index) =>
    write(turn, index === 0 || index === last ? edgeChars : LONG_CHARS),
  );
  let chars = texts.reduce((sum, text) => sum + (text ?? '').length + 1, 0);
  for (const reduce of [(turn: Turn & { readonly request: Request }) => write(turn, SHORT_CHARS), () => null]) {
    for (let index = 1; index < last && chars > maxChars; index += 1) {
      const turn = asked[index];
      if (turn === undefined) continue;
      const shorter = reduce(turn);
      chars -= (texts[index] ?? '').length - (shorter ?? '').length + (shorter === null ? 1 : 0);
      texts[index] = shorter;
    }
  }
  if (chars > maxChars && asked.length > 0) {
    const share = Math.floor(maxChars / Math.min(2, asked.length)) - 24;
    return texts.map((text) => (text === null || share < 1 ? null : cutAtBlank(text, share)));
  }
  return texts;
}
