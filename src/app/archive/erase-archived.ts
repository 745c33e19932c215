import { isArchiveUrl, matchesGlob } from '../../core/paths.ts';
import { formatTime } from '../../core/batch.ts';
import { ok, type Result } from '../../core/result.ts';
import type { Archive } from '../../ports/archive.ts';
import type { Choice, Erasure, ErasurePlan, Hold, SessionNote, SessionNotes } from '../../ports/retention.ts';
import type { StepListener } from '../../ports/runtime.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { ArchiveEraseReport, ArchiveReceiptsReport, ReceiptReport } from '../contract/archive-reports.ts';
import { openSettled, openUnsettled, purgeErased, refuseReadOnly } from '../write/settle.ts';
import { reportHold } from './holds.ts';
import { type EraseSelector, idsOf, planErasure, type SelectedPart, type Selection } from './select.ts';
import { belongsTo } from './sessions.ts';

export type EraseRequest = {
  readonly selector: EraseSelector;
  readonly reason: string | null;
  /** False: only report what would go. */
  readonly isConfirmed: boolean;
  readonly despiteHold: boolean;
  /** What hooks noted of sessions; undefined: nothing. */
  readonly notes?: SessionNotes;
};

export type EraseDeps = AppDeps & { readonly reached: StepListener };

/** Runs an erasure or a prune on the settled archive, with the holds in it. */
export async function withHolds(
  deps: EraseDeps,
  { kind, isConfirmed }: Pick<ErasurePlan, 'kind'> & Pick<EraseRequest, 'isConfirmed'>,
  work: (archive: Archive, holds: readonly Hold[]) => Promise<ArchiveEraseReport>,
): Promise<Result<ArchiveEraseReport, Failure>> {
  return attempt({ file: deps.archivePath, progress: deps.progress }, async () => {
    const archive = await openSettled(deps, 'existing');
    if (archive === null) return ok(emptyReport(kind));
    if (isConfirmed) refuseReadOnly(archive);
    return ok(await work(archive, await archive.retention.listHolds()));
  });
}

/** Removes conversations, files, lines or messages from the archive for good, unless a hold protects any of it. */
export async function eraseArchived(
  deps: EraseDeps,
  { selector, reason, isConfirmed, despiteHold, notes: store }: EraseRequest,
): Promise<Result<ArchiveEraseReport, Failure>> {
  return withHolds(deps, { kind: 'erase', isConfirmed }, async (archive, holds) => {
    const selection = await planErasure(deps, { archive, selector, holds });
    const notes = (store?.list() ?? []).filter((note) => isNoteOf(note, selector, selection));
    const choices = (await archive.choices.list()).filter((choice) => isChoiceOf(choice, selector));
    const report = reportSelection(deps, selection, { kind: 'erase', paidBefore: deps.runtime.now() });
    const isNothing = report.result === 'nothing' && notes.length + choices.length === 0;
    const planned = { ...report, notes: notes.map(({ path }) => path) };
    if (isNothing) return planned;
    if (selection.holds.length > 0 && !despiteHold) return { ...planned, result: 'refused' };
    if (!isConfirmed) return { ...planned, result: 'planned' };
    for (const note of notes) store?.remove(note);
    for (const choice of choices) await archive.choices.remove(choice);
    const aside = { notes: notes.length, choices: choices.length };
    const plan = {
      kind: 'erase',
      at: deps.runtime.now(),
      reason,
      despiteHold: selection.holds.length > 0,
      paid: 'all',
      aside,
    } as const;
    return eraseSelection(deps, archive, { selection, holds, plan, planned });
  });
}

/** Dropped rules quote the user. With a conversation that is erased whole, its own choices go anyway, in whichever file they were made. */
function isChoiceOf({ kind, conversationId, path, text }: Choice, selector: EraseSelector): boolean {
  return (
    (selector.kind === 'conversation' && selector.id === conversationId) ||
    (selector.kind === 'source' && matchesGlob(path, selector.glob)) ||
    (selector.kind === 'match' && kind === 'drop-rule' && text.includes(selector.text)) ||
    (selector.kind === 'message' && kind === 'pin' && text === selector.id)
  );
}

/** Notes belong to the conversations that are erased whole, and to the captured files that go. */
function isNoteOf({ session, text }: SessionNote, selector: EraseSelector, selection: Selection): boolean {
  if (selector.kind === 'match') return text.includes(selector.text);
  if (selector.kind === 'message') return false;
  const { parts, capturedFiles } = selection;
  const ids = [
    ...(selector.kind === 'conversation' ? [selector.id] : []),
    ...parts.flatMap(({ lineIds, conversations }) => (lineIds === null ? conversations : [])),
  ];
  return (
    ids.some((id) => id.toLowerCase() === session.toLowerCase()) ||
    capturedFiles.some((file) => belongsTo(file, session))
  );
}

type Planned = {
  readonly selection: Selection;
  readonly holds: readonly Hold[];
  readonly plan: Pick<ErasurePlan, 'kind' | 'at' | 'reason' | 'despiteHold' | 'paid' | 'aside'>;
  readonly planned: ArchiveEraseReport;
};

export async function eraseSelection(
  deps: EraseDeps,
  archive: Archive,
  { selection, holds, plan, planned }: Planned,
): Promise<ArchiveEraseReport> {
  deps.progress.update('erasing', 0, 1);
  const holdIds = holds.map(({ id }) => id);
  const receipt = await archive.retention.erase({ ...plan, ...idsOf(selection), kept: selection.kept, holdIds });
  deps.reached('erased');
  const purgeProblem = await purgeErased(archive);
  deps.reached('purged');
  const isPurged = purgeProblem === null;
  return { ...planned, result: 'erased', receipt: reportReceipt(receipt), isPurged, purgeProblem };
}

/** The report of a selection before anything is erased. */
export function reportSelection(
  { archivePath }: Pick<AppDeps, 'archivePath'>,
  { parts, cycleIds, capturedFiles, capturedLineIds, touchedPaths, holds, isEverything, unsearched }: Selection,
  { kind, paidBefore }: { kind: ErasurePlan['kind']; paidBefore: Date | null },
): ArchiveEraseReport {
  const isNothing = [parts, cycleIds, capturedFiles, capturedLineIds].every(({ length }) => length === 0);
  const paths = parts.flatMap(({ compaction }) => compaction.paths);
  const capturedPaths = capturedFiles.map(({ path }) => path);
  return {
    ...emptyReport(kind),
    archive: archivePath,
    isOnServer: isArchiveUrl(archivePath),
    result: isNothing ? 'nothing' : 'planned',
    isEverything,
    paidBefore: paidBefore === null ? null : formatTime(paidBefore),
    unsearched,
    parts: parts.map((part) => ({
      file: part.compaction.sourcePath,
      conversations: part.conversations,
      archivedAt: formatTime(part.compaction.archivedAt) ?? '',
      lines: linesOf(part),
      bytes: part.bytes,
    })),
    lines: parts.reduce((sum, part) => sum + linesOf(part), 0),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    captured: { files: capturedFiles.length, lines: capturedLineIds.length },
    held: holds.map(reportHold),
    files: [...new Set([...paths, ...capturedPaths, ...touchedPaths])].toSorted(),
    capturedFiles: capturedPaths,
    onlyCopies: capturedFiles.filter(({ last }) => last.change === 'gone').map(({ path }) => path),
  };
}

function linesOf({ compaction, lineIds }: SelectedPart): number {
  return lineIds === null ? compaction.lines : lineIds.length;
}

function emptyReport(kind: ErasurePlan['kind']): ArchiveEraseReport {
  return {
    schema: 'compact/archive-erase@1',
    archive: null,
    result: 'nothing',
    kind,
    isEverything: false,
    paidBefore: null,
    unsearched: 0,
    parts: [],
    lines: 0,
    bytes: 0,
    captured: { files: 0, lines: 0 },
    held: [],
    receipt: null,
    isPurged: true,
    purgeProblem: null,
    isOnServer: false,
    files: [],
    capturedFiles: [],
    onlyCopies: [],
    notes: [],
  };
}

function reportReceipt({ capturedFiles, capturedLines, at, ...rest }: Erasure): ReceiptReport {
  return { ...rest, at: formatTime(at) ?? '', captured: { files: capturedFiles, lines: capturedLines } };
}

export async function listReceipts(deps: AppDeps): Promise<Result<ArchiveReceiptsReport, Failure>> {
  return attempt({ file: deps.archivePath }, async () => {
    const stored = await openUnsettled(deps);
    const receipts = (await stored?.retention.listErasures()) ?? [];
    const archive = stored === null ? null : deps.archivePath;
    const isPurged = (await stored?.retention.isPurged()) ?? true;
    return ok({ schema: 'compact/archive-receipts@1', archive, receipts: receipts.map(reportReceipt), isPurged });
  });
}
