import type {
  BatchReport,
  BeforeAfter,
  CompactReport,
  ConversationReport,
  SkipReason,
  UsageReport,
} from '../../app/contract/reports.ts';
import { NO_USAGE } from '../../app/summarize/usage.ts';
import { restoredPath } from '../../compose/transcript-files.ts';
import {
  countOf,
  countReasons,
  describeSpending,
  formatAtMost,
  formatBytes,
  formatChange,
  formatCount,
  formatSaving,
  sumOf,
  tally,
} from '../../messages/quantities.ts';
import {
  INDENT_COLUMNS,
  listSome,
  nameOutput,
  reportList,
  reportRow,
  safeText,
  shellWord,
  textLines,
  textWidth,
} from '../../messages/text.ts';
import type { Rendering, Theme } from './theme.ts';

export type CompactRendering = Rendering & {
  readonly isVerbose: boolean;
  /** The `--archive` that restoring needs; null: none. */
  readonly archiveFlag: string | null;
  /** How the user calls this program. */
  readonly program: string;
  readonly isInPlace: boolean;
};

/** What was done to one transcript, for people. */
export function renderCompactReport(report: CompactReport, rendering: CompactRendering): readonly string[] {
  const { theme } = rendering;
  if (report.result === 'skipped') return [renderSkip(report, theme), ...verboseBatches(report, rendering)];
  const restoring = renderRestoring(report, rendering);
  const { ledger } = report;
  const messages = formatChange(sumChanges(report.conversations, (conversation) => conversation.messages));
  const quoted = ledger.quoted === 0 ? [] : [`${countOf(ledger.quoted, 'message')} quoted word for word`];
  const ledgerText = [
    `${formatCount(ledger.kept)} kept`,
    `${formatCount(ledger.summarized)} summarized`,
    ...tally([
      [ledger.quoted, 'quoted'],
      [ledger.other, 'other'],
    ]),
  ].join(', ');
  const rows = [
    ...reportList('result', changeTexts(report, rendering), rendering.widthColumns),
    ...reportList('messages', [messages, ...quoted]),
    ...(report.plan === undefined ? batchRows(report, rendering) : []),
    reportRow('lines', `${ledgerText}, of ${formatCount(ledger.total)}`),
    ...levelRows(countLevels(report), theme),
    ...factRows(report, rendering.widthColumns),
    ...spendingRows(spendingOf(report), { isPlan: report.plan !== undefined }),
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
  readonly tokens: BeforeAfter;
  /** The compacted files, and by how much the archive grew; estimates for planned ones. */
  readonly bytes: Sizes;
  /** By how many bytes the disk became emptier, net of the archive. */
  readonly netBytes: number;
  /** The facts that summaries kept. */
  readonly facts: { readonly kept: number; readonly total: number };
  readonly levels: LevelCounts;
  /** What was spent, or would be for planned transcripts; undefined: no model is asked. */
  readonly usage?: UsageReport;
};

/** The end of a run over several transcripts; `archive` null: neither it nor the restore command needs mention. */
export function renderTotals(totals: RunTotals, rendering: CompactRendering & { readonly archive: string | null }) {
  const { compacted, planned, failed, left } = totals;
  const skipped = sumOf(totals.skipped.values(), Number);
  const { theme, archive } = rendering;
  const parts = tally([
    [compacted, 'compacted', theme.good],
    [planned, 'planned'],
    [skipped, `skipped (${countReasons(totals.skipped)})`],
    [failed, 'failed', theme.bad],
    [left, 'not done', theme.warning],
  ]);
  const nothing = planned === 0 ? '' : `; ${totals.previewed > 0 ? 'no transcript' : 'nothing'} was written`;
  const untouched = left === 0 ? '' : '; the files of those are as they were';
  const head = `${countOf(compacted + planned + skipped + failed + left, 'transcript')}: ${parts.join(', ')}${nothing}${untouched}`;
  const models = [
    ...(compacted + planned === 0 ? [] : reportList('result', totalTexts(totals, rendering), rendering.widthColumns)),
    ...levelRows(totals.levels, theme),
    ...(totals.facts.total === 0 ? [] : [reportRow('facts', countKept(totals.facts))]),
    ...spendingRows(totals.usage, { isPlan: planned > totals.previewed }),
  ];
  if (archive === null) return [head, ...models];
  const back = rendering.isInPlace
    ? reportRow('undo', commandOnArchive('undo', rendering))
    : reportRow('restore', `${commandOnArchive('restore', rendering)} FILE -o ORIGINAL`);
  return [head, ...models, reportRow('archive', safeText(archive)), back];
}

/** What a run changed in tokens and on disk. Only a file that is replaced makes room. */
function totalTexts({ planned, previewed, tokens, bytes, netBytes }: RunTotals, { isInPlace }: CompactRendering) {
  const isPlan = planned > previewed;
  const saved = `${(isPlan ? formatAtMost : formatChange)(tokens)} tokens (${formatSaving(tokens)})`;
  if (bytes.before === 0) return [saved];
  return [sizeText(bytes, isPlan), saved, ...(isInPlace ? [formatNet(netBytes, isPlan ? 'about ' : '')] : [])];
}

/** '1.2 MB of disk freed, net of the archive'. `about`: 'about ' for an estimate. */
export function formatNet(netBytes: number, about = ''): string {
  const size = `${about}${formatBytes(Math.abs(netBytes))}`;
  const net = netBytes < 0 ? `the disk ${size} fuller` : `${size} of disk freed`;
  return `${net}, net of the archive`;
}

type Sizes = BeforeAfter & { readonly archive: number };

function sizeText({ before, after, archive }: Sizes, isEstimate: boolean): string {
  const about = isEstimate ? 'about ' : '';
  const grown = archive === 0 ? '' : ` (archive + ${about}${formatBytes(archive)})`;
  return `${formatBytes(before)} → ${about}${formatBytes(after)}${grown}`;
}

export function sumTokens({ conversations }: CompactReport): BeforeAfter {
  return sumChanges(conversations, ({ tokens }) => tokens);
}

function headline(report: CompactReport, { theme, isInPlace }: CompactRendering): string {
  const name = theme.strong(safeText(report.file));
  if (report.preview !== undefined) return `${name}: a preview; no transcript was written`;
  if (report.result === 'planned') return `${name}: the plan; nothing was written`;
  if (isInPlace || report.output === null) return `${name}: ${theme.good('compacted in place')}`;
  return `${name} → ${theme.good(nameOutput(report.output))}`;
}

const SKIP_TEXTS: { readonly [reason in SkipReason]: string } = {
  'too-short': 'too short: nothing is older than the recent messages that stay',
  'under-limit': 'under the limit',
  'nothing-gained': 'nothing gained: compacted, it would not be smaller',
  'nothing-new': 'nothing new since it was compacted',
  'no-legal-cut': 'no place where it may be cut',
  'little-gained': 'little gained',
  'archive-missing': 'its earlier compaction is not in this archive',
  'in-use': 'another program is using it',
};

function renderSkip(report: CompactReport, theme: Theme): string {
  const why = report.reason === undefined ? 'nothing to do' : SKIP_TEXTS[report.reason];
  const notes = report.notes.map((note) => safeText(note).replace(/\.$/, '')).join('; ');
  const pinned = report.pinned === undefined ? '' : `; ${countOf(report.pinned.length, 'pinned message')}`;
  const copied = report.output === null ? '' : `; copied as it is to ${nameOutput(report.output)}`;
  return `${theme.strong(safeText(report.file))}: ${theme.warning('skipped')}, ${notes === '' ? why : notes}${pinned}${copied}`;
}

/** A plan only estimates the result. */
function formatterOf({ plan }: CompactReport): typeof formatChange {
  return plan === undefined ? formatChange : formatAtMost;
}

/** The sizes of a file before and after, as far as they are known, and by how much the archive grew. */
export function sizesOf({ bytes, plan, archiveBytes = 0 }: CompactReport): Sizes | null {
  if (plan !== undefined) return { before: bytes.before, after: plan.bytesAfter, archive: plan.archiveBytes };
  return bytes.after === null ? null : { before: bytes.before, after: bytes.after, archive: archiveBytes };
}

/** '4.1 MB → 50 kB (archive + 0.8 MB)', '70,264 → 4,718 tokens (93 % saved)'. */
function changeTexts(report: CompactReport, { isInPlace }: CompactRendering): readonly string[] {
  const { netBytes } = report;
  const isPlan = report.plan !== undefined;
  const tokens = sumTokens(report);
  const sizes = sizesOf(report);
  // Of two files side by side, everybody knows that they take more room than one.
  const isNetTold = netBytes !== undefined && (isPlan || isInPlace);
  return [
    ...(sizes === null ? [] : [sizeText(sizes, isPlan)]),
    `${formatterOf(report)(tokens)} tokens (${formatSaving(tokens)})`,
    ...(isNetTold ? [isPlan ? `in place ${formatNet(netBytes, 'about ')}` : formatNet(netBytes)] : []),
  ];
}

/** A single summary of everything, as the offline summarizer makes it, is no news. */
function batchRows({ conversations }: CompactReport, { isVerbose }: CompactRendering): readonly string[] {
  const batches = conversations.flatMap((conversation) => conversation.batches);
  if (batches.length < 2 && !isVerbose) return [];
  const byDepth = [...Map.groupBy(batches, ({ depth }) => depth)]
    .toSorted(([a], [b]) => a - b)
    .map(([depth, those]) => `${formatCount(those.length)} of depth ${depth}`);
  const cycles = Math.max(0, ...conversations.map((conversation) => conversation.cycles));
  const several = conversations.length > 1 ? `, in ${countOf(conversations.length, 'conversation')}` : '';
  return [reportRow('batches', `${byDepth.join(', ') || 'none'} after ${countOf(cycles, 'cycle')}${several}`)];
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
  return report.conversations.flatMap(({ id, messages, tokens, batches }) => [
    `  ${theme.strong(safeText(id))}: messages ${formatChange(messages)}, tokens ${formatterOf(report)(tokens)}, estimated as ${safeText(tokens.by)}`,
    ...batches.map(({ label, depth, start, end, count, level }) => {
      const name = label === '' ? 'batch' : safeText(label);
      const how = level === undefined ? '' : `; ${LEVEL_TEXTS[level]}`;
      const times = start === null || end === null ? '' : `, ${safeText(start)} to ${safeText(end)}`;
      return `    ${name}: depth ${depth}, ${countOf(count, 'message')}${times}${how}`;
    }),
  ]);
}

/** Added up over all conversations. */
export function sumChanges(
  conversations: readonly ConversationReport[],
  pick: (conversation: ConversationReport) => BeforeAfter,
): BeforeAfter {
  const changes = conversations.map(pick);
  return { before: sumOf(changes, ({ before }) => before), after: sumOf(changes, ({ after }) => after) };
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

type Kept = { readonly kept: number; readonly total: number; readonly lost: readonly string[] };

/** The batches of a long transcript would fill the screen. */
const MAX_BATCHES = 8;

/** The salient facts that summaries keep and lose: one line, or with several batches one for each that lost any. */
function factRows({ retention }: CompactReport, widthColumns: number): readonly string[] {
  if (retention === undefined || retention.total === 0) return [];
  const [first, ...others] = retention.batches;
  if (first === undefined) return [];
  if (others.length === 0) return [reportRow('facts', factsText(first, widthColumns))];
  const losing = retention.batches.flatMap((batch, index) =>
    batch.kept < batch.total ? [reportRow('', factsText(batch, widthColumns, `${index + 1}: `))] : [],
  );
  const unlisted = losing.length - MAX_BATCHES;
  return [
    reportRow('facts', `${countKept(retention)} in ${countOf(retention.batches.length, 'batch', 'batches')}`),
    ...losing.slice(0, MAX_BATCHES),
    ...(unlisted > 0 ? [reportRow('', `… and ${countOf(unlisted, 'more', 'more')}; --json lists them all`)] : []),
  ];
}

function factsText(batch: Kept, widthColumns: number, prefix = ''): string {
  const text = `${prefix}${countKept(batch)}`;
  if (batch.lost.length === 0) return text;
  const start = `${text}; lost: `;
  const columns = widthColumns - INDENT_COLUMNS - textWidth(start);
  return start + listSome(batch.lost, { count: batch.total - batch.kept, columns });
}

/** '41 of 52 kept'. */
function countKept({ kept, total }: Pick<Kept, 'kept' | 'total'>): string {
  return `${formatCount(kept)} of ${formatCount(total)} kept`;
}

/** What was spent for a transcript, or would be for a planned one. */
export function spendingOf({ usage, plan }: CompactReport): UsageReport | undefined {
  if (plan?.asked === undefined) return usage;
  const { requests: calls, tokensIn: inputTokens, tokensOut: outputTokens, cost, listedOn } = plan;
  return { ...NO_USAGE, calls, inputTokens, outputTokens, cost, ...(listedOn !== undefined && { listedOn }) };
}

/** Calls, tokens and money, wherever they are reported. */
export function spendingRows(
  usage: UsageReport | undefined,
  { label = 'model', isPlan = false }: { readonly label?: string; readonly isPlan?: boolean } = {},
): readonly string[] {
  const facts = describeSpending(usage, { isPlan });
  return facts.length === 0 ? [] : reportList(label, facts);
}

const LEVEL_TEXTS: { readonly [level in NonNullable<BatchReport['level']>]: string } = {
  fallback: 'summarized offline, the model failed',
  halved: 'summarized in parts',
  feedback: 'requested again, with what was wrong',
};

/** How many batches came about in which way, except by the model's first answer. */
type LevelCounts = { readonly [level in NonNullable<BatchReport['level']>]: number };

export function countLevels({ conversations }: CompactReport): LevelCounts {
  const counts = { fallback: 0, halved: 0, feedback: 0 };
  for (const { batches } of conversations) for (const { level } of batches) if (level !== undefined) counts[level] += 1;
  return counts;
}

/** The worst comes first. */
function levelRows(counts: LevelCounts, theme: Theme): readonly string[] {
  const levels = (['fallback', 'halved', 'feedback'] as const).filter((level) => counts[level] > 0);
  return levels.flatMap((level, index) => {
    const text = `${countOf(counts[level], 'batch', 'batches')} ${LEVEL_TEXTS[level]}`;
    return reportList(index === 0 ? 'levels' : '', [level === 'fallback' ? theme.warning(text) : text]);
  });
}
