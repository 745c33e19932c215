import type { CompactReport, SkippedRestoreReport, SkipReason } from '../../app/contract/reports.ts';
import { sumTokens } from './compact.ts';
import { formatChange, formatCount, formatSaving } from './quantities.ts';
import { clipStart, fitText, safeText, textWidth } from './text.ts';
import type { Theme } from './theme.ts';

/** The columns of a run over several transcripts. */
type ListLayout = { readonly widthColumns: number; readonly nameColumns: number };

/** A terminal counts as at least this wide; beyond the maximum, the eye no longer connects names and numbers. */
const MIN_WIDTH_COLUMNS = 60;
const MAX_WIDTH_COLUMNS = 120;
const CHANGE_COLUMNS = textWidth('1,000,000 → 1,000,000');
const OUTCOME_COLUMNS = textWidth('no legal cut');

/** As wide as the names need and the terminal allows. */
export function layList(names: Iterable<string>, terminalColumns: number): ListLayout {
  const widthColumns = Math.min(MAX_WIDTH_COLUMNS, Math.max(MIN_WIDTH_COLUMNS, terminalColumns));
  let widest = textWidth(TITLES.name);
  for (const name of names) widest = Math.max(widest, textWidth(safeText(name)));
  const nameColumns = Math.min(widest, widthColumns - CHANGE_COLUMNS - OUTCOME_COLUMNS - 2);
  return { widthColumns, nameColumns };
}

const TITLES = { name: 'transcript', change: 'tokens', outcome: 'result' };

export function renderListHead(layout: ListLayout, theme: Theme): string {
  return theme.faint(layRow(layout, { ...TITLES, paint: theme.faint }));
}

/** One line for one transcript of several: what was done, or why nothing was. A long name keeps its end. */
export function renderListLine(report: CompactReport, layout: ListLayout, theme: Theme): string {
  const tokens = sumTokens(report);
  const name = safeText(report.file);
  if (report.result !== 'skipped') {
    const row = { name, change: formatChange(tokens), outcome: formatSaving(tokens), paint: theme.good };
    return layRow(layout, row);
  }
  const why = skipWords(report.reason);
  const outcome = report.output === null ? why : `${why}, copied`;
  return layRow(layout, { name, change: formatCount(tokens.before), outcome, paint: theme.warning });
}

type Row = {
  readonly name: string;
  readonly change: string;
  readonly outcome: string;
  readonly paint: (text: string) => string;
};

/** Unusually wide numbers and words take their room from the name. */
function layRow({ widthColumns, nameColumns }: ListLayout, { name, change, outcome, paint }: Row): string {
  const changeColumns = Math.max(CHANGE_COLUMNS, textWidth(change));
  const room = Math.min(nameColumns, widthColumns - changeColumns - textWidth(outcome) - 2);
  return `${fitText(clipStart(name, room), room)} ${fitText(change, changeColumns, 'right')} ${paint(outcome)}`;
}

const SKIP_WORDS: { readonly [reason in SkipReason | SkippedRestoreReport['reason']]: string } = {
  'too-short': 'too short',
  'under-limit': 'under limit',
  'nothing-gained': 'no gain',
  'nothing-new': 'nothing new',
  'no-legal-cut': 'no legal cut',
  'in-use': 'open elsewhere',
  'not-compacted': 'not compacted',
  'no-messages': 'no messages',
  'no-text': 'no text',
  'not-a-transcript': 'no transcript',
  'unknown-format': 'unknown format',
  'mixed-formats': 'mixed formats',
  'bad-line': 'damaged',
};

/** Why a transcript was skipped, in a word or two. */
export function skipWords(reason: keyof typeof SKIP_WORDS | undefined): string {
  return reason === undefined ? 'nothing to do' : SKIP_WORDS[reason];
}
