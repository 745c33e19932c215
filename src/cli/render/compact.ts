import type {
  BatchReport,
  CompactReport,
  ConversationReport,
  SkipReason,
  UsageReport,
} from '../../app/contract/reports.ts';
import { restoredPath } from '../../compose/transcript-files.ts';
import {
  countKept,
  countLevels,
  factRows,
  LEVEL_TEXTS,
  type LevelCounts,
  levelRows,
  planRows,
  reportList,
  reportRow,
  usageRows,
} from './compact-rows.ts';
import { countOf, formatAtMost, formatBytes, formatChange, formatCount, formatSaving } from './quantities.ts';
import { safeText, shellWord, textLines } from './text.ts';
import type { Theme } from './theme.ts';

export type CompactRendering = {
  readonly theme: Theme;
  readonly isVerbose: boolean;
  /** The `--archive` that restoring needs; null: none. */
  readonly archiveFlag: string | null;
  /** How the user calls this program. */
  readonly program: string;
  readonly isInPlace: boolean;
  /** The terminal's width. */
  readonly widthColumns: number;
};

/** What was done to one transcript, for people. */
export function renderCompactReport(report: CompactReport, rendering: CompactRendering): readonly string[] {
  const { theme } = rendering;
  if (report.result === 'skipped') return [renderSkip(report, theme), ...verboseBatches(report, rendering)];
  const restoring = renderRestoring(report, rendering);
  const rows = [
    ...reportList('result', changeTexts(report), rendering.widthColumns),
    ...reportList('messages', messageTexts(report)),
    ...(report.plan === undefined ? batchRows(report, rendering) : planRows(report)),
    reportRow('lines', ledgerText(report)),
    ...levelRows(countLevels(report), theme),
    ...factRows(report, rendering.widthColumns),
    ...usageRows(report),
    ...(report.archive === null ? [] : [reportRow('archive', safeText(report.archive))]),
    ...(restoring === null ? [] : [reportRow('restore', restoring)]),
    ...[...new Set(report.notes)].map((note) => reportRow('note', theme.warning(safeText(note)))),
  ];
  return [headline(report, rendering), ...rows, ...verboseBatches(report, rendering)];
}

export type RunTotals = {
  readonly compacted: number;
  readonly planned: number;
  /** Counts by the text of the reason. */
  readonly skipped: ReadonlyMap<string, number>;
  readonly failed: number;
  /** Unchanged because the run was interrupted. */
  readonly left: number;
  /** Tokens of the planned transcripts, with their summaries. */
  readonly previewed: number;
  readonly tokens: { readonly before: number; readonly after: number };
  /** The compacted files, and by how much the archive grew; estimates for planned ones. */
  readonly bytes: { readonly before: number; readonly after: number; readonly archive: number };
  /** The facts that summaries kept. */
  readonly facts: { readonly kept: number; readonly total: number };
  readonly levels: LevelCounts;
  /** Undefined: no run reported a cost. */
  readonly usage?: UsageReport;
};

/** The end of a run over several transcripts; `archive` null: neither it nor the restore command needs mention. */
export function renderTotals(
  totals: RunTotals,
  rendering: CompactRendering & { readonly archive: string | null },
): readonly string[] {
  const { compacted, planned, failed, left } = totals;
  const skipped = totals.skipped.values().reduce((sum, count) => sum + count, 0);
  const { theme, archive } = rendering;
  const parts = [
    ...(compacted > 0 ? [theme.good(`${formatCount(compacted)} compacted`)] : []),
    ...(planned > 0 ? [`${formatCount(planned)} planned`] : []),
    ...(skipped > 0 ? [`${formatCount(skipped)} skipped (${skipReasons(totals)})`] : []),
    ...(failed > 0 ? [theme.bad(`${formatCount(failed)} failed`)] : []),
    ...(left > 0 ? [theme.warning(`${formatCount(left)} not done`)] : []),
  ];
  const nothing = planned === 0 ? '' : `; ${totals.previewed > 0 ? 'no transcript' : 'nothing'} was written`;
  const untouched = left === 0 ? '' : '; the files of those are as they were';
  const head = `${countOf(compacted + planned + skipped + failed + left, 'transcript')}: ${parts.join(', ')}${nothing}${untouched}`;
  const models = [
    ...(compacted + planned === 0 ? [] : reportList('result', totalTexts(totals, rendering), rendering.widthColumns)),
    ...levelRows(totals.levels, theme),
    ...(totals.facts.total === 0 ? [] : [reportRow('facts', countKept(totals.facts))]),
    ...usageRows(totals),
  ];
  if (archive === null) return [head, ...models];
  const back = rendering.isInPlace
    ? reportRow('undo', commandOnArchive('undo', rendering))
    : reportRow('restore', `${commandOnArchive('restore', rendering)} FILE -o ORIGINAL`);
  return [head, ...models, reportRow('archive', safeText(archive)), back];
}

/** What a run changed in tokens and on disk. Only a file that is replaced makes room. */
function totalTexts(
  { planned, previewed, tokens, bytes }: RunTotals,
  { isInPlace }: CompactRendering,
): readonly string[] {
  const isPlan = planned > previewed;
  const about = isPlan ? 'about ' : '';
  const saved = `${(isPlan ? formatAtMost : formatChange)(tokens)} tokens (${formatSaving(tokens)})`;
  if (bytes.before === 0) return [saved];
  const gained = bytes.before - bytes.after - bytes.archive;
  const net = gained < 0 ? `${formatBytes(-gained)} more on disk` : `${formatBytes(gained)} of disk gained`;
  return [
    sizeText({ ...bytes, isEstimate: isPlan }),
    saved,
    ...(isInPlace ? [`${about}${net}, net of the archive`] : []),
  ];
}

function sizeText(size: {
  readonly before: number;
  readonly after: number;
  readonly archive: number;
  readonly isEstimate: boolean;
}): string {
  const about = size.isEstimate ? 'about ' : '';
  const archive = size.archive === 0 ? '' : ` (archive + ${about}${formatBytes(size.archive)})`;
  return `${formatBytes(size.before)} → ${about}${formatBytes(size.after)}${archive}`;
}

/** "12 nothing new, 3 no messages", the most frequent first. */
function skipReasons({ skipped }: RunTotals): string {
  const counts = [...skipped].toSorted(([, a], [, b]) => b - a);
  return counts.map(([words, count]) => `${formatCount(count)} ${words}`).join(', ');
}

/** Added up over all conversations of a transcript. */
export function sumTokens(report: CompactReport): { readonly before: number; readonly after: number } {
  return sum(report, (conversation) => conversation.tokens);
}

function headline(report: CompactReport, { theme, isInPlace }: CompactRendering): string {
  const name = theme.strong(safeText(report.file));
  if (report.preview !== undefined) return `${name}: a preview; no transcript was written`;
  if (report.result === 'planned') return `${name}: the plan; nothing was written`;
  if (isInPlace || report.output === null) return `${name}: ${theme.good('compacted in place')}`;
  return `${name} → ${theme.good(report.output === '-' ? 'standard output' : safeText(report.output))}`;
}

const SKIP_TEXTS: { readonly [reason in SkipReason]: string } = {
  'too-short': 'too short: nothing is older than the recent messages that stay',
  'under-limit': 'under the limit',
  'nothing-gained': 'nothing gained: compacted, it would not be smaller',
  'nothing-new': 'nothing new since it was compacted',
  'no-legal-cut': 'no place where it may be cut',
  'archive-missing': 'its earlier compaction is not in this archive',
  'in-use': 'another program is using it',
};

function renderSkip(report: CompactReport, theme: Theme): string {
  const why = report.reason === undefined ? 'nothing to do' : SKIP_TEXTS[report.reason];
  const notes = report.notes.map((note) => safeText(note).replace(/\.$/, '')).join('; ');
  const copied =
    report.output === null
      ? ''
      : `; copied as it is to ${report.output === '-' ? 'standard output' : safeText(report.output)}`;
  return `${theme.strong(safeText(report.file))}: ${theme.warning('skipped')}, ${notes === '' ? why : notes}${copied}`;
}

/** A plan only estimates the result. */
function formatterOf({ plan }: CompactReport): typeof formatChange {
  return plan === undefined ? formatChange : formatAtMost;
}

/** The sizes of a file before and after, as far as they are known, and by how much the archive grew. */
export function sizesOf({
  bytes,
  plan,
  archiveBytes = 0,
}: CompactReport): { readonly before: number; readonly after: number; readonly archive: number } | null {
  if (plan !== undefined) return { before: bytes.before, after: plan.bytesAfter, archive: plan.archiveBytes };
  return bytes.after === null ? null : { before: bytes.before, after: bytes.after, archive: archiveBytes };
}

/** '4.1 MB → 50 kB (archive + 0.8 MB)', '70,264 → 4,718 tokens (93 % saved)'. */
function changeTexts(report: CompactReport): readonly string[] {
  const tokens = sumTokens(report);
  const sizes = sizesOf(report);
  return [
    ...(sizes === null ? [] : [sizeText({ ...sizes, isEstimate: report.plan !== undefined })]),
    `${formatterOf(report)(tokens)} tokens (${formatSaving(tokens)})`,
  ];
}

function messageTexts(report: CompactReport): readonly string[] {
  const { quoted } = report.ledger;
  const change = formatChange(sum(report, (conversation) => conversation.messages));
  return [change, ...(quoted === 0 ? [] : [`${countOf(quoted, 'message')} quoted word for word`])];
}

/** A single summary of everything, as the offline summarizer makes it, is no news. */
function batchRows(report: CompactReport, { isVerbose }: CompactRendering): readonly string[] {
  const batches = report.conversations.flatMap((conversation) => conversation.batches);
  if (batches.length < 2 && !isVerbose) return [];
  const depths = new Map<number, number>();
  for (const { depth } of batches) depths.set(depth, (depths.get(depth) ?? 0) + 1);
  const byDepth = [...depths]
    .toSorted(([a], [b]) => a - b)
    .map(([depth, count]) => `${formatCount(count)} of depth ${depth}`);
  const cycles = Math.max(0, ...report.conversations.map((conversation) => conversation.cycles));
  const several = report.conversations.length > 1 ? `, in ${countOf(report.conversations.length, 'conversation')}` : '';
  return [
    reportRow(
      'batches',
      `${byDepth.length === 0 ? 'none' : byDepth.join(', ')} after ${countOf(cycles, 'cycle')}${several}`,
    ),
  ];
}

function ledgerText({ ledger }: CompactReport): string {
  const { kept, summarized, quoted, other, total } = ledger;
  const quotedText = quoted === 0 ? '' : `, ${formatCount(quoted)} quoted`;
  const otherText = other === 0 ? '' : `, ${formatCount(other)} other`;
  return `${formatCount(kept)} kept, ${formatCount(summarized)} summarized${quotedText}${otherText}, of ${formatCount(total)}`;
}

/** The command that restores the original; null: nothing was compacted. */
export function renderRestoring(report: CompactReport, rendering: CompactRendering): string | null {
  if (report.result !== 'compacted') return null;
  const command = commandOnArchive('restore', rendering);
  if (report.output === '-') return `${command} FILE (where you keep the output)`;
  const other = rendering.isInPlace ? null : report.output;
  const file = other ?? report.file;
  const target = other === null ? ' -i' : ` -o ${shellWord(restoredPath(file))}`;
  return `${command} ${shellWord(file)}${target}`;
}

function commandOnArchive(command: 'restore' | 'undo', { archiveFlag, program }: CompactRendering): string {
  return `${program} ${command}${archiveFlag === null ? '' : ` --archive ${shellWord(archiveFlag)}`}`;
}

function verboseBatches(report: CompactReport, { theme, isVerbose }: CompactRendering): readonly string[] {
  if (!isVerbose) return [];
  const formatTokens = formatterOf(report);
  return report.conversations.flatMap((conversation) => conversationLines(conversation, { theme, formatTokens }));
}

function conversationLines(
  conversation: ConversationReport,
  { theme, formatTokens }: { readonly theme: Theme; readonly formatTokens: typeof formatChange },
): readonly string[] {
  const { id, messages, tokens, batches } = conversation;
  const measure = `tokens ${formatTokens(tokens)}, estimated as ${safeText(tokens.by)}`;
  const head = `  ${theme.strong(safeText(id))}: messages ${formatChange(messages)}, ${measure}`;
  return [head, ...batches.map((batch) => `    ${batchText(batch)}`)];
}

function batchText({ label, depth, start, end, count, level }: BatchReport): string {
  const name = label === '' ? 'batch' : safeText(label);
  const how = level === undefined ? '' : `; ${LEVEL_TEXTS[level]}`;
  const times = start === null || end === null ? '' : `, ${safeText(start)} to ${safeText(end)}`;
  return `${name}: depth ${depth}, ${countOf(count, 'message')}${times}${how}`;
}

function sum(
  report: CompactReport,
  pick: (conversation: ConversationReport) => { readonly before: number; readonly after: number },
): { readonly before: number; readonly after: number } {
  const changes = report.conversations.map(pick);
  return {
    before: changes.reduce((total, { before }) => total + before, 0),
    after: changes.reduce((total, { after }) => total + after, 0),
  };
}

/** The clip-archives of a preview as they would be written, with a heading each if there are several. */
export function renderPreview(
  { file, preview = [] }: CompactReport,
  { isSeveral, theme }: { readonly isSeveral: boolean; readonly theme: Theme },
): readonly string[] {
  const isNamed = isSeveral || preview.length > 1;
  return preview.flatMap(({ conversation, text }) => [
    ...(isNamed ? [theme.strong(`${safeText(file)}, conversation ${safeText(conversation)}:`)] : []),
    ...textLines(text),
    ...(isNamed ? [''] : []),
  ]);
}
