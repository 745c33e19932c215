import type { HoldRequest } from '../../../app/archive/holds.ts';
import type { ArchiveEraseReport } from '../../../app/contract/archive-reports.ts';
import type { Failure } from '../../../app/contract/failure.ts';
import { parseBytes, parseCountOrZero, parseSince } from '../../../config/quantity.ts';
import type { Result } from '../../../core/result.ts';
import { countOf } from '../../../messages/quantities.ts';
import { safeText, shellWord } from '../../../messages/text.ts';
import type { HoldScope } from '../../../ports/retention.ts';
import { createRuleNotes } from '../../hook/rule-notes.ts';
import {
  defineAction,
  EXIT_CODES,
  type ExitCode,
  type Flag,
  type Line,
  type OptionsOf,
  type Session,
} from '../../line/command.ts';
import { readTime } from '../../line/flags.ts';
import { renderErase, renderHolds, renderReceipts } from '../../render/archive.ts';
import { CONFIRM_FLAG, readSelectors, REASON_FLAG, reportMissing, SELECTOR_FLAGS } from './shared.ts';

// Actions that remove, or protect from removal.

const HOLD_FLAGS = [...SELECTOR_FLAGS, REASON_FLAG] as const;

export const holdAction = defineAction({
  summary: 'protect conversations from erase and prune',
  flags: HOLD_FLAGS,
  takes: [{ syntax: '[change]', description: 'add, remove or list' }],
  refuseOperands: ([change = 'list', ...more]) =>
    ['add', 'remove', 'list'].includes(change) && more.length === 0 ? null : 'archive hold takes add, remove or list',
  findConflict: ({ operands: [change = 'list'], options }) => {
    const selectors = readSelectors(options);
    if (change === 'list')
      return selectors.length > 0 ? 'archive hold list takes no --conversation and no --source' : null;
    const empty = selectors.find((selector) => Object.values(selector).includes(''));
    if (empty !== undefined) return `--${empty.kind} must not be empty`;
    return selectors.length === 1 && selectors.flatMap(toScope).length === 1
      ? null
      : `archive hold ${change} takes either --conversation or --source`;
  },
  run: async (session: Session, asked) => {
    const { useCases, reporter } = session;
    const changed = await useCases.changeHolds(toRequest(asked));
    if (!changed.ok) return session.fail(changed.error);
    const { result, isPurged } = changed.value;
    session.answerUnlessQuiet(changed.value, () => renderHolds(changed.value));
    reportMissing(session, changed.value);
    if (result === 'missing') reporter.error("there is no such hold. 'compact archive hold list' shows them all.");
    if (!isPurged) return failUnfinished(session);
    return result === 'missing' ? EXIT_CODES.failed : EXIT_CODES.done;
  },
});

function toRequest({ operands: [change], options }: Line<OptionsOf<typeof HOLD_FLAGS>>): HoldRequest {
  const scope = readSelectors(options).flatMap(toScope)[0];
  if (scope === undefined || change === undefined || change === 'list') return { kind: 'list' };
  return change === 'add' ? { kind: 'add', scope, reason: options.reason ?? null } : { kind: 'remove', scope };
}

function toScope(selector: ReturnType<typeof readSelectors>[number]): readonly HoldScope[] {
  if (selector.kind === 'conversation') return [{ kind: 'conversation', value: selector.id }];
  return selector.kind === 'source' ? [{ kind: 'source', value: selector.glob }] : [];
}

export const DESPITE_FLAG = {
  flags: '--despite-hold',
  description: 'remove data even if a hold protects it',
} as const satisfies Flag;

export const RECEIPTS_FLAG = {
  flags: '--list',
  description: 'list the receipts of earlier erasures',
  conflicts: 'yes',
} as const satisfies Flag;

export const eraseAction = defineAction({
  summary: 'remove data for good',
  flags: [...SELECTOR_FLAGS, REASON_FLAG, CONFIRM_FLAG, DESPITE_FLAG, RECEIPTS_FLAG],
  refuseOperands: ([word]) =>
    word === undefined
      ? null
      : `archive erase takes no '${word}': --match ${shellWord(word)} selects lines that contain it, --conversation ${shellWord(word)} a conversation`,
  findConflict: ({ options }) => {
    const [selector, ...more] = readSelectors(options);
    if (options.list === true) return selector === undefined ? null : 'archive erase --list takes nothing else';
    if (selector === undefined || more.length > 0) return NO_SELECTOR;
    if (Object.values(selector).includes('')) return `--${selector.kind} must not be empty`;
    return selector.kind === 'message' && /^line:\d+$/.test(selector.id)
      ? `'${selector.id}' is a line number, which every transcript has. Select the text with --match instead.`
      : null;
  },
  run: async (session: Session, { options }) => {
    if (options.list === true) return listReceipts(session);
    const [selector] = readSelectors(options);
    if (selector === undefined) return session.refuse(NO_SELECTOR);
    const request = {
      selector,
      reason: options.reason ?? null,
      isConfirmed: options.yes === true,
      despiteHold: options.despiteHold === true,
      notes: createRuleNotes(session.terminal.host),
    };
    return answerErase(session, await session.useCases.eraseArchived(request), options);
  },
});

const NO_SELECTOR = 'name what to erase: --conversation, --source, --match or --message';

async function listReceipts(session: Session): Promise<ExitCode> {
  const listed = await session.useCases.listReceipts();
  if (!listed.ok) return session.fail(listed.error);
  session.answer(listed.value, () => renderReceipts(listed.value));
  reportMissing(session, listed.value);
  return listed.value.isPurged ? EXIT_CODES.done : failUnfinished(session);
}

function failUnfinished({ fail, settings }: Session): ExitCode {
  return fail(
    `${safeText(settings.archive.path)}: an erasure is not finished, so the file still contains the old bytes. Close other programs that have it open, then run 'compact archive hold list'; it finishes the cleanup.`,
  );
}

/** Exit code 1 if a hold is in the way, captured files were not searched, or freed space still has the bytes. */
function answerErase(
  session: Session,
  erased: Result<ArchiveEraseReport, Failure>,
  selector: OptionsOf<typeof SELECTOR_FLAGS> = {},
): ExitCode {
  const { reporter, settings } = session;
  if (!erased.ok) return session.fail(erased.error);
  const { archive, result, unsearched, isPurged, purgeProblem } = erased.value;
  session.answerUnlessQuiet(erased.value, () =>
    archive === null ? [] : renderErase(erased.value, reporter.answerTheme),
  );
  reportMissing(session, erased.value);
  const path = safeText(settings.archive.path);
  if (result === 'refused')
    return session.fail(
      `${path}: nothing was erased, because a hold protects it. Remove the hold, or use --despite-hold.`,
    );
  if (unsearched > 0) reporter.error(`${path}: ${describeUnsearched(unsearched, selector)}`);
  if (isPurged) return unsearched > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
  return session.fail(
    `${path}: erased, but the file still contains the old bytes, because ${safeText(purgeProblem ?? '')}, then run 'compact archive hold list'; it finishes the cleanup.`,
  );
}

function describeUnsearched(count: number, { conversation, message }: OptionsOf<typeof SELECTOR_FLAGS>): string {
  const files = countOf(count, 'captured file');
  const them = count === 1 ? 'it' : 'them';
  if (conversation !== undefined)
    return `not erased: ${files} that other conversations share, because nothing tells whose the records are. Select ${them} with --source, or the text with --match.`;
  return message !== undefined
    ? `not searched: ${files}, because only archived messages have ids. Select the text with --match, or the files with --source.`
    : `not searched to the end: ${files}, because compressed content is damaged, was partly erased, or is a zip file (.eval). Select ${them} with --source.`;
}

export const POLICY_FLAGS = [
  {
    flags: '--older-than <age>',
    description: 'conversations last archived more than 180d, 6mo, 1y ago, or before 2026-03-01',
    parse: parseSince,
  },
  {
    flags: '--max-size <size>',
    description: 'remove the oldest until the archive is about this size (20GB)',
    parse: parseBytes,
  },
  {
    flags: '--keep-last <n>',
    description: 'always keep this many of the newest conversations',
    parse: parseCountOrZero,
  },
  { flags: '--project <glob>', description: 'only transcripts in folders that match' },
] as const satisfies readonly Flag[];

export const pruneAction = defineAction({
  summary: 'remove old conversations',
  flags: [...POLICY_FLAGS, CONFIRM_FLAG],
  needs: ['archive', 'retention'],
  findConflict: ({ options }) =>
    /^\/*$/.test(options.project ?? '-') ? '--project must name a folder or a glob' : null,
  run: async (session: Session, { options }) => {
    const { olderThan, maxSize, keepLast, project = null, yes } = options;
    const { older_than: age, max_size: size, keep_last: kept } = session.settings.retention;
    // Checked when the configuration was loaded.
    const configuredBefore = age === null ? null : parseSince(age, Date.now());
    const configuredSize = size === null ? null : parseBytes(size);
    const policy = {
      before: readTime(olderThan ?? (configuredBefore?.ok === true ? configuredBefore.value : undefined)),
      maxBytes: maxSize ?? (configuredSize?.ok === true ? configuredSize.value : null),
      keepLast: keepLast ?? kept,
      project,
    };
    if (policy.before === null && policy.maxBytes === null)
      return session.refuse('archive prune needs --older-than or --max-size, or a [retention] in the configuration');
    return answerErase(session, await session.useCases.pruneArchive({ ...policy, isConfirmed: yes === true }));
  },
});
