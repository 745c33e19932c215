import type {
  ArchiveEraseReport,
  ArchiveExportReport,
  ArchiveHoldReport,
  ArchiveListReport,
  ArchiveLogReport,
  ArchiveMergeReport,
  ArchiveReceiptsReport,
  ArchiveStatsReport,
  HoldReport,
  MergeCount,
  ReceiptReport,
} from '../../app/contract/archive-reports.ts';
import type { ArchiveCheckReport } from '../../app/search/check-archive.ts';
import type { ArchiveEmbedReport } from '../../app/search/embeddings/embed-archive.ts';
import { countOf, countsOf, formatBytes, formatCount } from '../../messages/quantities.ts';
import {
  clipStart,
  formatMinute,
  indent,
  reportRow,
  safeText,
  titleLines,
  wrapFacts,
  wrapText,
} from '../../messages/text.ts';
import type { Rendering, Theme } from './theme.ts';

const TIME_COLUMNS = 16;
const MIN_PATH_COLUMNS = 20;

/** Each compaction's time and file, then what it archived. */
export function renderArchiveList({ compactions }: ArchiveListReport, { theme, widthColumns }: Rendering) {
  return compactions.flatMap(({ at, file, title, format, lines, bytes, conversations }): readonly string[] => {
    const path = clipStart(safeText(file), Math.max(MIN_PATH_COLUMNS, widthColumns - TIME_COLUMNS - 2));
    const facts = [
      format,
      `cycle ${Math.max(0, ...conversations.map(({ cycle }) => cycle))}`,
      `${countOf(lines.archived, 'line')} archived`,
      `${formatBytes(bytes.before)} → ${formatBytes(bytes.after)}`,
      whoseOf(conversations.map(({ id }) => id)),
    ].map(safeText);
    const lists = wrapFacts(facts, Math.max(MIN_PATH_COLUMNS, widthColumns - 2));
    const head = `${formatMinute(at)}  ${theme.strong(path)}`;
    return [head, ...titleLines(title, widthColumns, '  '), ...indent(lists.map(theme.faint))];
  });
}

/** A line for each deed: when, who, where, and what. */
export function renderArchiveLog({ entries }: ArchiveLogReport, { theme }: Pick<Rendering, 'theme'>) {
  if (entries.length === 0) return ['nothing was logged'];
  return entries.map(({ at, by, action, details }) => {
    const facts = Object.entries(details).flatMap(([name, value]) => describeDetail(name, value));
    return `${formatMinute(at)}  ${safeText(`${by.user}@${by.host}`)}  ${theme.strong(action)}  ${safeText(facts.join(', '))}`;
  });
}

/** "lines 48", "receipt 12ab34", "despite hold"; none, if there is nothing of it. */
function describeDetail(name: string, value: unknown): readonly string[] {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  if (value === true) return [words];
  if (typeof value === 'number') return value === 0 ? [] : [`${words} ${formatCount(value)}`];
  return typeof value === 'string' ? [`${words} ${value}`] : [];
}

/** The only conversation, or how many there are. */
function whoseOf(conversations: readonly string[]): string {
  const [first] = conversations;
  return first === undefined || conversations.length > 1 ? countOf(conversations.length, 'conversation') : first;
}

const LABEL_COLUMNS = 12;

function row(label: string, text: string): string {
  return reportRow(label, text, LABEL_COLUMNS);
}

/** The archive's name, then counts, sizes and formats, one per line. */
export function renderArchiveStats(report: ArchiveStatsReport, { theme, widthColumns }: Rendering): readonly string[] {
  const { bytes, captured, index, oldest, newest, prepared, vectors } = report;
  const times = oldest === null || newest === null ? '' : `, ${formatMinute(oldest)} to ${formatMinute(newest)}`;
  const path = clipStart(safeText(report.archive ?? ''), Math.max(MIN_PATH_COLUMNS, widthColumns));
  const share = bytes.share === null ? '' : ` (${Math.round(100 * bytes.share)} % of the originals)`;
  const { unindexed } = index;
  const left = `${countOf(unindexed.messages, 'message')} (${formatBytes(unindexed.bytes)})`;
  const without = `without ${left}: 'compact archive index' adds them`;
  return [
    theme.strong(path),
    row('compactions', `${formatCount(report.compactions)}${times}`),
    row('holds', `${countOf(report.messages, 'message')}, ${countOf(report.lines, 'line')}`),
    row('of', countOf(report.conversations, 'conversation')),
    row('batches', formatCount(report.batches)),
    row('originals', formatBytes(bytes.original)),
    row('compressed', formatBytes(bytes.compressed)),
    ...(captured.files > 0
      ? [row('captured', `${countOf(captured.files, 'file')}, ${compressedText(captured.bytes)}`)]
      : []),
    row('search', `${formatBytes(index.bytes)}, ${unindexed.messages === 0 ? 'everything is indexed' : without}`),
    row('on disk', `${formatBytes(bytes.file)}${share}`),
    ...(vectors === null
      ? []
      : [row('vectors', `${formatCount(vectors.done)} of ${formatCount(vectors.total)}, by ${vectorText(vectors)}`)]),
    ...report.formats.map(({ format, compactions, lines, bytes: size }) =>
      row(safeText(format), `${countOf(compactions, 'compaction')}, ${countOf(lines, 'line')}, ${formatBytes(size)}`),
    ),
    ...(prepared > 0
      ? [theme.warning(row('unsettled', `${formatCount(prepared)}; the next compaction settles it`))]
      : []),
  ];
}

function compressedText(bytes: { readonly original: number; readonly compressed: number }): string {
  return `${formatBytes(bytes.original)} compressed to ${formatBytes(bytes.compressed)}`;
}

function vectorText({ model, dimensions }: { readonly model: string; readonly dimensions: number | null }): string {
  return `${safeText(model)}${dimensions === null ? '' : `, ${formatCount(dimensions)} numbers each`}`;
}

const WIDTH_COLUMNS = 60;

/** The result and its scope; then each problem with the transcripts that it affects, one path per line. */
export function renderArchiveCheck(report: ArchiveCheckReport, theme: Theme): readonly string[] {
  const { problems, moreProblems, prepared, captured } = report;
  const isSound = report.result === 'sound';
  const verdict = isSound
    ? theme.good('sound')
    : `${theme.bad('damaged')}, ${countOf(problems.length + moreProblems, 'problem')}`;
  const unsettled = `${countOf(prepared.length, 'compaction')} started and not settled yet (the next run does that):`;
  return [
    `${theme.strong(safeText(report.archive))}: ${verdict}`,
    row('compactions', formatCount(report.compactions)),
    row('batches', formatCount(report.batches)),
    ...(captured === 0 ? [] : [row('captured', countOf(captured, 'file'))]),
    row('lines', `${formatCount(report.lines)} in ${countOf(report.blocks, 'block')}`),
    row('size', compressedText(report.bytes)),
    row('file', formatBytes(report.bytes.file)),
    ...(prepared.length === 0 ? [] : [...bullet(unsettled), ...prepared.flatMap(({ files }) => pathLines(files))]),
    ...problems.flatMap(({ message, files }) => [...bullet(safeText(message)), ...pathLines(files)]),
    ...(moreProblems === 0 ? [] : bullet(`and ${countOf(moreProblems, 'more problem')}`)),
    ...(isSound ? [] : wrapText(ADVICE, WIDTH_COLUMNS)),
  ];
}

const ADVICE =
  "Replace the archive with a backup. 'compact verify FILE' says whether a compacted file's original can still be restored.";

function bullet(text: string): readonly string[] {
  return wrapText(text, WIDTH_COLUMNS - 4).map((line, at) => (at === 0 ? `  - ${line}` : `    ${line}`));
}

function pathLines(files: readonly string[], columns = 6): readonly string[] {
  return indent(files.map(safeText), columns);
}

/** What was done, in one line, and a second line if vectors were dropped. */
export function renderArchiveEmbed(report: ArchiveEmbedReport): readonly string[] {
  const { embedded, missing, dropped } = report;
  const rest = missing === 0 ? '' : `; ${formatCount(missing)} missing still`;
  const done = `${countOf(embedded, 'vector')} made by ${vectorText(report)}${rest}`;
  return [
    `${safeText(report.archive ?? '')}: ${embedded + missing === 0 ? 'nothing is missing' : done}`,
    ...(dropped === 0 ? [] : [row('dropped', `${formatCount(dropped)} by another model`)]),
  ];
}

/** What came from each archive; what there was nothing of is left out. */
export function renderMerge({ result, merged }: ArchiveMergeReport, theme: Theme): readonly string[] {
  const lines = merged.flatMap(({ archive, ...of }) => {
    const rows: readonly (readonly [MergeCount, string, string?])[] = [
      [of.compactions, 'compaction'],
      [of.lines, 'line'],
      [of.captured, 'captured file'],
      [of.holds, 'hold'],
      [of.choices, 'dropped rule or pin', 'dropped rules or pins'],
      [of.receipts, 'receipt of an erasure', 'receipts of erasures'],
      [of.summaries, 'stored model answer'],
      [of.vectors, 'vector'],
    ];
    const parts = rows.flatMap(([count, one, many]) => renderCount(count, one, many));
    return [`  ${safeText(archive)}`, ...indent(parts.length === 0 ? ['empty'] : parts, 4)];
  });
  return [theme.strong(result === 'merged' ? 'merged' : 'nothing new'), ...lines];
}

/** A warning for each archive whose batches must be collected before it is merged. */
export function renderUncollected({ merged }: ArchiveMergeReport): readonly string[] {
  return merged.flatMap(({ archive, uncollectedBatches: count }) => {
    if (count === 0) return [];
    const rest = count === 1 ? 'is still at the provider and is' : 'are still at the provider and are';
    const what = `${countOf(count, 'batch', 'batches')} ${rest} not merged`;
    return [`warning: ${safeText(archive)}: ${what}: run 'compact batch collect --archive ${safeText(archive)}' first`];
  });
}

function renderCount({ new: added, known, refused }: MergeCount, one: string, many = `${one}s`): readonly string[] {
  const rest = [...(known > 0 ? [`${known} already there`] : []), ...(refused > 0 ? [`${refused} left out`] : [])];
  if (added > 0) return [[countOf(added, `new ${one}`, `new ${many}`), ...rest].join(', ')];
  if (rest.length === 0) return [];
  const what = countOf(known + refused, one, many);
  return [rest.length > 1 ? `${what}: ${rest.join(', ')}` : `${what}, ${known > 0 ? 'already there' : 'left out'}`];
}

export function renderExport({ folder, isComplete, compactions, lines, capturedFiles }: ArchiveExportReport): string {
  const what = `${countOf(compactions, 'compaction')}, ${countOf(lines, 'line')}, ${countOf(capturedFiles, 'captured file')}`;
  if (!isComplete && compactions + lines + capturedFiles === 0)
    return `nothing matches, so the export in ${safeText(folder)} is empty`;
  return `exported ${isComplete ? 'everything' : 'what matches'} to ${safeText(folder)}: ${what}`;
}

/** One line for each hold, as it would be added again, and what an added one protects. */
export function renderHolds({ holds, protects }: ArchiveHoldReport): readonly string[] {
  const list = holds.length === 0 ? ['no holds'] : holds.map(renderHold);
  if (protects === null) return list;
  const what = countsOf([
    [protects.conversations, 'conversation'],
    [protects.capturedFiles, 'captured file'],
  ]).join(' and ');
  return [...list, `the added hold protects ${what === '' ? 'nothing in the archive yet' : what}`];
}

function renderHold({ kind, value, reason, addedAt }: HoldReport): string {
  return `${formatMinute(addedAt)}  --${kind} ${safeText(value)}${inParentheses(reason)}`;
}

function inParentheses(reason: string | null): string {
  return reason === null ? '' : `  (${safeText(reason)})`;
}

export function renderReceipts({ receipts }: ArchiveReceiptsReport): readonly string[] {
  if (receipts.length === 0) return ['nothing was erased'];
  return receipts.map(({ receipt, kind, at, lines, captured, bytes, reason }) => {
    const what = `${countOf(lines + captured.lines, 'line')}, ${formatBytes(bytes)}`;
    return `${formatMinute(at)}  ${receipt}  ${GONE[kind]} ${what}${inParentheses(reason)}`;
  });
}

const GONE = { prune: 'pruned', erase: 'erased' } as const;
const MAX_PARTS = 20;
const SERVER_COPIES = [
  "  The tables are clean. The server's write-ahead log still has the text until it is recycled; its log archive and backups until you",
  '  delete them; its replicas until they have caught up. docs/archive.md says what to do.',
];

/** What goes or went, what protects it, and where the text may still be. */
export function renderErase(report: ArchiveEraseReport, theme: Theme): readonly string[] {
  const { result, kind, parts, held, files, receipt, captured } = report;
  if (result === 'nothing')
    return [kind === 'prune' ? 'nothing to prune' : 'nothing in the archive matches; other files were not searched'];
  const verdict = { planned: `would be ${GONE[kind]}`, refused: `not ${GONE[kind]}`, erased: GONE[kind] };
  const what = [
    `${countOf(report.lines, 'line')} (${formatBytes(report.bytes)}) of ${countOf(parts.length, 'compaction')}`,
    ...countsOf([
      [captured.files, 'captured file'],
      [captured.lines, 'captured line'],
    ]),
  ].join(', ');
  const isErased = result === 'erased' && kind === 'erase';
  const only = report.onlyCopies.length;
  const answers =
    kind === 'erase'
      ? 'summaries made from it, and all stored model answers'
      : report.paidBefore && `all stored model answers from before ${formatMinute(report.paidBefore)}`;
  return [
    `${theme.strong(verdict[result])}: ${what}${report.isEverything ? theme.warning(', which is everything in the archive') : ''}`,
    ...firstOf(
      parts.map(({ file, conversations, archivedAt, lines, bytes }) => {
        const figures = `${safeText(whoseOf(conversations))}, ${countOf(lines, 'line')}, ${formatBytes(bytes)}`;
        return `  ${formatMinute(archivedAt)}  ${safeText(file)}  ${figures}`;
      }),
      'more compaction',
    ),
    ...firstOf(
      report.capturedFiles.map((file) => reportRow('captured', safeText(file))),
      'more captured file',
    ),
    ...(only > 0
      ? [theme.warning(reportRow('only here', `${countOf(only, 'captured file')}, gone from the disk`))]
      : []),
    ...report.notes.map((path) => reportRow('note', safeText(path))),
    ...held.map((hold) => theme.warning(reportRow('held', renderHold(hold)))),
    ...(receipt === null ? [] : renderErased(receipt)),
    ...(result === 'planned' && answers !== null ? [reportRow('also', answers)] : []),
    ...(result === 'planned' ? ['  Nothing was removed yet. Run it again with --yes to remove this.'] : []),
    ...(isErased && files.length > 0
      ? ['  These files, and backups of the archive, may still have the text:', ...pathLines(files, 4)]
      : []),
    ...(isErased && report.isOnServer ? SERVER_COPIES : []),
  ];
}

/** As many as a screen has room for. */
function firstOf(lines: readonly string[], noun: string): readonly string[] {
  const more = lines.length - MAX_PARTS;
  return more > 0 ? [...lines.slice(0, MAX_PARTS), `  and ${countOf(more, noun)}`] : lines;
}

function renderErased(receipt: ReceiptReport): readonly string[] {
  const rest = [
    countOf(receipt.summaries, 'summary', 'summaries'),
    countOf(receipt.paidSummaries, 'stored model answer'),
    countOf(receipt.vectors, 'vector'),
    ...countsOf([
      [receipt.notes, 'note of a hook', 'notes of hooks'],
      [receipt.choices, 'dropped rule or pin', 'dropped rules or pins'],
    ]),
  ];
  return [reportRow('also', rest.join(', ')), reportRow('receipt', receipt.receipt)];
}
