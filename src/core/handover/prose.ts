import { splitSentences } from '../extract/sentence.ts';
import { linesOf } from '../extract/units.ts';
import { cutAtBlank, openingOf } from './excerpt.ts';
import { isAnnouncement, worthOfStatement } from './statements.ts';

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
const ROW = /^\|(.*)\|$/;
const RULE_ROW = /^\|?[\s|:-]+\|?$/;
const LEADS = /[:：]\**$/;
const MAX_CODE_CHARS = 120;
const MAX_HEADING_CHARS = 100;

/** A message as pieces, in order: table rows name their columns, and long code is left out. */
export function readPieces(text: string): readonly Piece[] {
  const read = text.slice(0, MAX_READ_CHARS);
  const pieces: Piece[] = [];
  let paragraph = 0;
  let heading = '';
  let columns: readonly string[] | null = null;
  let code: string[] | null = null;
  let isOpen = false;
  const push = (piece: Pick<Piece, 'kind' | 'depth' | 'text'>): void => {
    pieces.push({ ...piece, paragraph, heading });
  };
  let lineEnd = 0;
  for (const { start, end } of linesOf(read, { start: 0, end: read.length })) {
    const line = read.slice(start, end);
    const indent = start - (read.lastIndexOf('\n', start) + 1);
    if (/\n\s*\n/.test(read.slice(lineEnd, start)) && code === null) isOpen = false;
    lineEnd = end;
    if (FENCE.test(line)) {
      if (code !== null) joinCode(pieces, code);
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
      heading = bold ?? `**${(headed ?? '').replace(/^\*+|[*:]+$/g, '')}:**`;
      paragraph += 1;
      isOpen = false;
      continue;
    }
    const row = ROW.exec(line)?.[1];
    if (row !== undefined) {
      if (RULE_ROW.test(line)) continue;
      const cells = row.split('|').map((cell) => cell.trim());
      if (columns === null) {
        columns = cells;
        if (!leadsIn(pieces)) paragraph += 1;
      } else push({ kind: 'item', depth: 0, text: `- ${rowText(columns, cells)}` });
      continue;
    }
    columns = null;
    if (ITEM.test(line)) {
      leadsIn(pieces);
      push({ kind: 'item', depth: indent < 2 ? 0 : indent < 5 ? 1 : 2, text: line });
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
function leadsIn(pieces: Piece[]): boolean {
  const last = pieces.at(-1);
  if (last === undefined || last.kind !== 'sentence' || !LEADS.test(last.text)) return false;
  pieces[pieces.length - 1] = { ...last, kind: 'lead' };
  return true;
}

/** A short piece of code stands behind the words that introduce it. */
function joinCode(pieces: Piece[], code: readonly string[]): void {
  const last = pieces.at(-1);
  const joined = code.join('; ');
  if (last === undefined || !LEADS.test(last.text) || joined.length > MAX_CODE_CHARS || joined.includes('`')) return;
  if (joined !== '') pieces[pieces.length - 1] = { ...last, text: `${last.text} \`${joined}\`` };
}

function rowText(columns: readonly string[], cells: readonly string[]): string {
  const [first = '', ...rest] = cells;
  const values = rest.flatMap((cell, at) => {
    const column = columns[at + 1] ?? '';
    return cell === '' ? [] : [column === '' || rest.length === 1 ? cell : `${column}: ${cell}`];
  });
  return [first, values.join(', ')].filter((part) => part !== '').join(': ');
}

const OFFER =
  /^(?:would you like|want me to|shall i|should i|do you want|let me know|if you(?:['’]d| would) like|feel free|ready (?:for|to))\b/i;
const FILLER =
  /^(?:perfect|great|excellent|good|done|all set|sure|ok(?:ay)?|you['’]re (?:absolutely )?right)[^.!]{0,20}[!.]$/i;
/** A sentence that says nothing without the one before it. */
const LEANS = /^(?:this|that|these|those|it|they|both|so|but|however|which|also|otherwise|instead)\b/i;
/** The beginning says what an answer is about. */
const OPENING_CHARS = 110;
/** In so many pieces an announcement of what follows stays. */
const OPENING_LEADS = 3;
const MIN_TOLD_CHARS = 40;
const HEADING_CHARS = ' \n'.length;
const MORE_CHARS = ' (99 more)'.length;

/**
 * Quotes the most telling pieces of a message in at most `maxChars`: its beginning, its end, what states a cause, a result or a value, then the
 * rest in order. Lists are cut between items and say how many are missing; nothing ends with the announcement of what was left out.
 */
export function condenseProse(text: string, maxChars: number): string {
  if (maxChars < 12) return '';
  const pieces = readPieces(text).filter(
    ({ kind, text: said }, at, all) =>
      at < OPENING_LEADS || kind !== 'sentence' || !LEADS.test(said) || all.length === 1,
  );
  if (pieces.length === 0) return cutAtBlank(openingOf(text, maxChars), maxChars);
  const chosen = new Set<number>();
  const headings = new Set<string>();
  let left = maxChars;
  const cost = (at: number): number => (pieces[at]?.text.length ?? 0) + 1;
  const leadOf = (at: number): number | null => {
    if (pieces[at]?.kind !== 'item') return null;
    for (let i = at - 1; i >= 0 && pieces[i]?.kind !== 'sentence'; i -= 1) if (pieces[i]?.kind === 'lead') return i;
    return null;
  };
  const take = (at: number): void => {
    const piece = pieces[at];
    if (piece === undefined) return;
    const before = LEANS.test(piece.text) && pieces[at - 1]?.paragraph === piece.paragraph ? at - 1 : null;
    // A lead without its list says nothing.
    const item = piece.kind === 'lead' && pieces[at + 1]?.kind === 'item' ? at + 1 : null;
    if (piece.kind === 'lead' && item === null) return;
    const needed = [...new Set([at, leadOf(at) ?? at, before ?? at, item ?? at])].filter((one) => !chosen.has(one));
    const more = piece.kind === 'item' && !chosen.has(at - 1) ? MORE_CHARS : 0;
    const headed = piece.heading === '' || headings.has(piece.heading) ? 0 : piece.heading.length + HEADING_CHARS;
    const chars = needed.reduce((sum, one) => sum + cost(one), more + headed);
    if (chars > left) return;
    for (const one of needed) chosen.add(one);
    headings.add(piece.heading);
    left -= chars;
  };
  const begins = Math.max(
    0,
    pieces.findIndex(({ text: said }) => !isAnnouncement(said)),
  );
  let openingChars = 0;
  const opening = new Set(
    pieces.flatMap(({ text: said }, at) => {
      if (at < begins || openingChars > OPENING_CHARS) return [];
      openingChars += said.length;
      return [at];
    }),
  );
  const worths = pieces.map(({ text: said, kind }, at) => {
    if (opening.has(at)) return 9;
    if (OFFER.test(said) || FILLER.test(said)) return 0.2;
    if (isAnnouncement(said)) return 0.1;
    return worthOfStatement(said) + (kind === 'item' ? -0.2 : 0) + (at === pieces.length - 1 ? 0.8 : 0);
  });
  const ranked = pieces.map((_, at) => at).toSorted((a, b) => (worths[b] ?? 0) - (worths[a] ?? 0) || a - b);
  for (const at of ranked) take(at);
  const last = Math.max(...chosen);
  // What an opening announces may have found no room.
  if (chosen.size > 1 && pieces[last]?.kind === 'sentence' && LEADS.test(pieces[last].text)) chosen.delete(last);
  if (chosen.size === 0) return cutAtBlank(pieces[ranked[0] ?? 0]?.text ?? '', maxChars);
  const spelt = spell(pieces, chosen);
  const next = pieces.find((_, at) => !chosen.has(at));
  // “Done.” alone says less than half of what was done.
  if (spelt.length >= MIN_TOLD_CHARS || next === undefined || left < MIN_TOLD_CHARS) return spelt;
  return `${spelt} ${cutAtBlank(next.text, left - 1)}`;
}

function spell(pieces: readonly Piece[], chosen: ReadonlySet<number>): string {
  let spelt = '';
  let missing = 0;
  let last: { readonly piece: Piece; readonly at: number } | null = null;
  const count = (): void => {
    if (missing > 0) spelt += ` (${missing} more)`;
    missing = 0;
  };
  for (const [at, piece] of pieces.entries()) {
    if (!chosen.has(at)) {
      const isListed = last !== null && last.piece.kind !== 'sentence' && last.piece.paragraph === piece.paragraph;
      if (isListed && piece.kind === 'item') missing += 1;
      continue;
    }
    if (piece.kind !== 'item' || last?.piece.paragraph !== piece.paragraph) count();
    const isSame =
      last?.piece.kind === 'sentence' && piece.kind === 'sentence' && last.piece.paragraph === piece.paragraph;
    const isHeaded = piece.heading !== '' && piece.heading !== last?.piece.heading;
    const gap = last === null ? '' : !isSame || isHeaded ? '\n' : at === last.at + 1 ? ' ' : ' … ';
    const head = isHeaded ? `${piece.heading}${piece.kind === 'item' ? '\n' : ' '}` : '';
    spelt += gap + head + '  '.repeat(piece.kind === 'item' ? piece.depth : 0) + piece.text;
    last = { piece, at };
  }
  count();
  return spelt;
}
