import type { SearchHit, SearchReport } from '../../app/contract/archive-reports.ts';
import { countOf, formatCount } from '../../messages/quantities.ts';
import {
  clipStart,
  clipText,
  fillLines,
  formatMinute,
  indent,
  type Piece,
  safeText,
  textWidth,
} from '../../messages/text.ts';
import { ID_DIGITS, isSessionId, OPENCODE_ID, sessionIdOf } from '../../core/paths.ts';
import { formatAge } from './scan.ts';
import type { Rendering } from './theme.ts';

type SearchRendering = Rendering & {
  readonly isVerbose: boolean;
  readonly nowMs: number;
  /** What the program is called here, for commands to type next. */
  readonly program: string;
};

const MIN_COLUMNS = 20; // narrower than this, nothing is readable
const INDENT = '  ';

/** For each hit the name for `compact show`, its place (the file once for hits in a row), and the words found, with the text around them. */
export function renderSearchReport(report: SearchReport, rendering: SearchRendering): readonly string[] {
  return report.hits.flatMap((hit, index) => {
    const before = report.hits[index - 1];
    const isSameFile = before?.file === hit.file && (hit.title === null || before.title === hit.title);
    return [...(index === 0 ? [] : ['']), ...renderHit(hit, { ...rendering, isSameFile })];
  });
}

function renderHit(
  hit: SearchHit,
  { theme, widthColumns, isVerbose, nowMs, program, isSameFile }: SearchRendering & { readonly isSameFile: boolean },
): readonly string[] {
  const columns = Math.max(MIN_COLUMNS, widthColumns);
  const inner = columns - INDENT.length;
  const age = hit.at === null ? [] : [formatAge(nowMs - Date.parse(hit.at))];
  const [what, depth] =
    hit.kind === 'message'
      ? [hit.name === null ? hit.role : `${hit.role} ${safeText(hit.name)}`, 0]
      : [`summary of ${countOf(hit.count, 'message')}`, hit.depth];
  const when = hit.at === null ? '' : `, ${formatMinute(hit.at)}`;
  const facts = [`${what}${depth === 0 ? '' : `, depth ${depth}`}${when}`, ...age, safeText(hit.program)];
  const place = hit.kind === 'message' && hit.index !== null ? `, message ${formatCount(hit.index)}` : '';
  const about = clipText(
    [...facts.slice(0, 1), ...(isSameFile && place !== '' ? [place.slice(2)] : []), ...facts.slice(1)].join(', '),
    inner - hit.show.length,
  );
  const more = isVerbose ? [hit.label, hit.conversation, hit.id] : [];
  return [
    `${theme.strong(hit.show)}${INDENT}${about}`,
    ...(isSameFile
      ? []
      : [
          ...(hit.title === null ? [] : [`${INDENT}${clipText(safeText(hit.title), inner)}`]),
          `${INDENT}${theme.faint(`${clipStart(safeText(hit.file), inner - place.length)}${place}`)}`,
        ]),
    ...[...new Set(more)].flatMap((one) => (one === null ? [] : [`${INDENT}${theme.faint(safeText(one))}`])),
    ...markedLines(hit, { columns: inner, paint: theme.match }),
    ...indent(nextOf(hit, program, inner).map(theme.faint)),
  ];
}

/** What to type next: the whole message, and the session, if a program can go on with it. */
function nextOf({ show, file, conversation }: SearchHit, program: string, columns: number): readonly string[] {
  const named = conversation ?? '';
  const session = sessionIdOf(file) ?? (isSessionId(named) ? named : null);
  const resumed = OPENCODE_ID.test(named) ? named : session?.slice(0, ID_DIGITS);
  const resume = resumed === undefined ? [] : [`${program} resume ${resumed}`];
  const commands = [`${program} show ${show}`, ...resume];
  // A command that is cut off is of no use.
  const isShort = (line: string): boolean => textWidth(line) <= columns;
  const all = commands.join(', ');
  return isShort(all) ? [all] : commands.filter(isShort);
}

/** Text in indented lines, with the found words painted; a longer line breaks anywhere. */
function markedLines(
  { text, marks }: SearchHit,
  { columns, paint }: { readonly columns: number; readonly paint: (text: string) => string },
): readonly string[] {
  // None is wider than `columns`.
  const words: Piece[] = [];
  let word: Piece = { text: '', width: 0 };
  const end = (): void => {
    if (word.width > 0) words.push(word);
    word = { text: '', width: 0 };
  };
  const add = (run: string, paintRun: (text: string) => string): void => {
    for (const [index, part] of safeText(run).split(' ').entries()) {
      if (index > 0) end();
      for (const piece of breakText(part, columns)) {
        const width = textWidth(piece);
        if (word.width + width > columns) end();
        word = { text: word.text + paintRun(piece), width: word.width + width };
      }
    }
  };
  let done = 0;
  for (const { start, end: markEnd } of marks) {
    add(text.slice(done, start), String);
    add(text.slice(start, markEnd), paint);
    done = markEnd;
  }
  add(text.slice(done), String);
  end();
  return words.length === 0 ? [] : indent(fillLines(words, columns));
}

function breakText(text: string, columns: number): readonly string[] {
  if (textWidth(text) <= columns) return text === '' ? [] : [text];
  const pieces: string[] = [''];
  let width = 0;
  for (const character of text) {
    const own = textWidth(character);
    const isFull = width + own > columns;
    if (isFull) pieces.push('');
    pieces.push(`${pieces.pop() ?? ''}${character}`);
    width = isFull ? own : width + own;
  }
  return pieces;
}
