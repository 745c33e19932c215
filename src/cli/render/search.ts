import type {
  CapturedSearchReport,
  MarkReport,
  MessageHit,
  SearchHit,
  SearchReport,
} from '../../app/contract/archive-reports.ts';
import { countOf, formatCount } from './quantities.ts';
import { clipPath, clipText, formatMinute, safeText, textWidth } from './text.ts';
import type { Theme } from './theme.ts';

type SearchRendering = { readonly theme: Theme; readonly widthColumns: number; readonly isVerbose: boolean };

const MIN_COLUMNS = 20; // narrower than this, nothing is readable
const INDENT = '  ';

/** For each hit the name for `compact show`, its place, and the words found, with the text around them. */
export function renderSearchReport(report: SearchReport, rendering: SearchRendering): readonly string[] {
  return report.hits.flatMap((hit, index) => [...(index === 0 ? [] : ['']), ...renderHit(hit, rendering)]);
}

/** For each hit its place and version, who said it, and the words found. */
export function renderCapturedHits(
  { hits }: CapturedSearchReport,
  { theme, widthColumns }: Omit<SearchRendering, 'isVerbose'>,
): readonly string[] {
  const inner = Math.max(MIN_COLUMNS, widthColumns) - INDENT.length;
  return hits.flatMap((hit, index) => {
    const place = `:${hit.line}${INDENT}version ${hit.version}`;
    return [
      ...(index === 0 ? [] : ['']),
      `${theme.strong(clipPath(safeText(hit.file), inner - place.length))}${place}`,
      `${INDENT}${theme.faint(clipText(aboutMessage(hit), inner))}`,
      ...wrapMarked(hit, { columns: inner, paint: theme.match }).map((line) => INDENT + line),
    ];
  });
}

function renderHit(hit: SearchHit, { theme, widthColumns, isVerbose }: SearchRendering): readonly string[] {
  const columns = Math.max(MIN_COLUMNS, widthColumns);
  const inner = columns - INDENT.length;
  const about = clipText(hit.kind === 'message' ? aboutMessage(hit) : aboutBatch(hit), inner - hit.show.length);
  const place = hit.kind === 'message' && hit.index !== null ? `, message ${formatCount(hit.index)}` : '';
  const more = isVerbose ? [hit.label, hit.conversation, hit.id] : [];
  return [
    `${theme.strong(hit.show)}${INDENT}${about}`,
    `${INDENT}${theme.faint(`${clipPath(safeText(hit.file), inner - place.length)}${place}`)}`,
    ...[...new Set(more)].flatMap((one) => (one === null ? [] : [`${INDENT}${theme.faint(safeText(one))}`])),
    ...wrapMarked(hit, { columns: inner, paint: theme.match }).map((line) => INDENT + line),
  ];
}

function aboutMessage({ role, name, at }: Pick<MessageHit, 'role' | 'name' | 'at'>): string {
  const speaker = name === null ? role : `${role} ${safeText(name)}`;
  return at === null ? speaker : `${speaker}, ${formatMinute(at)}`;
}

function aboutBatch({ count, depth, at }: Extract<SearchHit, { readonly kind: 'batch' }>): string {
  const what = `summary of ${countOf(count, 'message')}${depth === 0 ? '' : `, depth ${depth}`}`;
  return at === null ? what : `${what}, ${formatMinute(at)}`;
}

type MarkedText = { readonly text: string; readonly marks: readonly MarkReport[] };
type Look = { readonly columns: number; readonly paint: (text: string) => string };

/** Text in lines of at most `columns`, with the found words painted; a longer line breaks anywhere. */
function wrapMarked(marked: MarkedText, { columns, paint }: Look): readonly string[] {
  const lines: string[] = [];
  let line = { painted: '', width: 0 };
  for (const word of toWords(marked, { columns, paint })) {
    if (line.width === 0) line = word;
    else if (line.width + 1 + word.width <= columns) {
      line = { painted: `${line.painted} ${word.painted}`, width: line.width + 1 + word.width };
    } else {
      lines.push(line.painted);
      line = word;
    }
  }
  return line.width === 0 ? lines : [...lines, line.painted];
}

type Word = { readonly painted: string; readonly width: number };

/** No line is wider than `columns`. */
function toWords(marked: MarkedText, { columns, paint }: Look): readonly Word[] {
  const words: Word[] = [];
  let word: Word = { painted: '', width: 0 };
  const end = (): void => {
    if (word.width > 0) words.push(word);
    word = { painted: '', width: 0 };
  };
  for (const { text, isMarked } of toRuns(marked)) {
    text.split(' ').forEach((part, index) => {
      if (index > 0) end();
      for (const piece of breakText(part, columns)) {
        const width = textWidth(piece);
        if (word.width + width > columns) end();
        word = { painted: word.painted + (isMarked ? paint(piece) : piece), width: word.width + width };
      }
    });
  }
  end();
  return words;
}

type Run = { readonly text: string; readonly isMarked: boolean };

function toRuns({ text, marks }: MarkedText): readonly Run[] {
  const runs: Run[] = [];
  let done = 0;
  for (const { start, end } of marks) {
    runs.push({ text: safeText(text.slice(done, start)), isMarked: false });
    runs.push({ text: safeText(text.slice(start, end)), isMarked: true });
    done = end;
  }
  return [...runs, { text: safeText(text.slice(done)), isMarked: false }].filter((run) => run.text !== '');
}

function breakText(text: string, columns: number): readonly string[] {
  if (text === '' || textWidth(text) <= columns) return text === '' ? [] : [text];
  const pieces: string[] = [];
  let piece = '';
  let width = 0;
  for (const character of text) {
    const own = textWidth(character);
    if (width + own > columns) {
      pieces.push(piece);
      piece = '';
      width = 0;
    }
    piece += character;
    width += own;
  }
  return [...pieces, piece];
}
