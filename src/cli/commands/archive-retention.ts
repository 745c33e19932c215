import type { HoldRequest } from '../../app/archive/holds.ts';
import type { EraseSelector } from '../../app/archive/select.ts';
import type { Failure } from '../../app/contract/failure.ts';
import type { ArchiveEraseReport } from '../../app/contract/retention-reports.ts';
import { parseBytes, parseSince } from '../../config/quantity.ts';
import type { Result } from '../../core/result.ts';
import type { HoldScope } from '../../ports/retention.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from '../exit-codes.ts';
import { renderFailure } from '../render/failure.ts';
import { reportJson } from '../render/json-lines.ts';
import { noArchive } from '../render/problems.ts';
import { countOf } from '../render/quantities.ts';
import { renderErase, renderHolds, renderReceipts } from '../render/retention.ts';
import { safeText } from '../render/text.ts';
import { createRuleNotes } from '../hook/rule-notes.ts';
import type { Session } from '../session.ts';
import type { ArchiveInvocation } from './archive-line.ts';

/** What keeps and removes things in the archive. */
export async function runRetention(session: Session, invocation: ArchiveInvocation): Promise<ExitCode> {
  if (invocation.action === 'hold') return hold(session, invocation);
  if (invocation.action === 'prune') return prune(session, invocation);
  if (invocation.lists) return listReceipts(session, invocation);
  const { useCases, terminal } = session;
  const [selector] = invocation.selectors;
  if (selector === undefined)
    return session.refuse('name what to erase: --conversation, --source, --match or --message');
  const { reason, isConfirmed, despiteHold } = invocation;
  const notes = createRuleNotes(terminal.host);
  const request = { selector, reason, isConfirmed, despiteHold, notes };
  return answerErase(session, invocation, await useCases.eraseArchived(request));
}

async function hold({ useCases, reporter, settings }: Session, invocation: ArchiveInvocation): Promise<ExitCode> {
  const changed = await useCases.changeHolds(toHoldRequest(invocation));
  if (!changed.ok) {
    reporter.error(renderFailure(changed.error));
    return EXIT_CODES.failed;
  }
  const report = changed.value;
  if (invocation.outputOptions.json) reporter.answerPiece(reportJson(report));
  else if (invocation.outputOptions.verbosity !== 'quiet') reporter.answer(renderHolds(report));
  if (report.archive === null) reporter.report([noArchive(settings.archive.path)]);
  if (report.result === 'missing') reporter.error("there is no such hold. 'compact archive hold list' shows them all.");
  if (!report.isPurged) reporter.error(unfinished(settings.archive.path));
  return report.result === 'missing' || !report.isPurged ? EXIT_CODES.failed : EXIT_CODES.done;
}

function toHoldRequest({ operands: [change], selectors, reason }: ArchiveInvocation): HoldRequest {
  const scope = selectors.flatMap(toScope)[0];
  if (scope === undefined || change === undefined || change === 'list') return { kind: 'list' };
  return change === 'add' ? { kind: 'add', scope, reason } : { kind: 'remove', scope };
}

function toScope(selector: EraseSelector): readonly HoldScope[] {
  if (selector.kind === 'conversation') return [{ kind: 'conversation', value: selector.id }];
  return selector.kind === 'source' ? [{ kind: 'source', value: selector.glob }] : [];
}

async function prune(session: Session, invocation: ArchiveInvocation): Promise<ExitCode> {
  const { before, maxBytes, keepLast, project } = invocation.prune;
  const { older_than: age, max_size: size, keep_last: kept } = session.settings.retention;
  // Checked when the configuration was loaded.
  const configuredBefore = age === null ? null : parseSince(age, Date.now());
  const configuredSize = size === null ? null : parseBytes(size);
  const policy = {
    before: before ?? (configuredBefore?.ok === true ? new Date(configuredBefore.value) : null),
    maxBytes: maxBytes ?? (configuredSize?.ok === true ? configuredSize.value : null),
    keepLast: keepLast ?? kept,
    project,
  };
  if (policy.before === null && policy.maxBytes === null)
    return session.refuse('archive prune needs --older-than or --max-size, or a [retention] in the configuration');
  const request = { ...policy, isConfirmed: invocation.isConfirmed };
  return answerErase(session, invocation, await session.useCases.pruneArchive(request));
}

async function listReceipts(
  { useCases, reporter, settings }: Session,
  { outputOptions }: ArchiveInvocation,
): Promise<ExitCode> {
  const listed = await useCases.listReceipts();
  if (!listed.ok) {
    reporter.error(renderFailure(listed.error));
    return EXIT_CODES.failed;
  }
  if (outputOptions.json) reporter.answerPiece(reportJson(listed.value));
  else reporter.answer(renderReceipts(listed.value));
  if (listed.value.archive === null) reporter.report([noArchive(settings.archive.path)]);
  if (listed.value.isPurged) return EXIT_CODES.done;
  reporter.error(unfinished(settings.archive.path));
  return EXIT_CODES.failed;
}

function unfinished(path: string): string {
  return `${safeText(path)}: an erasure is not finished, so the file still contains the old bytes. Close other programs that have it open, then run 'compact archive hold list'; it finishes the cleanup.`;
}

function describeUnsearched({ unsearched }: ArchiveEraseReport, { selectors }: ArchiveInvocation): string {
  const files = countOf(unsearched, 'captured file');
  if (selectors[0]?.kind === 'conversation')
    return `not erased: ${files} that other conversations share, because nothing tells whose the records are. Select ${unsearched === 1 ? 'it' : 'them'} with --source, or the text with --match.`;
  return selectors[0]?.kind === 'message'
    ? `not searched: ${files}, because only archived messages have ids. Select the text with --match, or the files with --source.`
    : `not searched to the end: ${files}, because compressed content is damaged, was partly erased, or is a zip file (.eval). Select ${unsearched === 1 ? 'it' : 'them'} with --source.`;
}

/** Exit code 1 if a hold is in the way, captured files were not searched, or freed space still has the bytes. */
function answerErase(
  { reporter, settings, terminal }: Session,
  invocation: ArchiveInvocation,
  erased: Result<ArchiveEraseReport, Failure>,
): ExitCode {
  if (!erased.ok) {
    if (erased.error.kind === 'interrupted') return interruptionCode(terminal.signal);
    reporter.error(renderFailure(erased.error));
    return EXIT_CODES.failed;
  }
  const report = erased.value;
  const { outputOptions } = invocation;
  if (outputOptions.json) reporter.answerPiece(reportJson(report));
  else if (report.archive !== null && outputOptions.verbosity !== 'quiet')
    reporter.answer(renderErase(report, reporter.answerTheme));
  const path = safeText(settings.archive.path);
  if (report.archive === null) reporter.report([noArchive(settings.archive.path)]);
  if (report.result === 'refused') {
    reporter.error(`${path}: nothing was erased, because a hold protects it. Remove the hold, or use --despite-hold.`);
    return EXIT_CODES.failed;
  }
  if (report.unsearched > 0) reporter.error(`${path}: ${describeUnsearched(report, invocation)}`);
  if (report.isPurged) return report.unsearched > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
  reporter.error(
    `${path}: erased, but the file still contains the old bytes, because ${safeText(report.purgeProblem ?? '')}, then run 'compact archive hold list'; it finishes the cleanup.`,
  );
  return EXIT_CODES.failed;
}
