import { splitSentences } from '../extract/sentence.ts';
import { linesOf } from '../extract/units.ts';
import { lazily, lazilyFor } from '../lazy.ts';
import { cutAtBlank, openingOf } from './excerpt.ts';
import { isAnnouncement, isBareAnnouncement, isPondering, wordsIn, worthOfStatement } from './statements.ts';

/**
 * A part of a message that can be quoted on its own. Sentences of one paragraph share its number. Whoever quotes an item quotes the line that
 * introduces its list as well.
 */
export type Piece = {
  readonly text: string;
  readonly kind: 'sentence' | 'item' | 'lead';
  readonly paragraph: number;
  /** The heading that it stands under, bold; empty: none. */
  readonly heading: string;
  /** How deep an item stands in its list, from 0. */
  readonly depth: number;
};

// Nobody writes more by hand.
const MAX_READ_CHARS = 60_000;
const FENCE = /^(?:```|~~~)/;
const RULER = /^(?:[-*_=─━] ?){3,}$/;
const HEADING = /^#{1,6}\s+(.+?)\s*#*$/;
/** A line that is bold as a whole works as a heading. */
const BOLD_LINE = /^\*\*(.+?):?\*\*:?$/;
const ITEM = /^(?:[-*+•]|\*{0,2}\d{1,3}[.)])\s+/;
const NUMBERED = /^\*{0,2}\d{1,3}[.)]\s/;
const ROW = /^\|(.*)\|$/;
const RULE_ROW = /^\|?[\s|:-]+\|?$/;
const LEFT_OUT = ' …';
/** It announces what follows, or code that is left out. */
const LEADS = /[:：]\**$| …$/;
const MAX_CODE_CHARS = 120;
const MAX_HEADING_CHARS = 100;

/** A message as pieces, in order: table rows name their columns, and long code is left out. */
export function readPieces(text: string): readonly Piece[] {
  const read = text.slice(0, MAX_READ_CHARS);
  const pieces: Piece[] = [];
  let paragraph = 0;
  let heading = '';
  let columns: readonly string[] | null = null;
  let lastRow: readonly string[] | null = null;
  let code: string[] | null = null;
  let isOpen = false;
  let numberIndent: number | null = null;
  const push = (piece: Pick<Piece, 'kind' | 'depth' | 'text'>): void => {
    pieces.push({ ...piece, paragraph, heading });
  };
  let lineEnd = 0;
  for (const { start, end } of linesOf(read, { start: 0, end: read.length })) {
    const line = read.slice(start, end);
    const gap = read.slice(lineEnd, start);
    const indent =
      gap.length - 1 - Math.max(gap.lastIndexOf('\n'), gap.lastIndexOf('\u2028'), gap.lastIndexOf('\u2029'));
    if (/\n\s*\n/.test(gap) && code === null) isOpen = false;
    lineEnd = end;
    if (FENCE.test(line)) {
      if (code !== null) joinCode(pieces, code);
      // A heading over nothing but code says nothing without it.
      if (code !== null && pieces.at(-1)?.heading !== heading) heading = '';
      code = code === null ? [] : null;
      isOpen = false;
      continue;
    }
    if (code !== null) {
      code.push(line);
      continue;
    }
    if (RULER.test(line)) continue;
    const headed = HEADING.exec(line)?.[1];
    const bold = BOLD_LINE.exec(line)?.[0];
    if ((headed ?? bold ?? line).length <= MAX_HEADING_CHARS && (headed !== undefined || bold !== undefined)) {
      heading = bold ?? `**${(headed ?? '').replaceAll('**', '').replace(/:$/, '')}:**`;
      paragraph += 1;
      isOpen = false;
      continue;
    }
    const row = ROW.exec(line)?.[1];
    if (row !== undefined) {
      const cells = row.split('|').map((cell) => cell.trim());
      const isRuler = RULE_ROW.test(line);
      if (columns === null) {
        // A table without a head names no columns.
        columns = isRuler ? [] : cells;
        if (!leadsIn(pieces, heading)) paragraph += 1;
      } else if (!isRuler) {
        push({ kind: 'item', depth: 0, text: `- ${rowText(columns, cells)}` });
      } else if (lastRow !== null) {
        // The row above a ruler names the columns of another table.
        columns = lastRow;
        pieces.pop();
      }
      lastRow = columns === cells || isRuler ? null : cells;
      continue;
    }
    columns = null;
    if (ITEM.test(line)) {
      if (leadsIn(pieces, heading) || pieces.at(-1)?.kind !== 'item') numberIndent = null;
      const isNumbered = NUMBERED.test(line);
      if (isNumbered) numberIndent = indent;
      // Bullets under a number belong to it, wherever they begin.
      const isBelow = !isNumbered && indent === numberIndent;
      push({ kind: 'item', depth: isBelow ? 1 : indent < 2 ? 0 : indent < 5 ? 1 : 2, text: line });
      isOpen = false;
      continue;
    }
    if (!isOpen && !(indent >= 2 && pieces.at(-1)?.kind === 'item')) paragraph += 1;
    isOpen = true;
    for (const span of splitSentences(read, { start, end })) {
      push({ kind: 'sentence', depth: 0, text: read.slice(span.start, span.end) });
    }
  }
  return pieces;
}

/** Makes the last sentence the lead of the list or table that begins, if it introduces it. */
function leadsIn(pieces: Piece[], heading: string): boolean {
  const last = pieces.at(-1);
  if (last?.kind !== 'sentence' || last.heading !== heading || !LEADS.test(last.text)) return false;
  pieces[pieces.length - 1] = { ...last, kind: 'lead' };
  return true;
}

/** A short piece of code stands behind the words that introduce it, and `…` for a long one. */
function joinCode(pieces: Piece[], code: readonly string[]): void {
  const last = pieces.at(-1);
  const joined = code.join('; ');
  if (last === undefined || !LEADS.test(last.text) || last.text.endsWith(LEFT_OUT) || joined === '') return;
  const text =
    joined.length > MAX_CODE_CHARS || joined.includes('`') ? `${last.text}${LEFT_OUT}` : `${last.text} \`${joined}\``;
  pieces[pieces.length - 1] = { ...last, text };
}

function rowText(columns: readonly string[], cells: readonly string[]): string {
  const [name = '', first = ''] = [columns[0], cells[0]];
  const [, other = ''] = columns;
  // `Before` and `after`, or `conflict: no`, say nothing without the columns.
  const isNamed = name !== '' && (STATES.test(other) || ANSWER.test(first));
  const values = cells.slice(1).flatMap((cell, at) => {
    const column = columns[at + 1] ?? '';
    return cell === '' ? [] : [column === '' || (cells.length === 2 && !isNamed) ? cell : `${column}: ${cell}`];
  });
  if (isNamed) return [`${name}: ${first}`, ...values].join(', ');
  return [first, values.join(', ')].filter((part) => part !== '').join(': ');
}

const STATES = /^\W*(?:after|new|now|today|then|actual|expected|to|remaining|pending|open|left|next|missing|failed)\b/i;
const ANSWER = /^\W*(?:yes|no|true|false|\d{1,3})\W*$/i;

const OFFER =
  /^(?:would you like|want me to|shall i|should i|do you want|let me know|if you(?:['’]d| would) like|feel free|ready (?:for|to))\b/i;
/** A closing question, which belongs to no heading. */
const ASKS_BACK = /^(?:does|do|is|are|would|shall|should|want|what|which|ready)\b[^.]*\?$/i;
const FILLER =
  /^(?:perfect|great|excellent|good|done|all set|sure|ok(?:ay)?|you['’]re (?:absolutely )?right)[^.!]{0,20}[!.]$/i;
/** A sentence that says nothing without the one before it. */
const LEANS = /^(?:this|that|these|those|it|they|both|so|but|however|which|also|otherwise|instead)\b/i;
/** The beginning says what an answer is about. */
const OPENING_CHARS = 110;
/** In so many pieces an announcement of what follows stays. */
const OPENING_LEADS = 3;
/** So many sentences stay even if they think aloud. */
const OPENING_SENTENCES = 2;
const MIN_TOLD_CHARS = 40;
const MIN_TELLING_WORDS = 4;
/** A list that is cut shows at least its lead and an item, or two items. */
const MIN_LISTED = 2;
const GAP_CHARS = ' …'.length;
const HEADING_CHARS = ' \n'.length;
const MORE_CHARS = ' (99 more)'.length;

/**
 * Quotes the most telling pieces of a message in at most `maxChars`: its beginning, its end, what states a cause, a result or a value, then the
 * rest in order. A list is quoted whole if it fits, else its first items and how many are missing; nothing ends with the announcement of what
 * was left out. Announcements (“Let me check …”) only stay with a reason, or among the first `openings` pieces.
 */
export function condenseProse(text: string, maxChars: number, openings = OPENING_LEADS): string {
  return createCondenser()(text, maxChars, openings);
}

/** The same for a caller who tries several lengths: a text is read and weighed once. */
export function createCondenser() {
  const proseOf = lazilyFor((openings: number) => lazilyFor((text: string) => readProse(text, openings)));
  return (text: string, maxChars: number, openings = OPENING_LEADS): string =>
    maxChars < 12 ? '' : condense(proseOf(openings)(text), maxChars);
}

function readProse(text: string, openings: number) {
  const pieces = readPieces(text).filter(
    ({ kind, text: said }, at, all) =>
      all.length === 1 ||
      kind !== 'sentence' ||
      ((at < openings || !isBareAnnouncement(said)) && (at < OPENING_SENTENCES || !isPondering(said))),
  );
  return { text, pieces, whole: spell(pieces, new Set(pieces.keys())), weighed: lazily(() => weigh(pieces)) };
}

function condense({ text, pieces, whole, weighed }: ReturnType<typeof readProse>, maxChars: number): string {
  if (pieces.length === 0) return cutAtBlank(openingOf(text, maxChars), maxChars);
  if (whole.length <= maxChars) return whole;
  const { begins, units } = weighed();
  const chosen = new Set<number>();
  const headings = new Set<string>();
  let left = maxChars;
  const costOf = (at: number): number => {
    const piece = pieces[at];
    return piece === undefined ? 0 : piece.text.length + 1 + 2 * piece.depth;
  };
  const take = (places: readonly number[]): void => {
    const [first = 0] = places;
    const { heading = '', kind } = pieces[first] ?? {};
    const headed = heading === '' || headings.has(heading) ? 0 : heading.length + HEADING_CHARS;
    // What stands below an item comes after all items.
    const depthOf = (at: number): number => pieces[at]?.depth ?? 0;
    const needed = places.filter((at) => !chosen.has(at)).toSorted((a, b) => depthOf(a) - depthOf(b));
    let chars = headed + GAP_CHARS;
    let fits = 0;
    for (const at of needed) {
      if (chars + costOf(at) + (fits === needed.length - 1 ? 0 : MORE_CHARS) > left) break;
      chars += costOf(at);
      fits += 1;
    }
    const isWhole = fits === needed.length;
    // Sentences that lean on each other stay together, and a lead stays with items.
    if (fits === 0 || (!isWhole && (kind === 'sentence' || fits < MIN_LISTED))) return;
    for (const at of needed.slice(0, fits)) chosen.add(at);
    headings.add(heading);
    left -= chars + (isWhole ? 0 : MORE_CHARS);
  };
  for (const places of units) take(places);
  const last = Math.max(...chosen);
  // What an opening announces may have found no room.
  if (chosen.size > 1 && pieces[last]?.kind === 'sentence' && LEADS.test(pieces[last].text)) chosen.delete(last);
  if (chosen.size === 0) return cutAtBlank(pieces[begins]?.text ?? '', maxChars);
  const spelt = spell(pieces, chosen);
  const next = pieces.find((_, at) => !chosen.has(at));
  // “Done.” alone says less than half of what was done.
  if (spelt.length >= MIN_TOLD_CHARS || next === undefined || left < MIN_TOLD_CHARS) return spelt;
  return `${spelt} ${cutAtBlank(next.text, left - 1)}`;
}

/** The first piece that announces nothing, and what is chosen together, the most telling first. */
function weigh(pieces: readonly Piece[]) {
  const begins = Math.max(
    0,
    pieces.findIndex(({ text: said }) => !isAnnouncement(said)),
  );
  let openingChars = 0;
  const worthOf = (places: readonly number[]): number => {
    const said = places.map((at) => pieces[at]?.text ?? '');
    if ((places.at(-1) ?? 0) >= begins && openingChars <= OPENING_CHARS) {
      openingChars += said.join(' ').length;
      return 9;
    }
    const [opening = ''] = said;
    if (places.length === 1 && (OFFER.test(opening) || FILLER.test(opening))) return 0.2;
    if (places.length === 1 && (isAnnouncement(opening) || isPondering(opening))) return 0.1;
    // “Just a notice.” says nothing alone.
    if (places.length === 1 && wordsIn(opening) < MIN_TELLING_WORDS) return 0.3;
    const mean = said.reduce((sum, one) => sum + worthOfStatement(one), 0) / said.length;
    return mean - (places.length > 1 ? 0.2 : 0) + (places.at(-1) === pieces.length - 1 ? 0.8 : 0);
  };
  const weighed = unitsOf(pieces).map((places) => ({ places, worth: worthOf(places) }));
  return { begins, units: weighed.toSorted((a, b) => b.worth - a.worth).map(({ places }) => places) };
}

/** What is chosen together: a list with its lead, a sentence with the one before it if it leans on that. */
function unitsOf(pieces: readonly Piece[]): readonly (readonly number[])[] {
  const units: number[][] = [];
  for (const [at, piece] of pieces.entries()) {
    const before = pieces[at - 1];
    const isSame = before?.paragraph === piece.paragraph;
    if (piece.kind === 'item' && isSame && before.kind !== 'sentence') units.at(-1)?.push(at);
    else units.push(isSame && LEANS.test(piece.text) ? [at - 1, at] : [at]);
  }
  return units;
}

function spell(pieces: readonly Piece[], chosen: ReadonlySet<number>): string {
  let spelt = '';
  let missing = 0;
  let last: { readonly piece: Piece; readonly at: number } | null = null;
  let isCut = false;
  const count = (): void => {
    if (missing > 0) spelt += ` (${missing} more)`;
    else if (isCut) spelt += LEFT_OUT;
    missing = 0;
    isCut = false;
  };
  for (const [at, piece] of pieces.entries()) {
    if (!chosen.has(at)) {
      const isListed = last !== null && last.piece.kind !== 'sentence' && last.piece.paragraph === piece.paragraph;
      if (isListed && piece.kind === 'item') {
        if (piece.depth <= (last?.piece.depth ?? 0)) missing += 1;
        else isCut = true;
      }
      continue;
    }
    if (piece.kind !== 'item' || last?.piece.paragraph !== piece.paragraph) count();
    const isSame =
      last?.piece.kind === 'sentence' && piece.kind === 'sentence' && last.piece.paragraph === piece.paragraph;
    const isHeaded = piece.heading !== '' && piece.heading !== last?.piece.heading && !ASKS_BACK.test(piece.text);
    const gap = last === null ? '' : !isSame || isHeaded ? '\n' : at === last.at + 1 ? ' ' : ' … ';
    const head = isHeaded ? `${piece.heading}${piece.kind === 'item' ? '\n' : ' '}` : '';
    spelt += gap + head + '  '.repeat(piece.kind === 'item' ? piece.depth : 0) + piece.text;
    last = { piece, at };
  }
  count();
  return spelt;
}
