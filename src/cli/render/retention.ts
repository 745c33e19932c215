import type {
  ArchiveEraseReport,
  ArchiveHoldReport,
  ArchiveReceiptsReport,
  ErasedPart,
  HoldReport,
  ReceiptReport,
} from '../../app/contract/retention-reports.ts';
import { countOf, formatBytes } from './quantities.ts';
import { formatMinute, safeText } from './text.ts';
import type { Theme } from './theme.ts';

/** One line for each hold, as it would be added again, and what an added one protects. */
export function renderHolds({ holds, protects }: ArchiveHoldReport): readonly string[] {
  const list = holds.length === 0 ? ['no holds'] : holds.map(renderHold);
  return protects === null ? list : [...list, `the added hold protects ${describeProtected(protects)}`];
}

function describeProtected({ conversations, capturedFiles }: NonNullable<ArchiveHoldReport['protects']>): string {
  const parts = [
    ...(conversations === 0 ? [] : [countOf(conversations, 'conversation')]),
    ...(capturedFiles === 0 ? [] : [countOf(capturedFiles, 'captured file')]),
  ];
  return parts.length === 0 ? 'nothing in the archive yet' : parts.join(' and ');
}

function renderHold({ kind, value, reason, addedAt }: HoldReport): string {
  return `${formatMinute(addedAt)}  --${kind} ${safeText(value)}${reason === null ? '' : `  (${safeText(reason)})`}`;
}

/** One line for each receipt. */
export function renderReceipts({ receipts }: ArchiveReceiptsReport): readonly string[] {
  return receipts.length === 0 ? ['nothing was erased'] : receipts.map(renderReceipt);
}

function renderReceipt({ receipt, kind, at, lines, captured, bytes, reason }: ReceiptReport): string {
  const what = `${countOf(lines + captured.lines, 'line')}, ${formatBytes(bytes)}`;
  const word = kind === 'prune' ? 'pruned' : 'erased';
  return `${formatMinute(at)}  ${receipt}  ${word} ${what}${reason === null ? '' : `  (${safeText(reason)})`}`;
}

const MAX_PARTS = 20;
const SERVER_COPIES = [
  "  The tables are clean. The server's write-ahead log still has the text until it is recycled; its log archive and backups until you",
  '  delete them; its replicas until they have caught up. docs/archive.md says what to do.',
];

/** What goes or went, what protects it, and where the text may still be. */
export function renderErase(report: ArchiveEraseReport, theme: Theme): readonly string[] {
  const { result, parts, held, files, receipt, capturedFiles } = report;
  if (result === 'nothing') return [report.kind === 'prune' ? 'nothing to prune' : 'nothing in the archive matches'];
  const what = `${countOf(report.lines, 'line')} (${formatBytes(report.bytes)}) of ${countOf(parts.length, 'compaction')}${capturedText(report)}`;
  const more = parts.length - MAX_PARTS;
  return [
    `${theme.strong(verdictOf(result, report.kind))}: ${what}${report.isEverything ? theme.warning(', which is everything in the archive') : ''}`,
    ...parts.slice(0, MAX_PARTS).map(renderPart),
    ...(more > 0 ? [`  and ${countOf(more, 'more compaction')}`] : []),
    ...renderCaptured(capturedFiles),
    ...report.notes.map((path) => `  note      ${safeText(path)}`),
    ...held.map((hold) => theme.warning(`  held      ${renderHold(hold)}`)),
    ...(receipt === null ? [] : renderErased(receipt)),
    ...(result === 'planned' ? renderAnswers(report) : []),
    ...(result === 'planned' ? ['  Nothing was removed yet. Run it again with --yes to remove this.'] : []),
    ...(result === 'erased' && report.kind === 'erase' && files.length > 0
      ? [
          '  These files, and backups of the archive, may still have the text:',
          ...files.map((file) => `    ${safeText(file)}`),
        ]
      : []),
    ...(result === 'erased' && report.kind === 'erase' && report.isOnServer ? SERVER_COPIES : []),
  ];
}

function verdictOf(result: 'planned' | 'refused' | 'erased', kind: ArchiveEraseReport['kind']): string {
  const word = kind === 'prune' ? 'pruned' : 'erased';
  return result === 'planned' ? `would be ${word}` : result === 'refused' ? `not ${word}` : word;
}

function renderAnswers({ kind, paidBefore }: ArchiveEraseReport): readonly string[] {
  if (kind === 'erase') return ['  also      summaries made from it, and all stored model answers'];
  return paidBefore === null ? [] : [`  also      all stored model answers from before ${formatMinute(paidBefore)}`];
}

function renderCaptured(files: readonly string[]): readonly string[] {
  const more = files.length - MAX_PARTS;
  return [
    ...files.slice(0, MAX_PARTS).map((file) => `  captured  ${safeText(file)}`),
    ...(more > 0 ? [`  and ${countOf(more, 'more captured file')}`] : []),
  ];
}

function capturedText({ captured }: ArchiveEraseReport): string {
  const parts = [
    ...(captured.files > 0 ? [countOf(captured.files, 'captured file')] : []),
    ...(captured.lines > 0 ? [countOf(captured.lines, 'captured line')] : []),
  ];
  return parts.length === 0 ? '' : `, ${parts.join(', ')}`;
}

function renderPart({ file, conversations, archivedAt, lines, bytes }: ErasedPart): string {
  const whose =
    conversations.length === 1 ? safeText(conversations[0] ?? '') : countOf(conversations.length, 'conversation');
  return `  ${formatMinute(archivedAt)}  ${safeText(file)}  ${whose}, ${countOf(lines, 'line')}, ${formatBytes(bytes)}`;
}

function renderErased(receipt: ReceiptReport): readonly string[] {
  const rest = [
    countOf(receipt.summaries, 'summary', 'summaries'),
    countOf(receipt.paidSummaries, 'stored model answer'),
    countOf(receipt.vectors, 'vector'),
    ...(receipt.notes > 0 ? [countOf(receipt.notes, 'note of a hook', 'notes of hooks')] : []),
    ...(receipt.droppedRules > 0 ? [countOf(receipt.droppedRules, 'dropped rule')] : []),
  ];
  return [`  also      ${rest.join(', ')}`, `  receipt   ${receipt.receipt}`];
}
