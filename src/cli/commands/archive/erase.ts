import type { Failure } from '../../../app/contract/failure.ts';
import type { ArchiveEraseReport } from '../../../app/contract/archive-reports.ts';
import type { Result } from '../../../core/result.ts';
import { EXIT_CODES, type ExitCode } from '../../terminal/exit-codes.ts';
import { createRuleNotes } from '../../hook/rule-notes.ts';
import { countOf } from '../../../messages/quantities.ts';
import { renderErase, renderReceipts } from '../../render/archive.ts';
import { safeText, shellWord } from '../../../messages/text.ts';
import type { Session } from '../../session.ts';
import { defineAction } from '../../line/command.ts';
import type { Flag, OptionsOf } from '../../line/line.ts';
import { CONFIRM_FLAG, readSelectors, REASON_FLAG, reportMissing, SELECTOR_FLAGS } from './shared.ts';

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
  if (listed.value.isPurged) return EXIT_CODES.done;
  reportUnfinished(session);
  return EXIT_CODES.failed;
}

export function reportUnfinished({ reporter, settings }: Session): void {
  reporter.error(
    `${safeText(settings.archive.path)}: an erasure is not finished, so the file still contains the old bytes. Close other programs that have it open, then run 'compact archive hold list'; it finishes the cleanup.`,
  );
}

/** For erase and prune. Exit code 1 if a hold is in the way, captured files were not searched, or freed space still has the bytes. */
export function answerErase(
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
  if (result === 'refused') {
    reporter.error(`${path}: nothing was erased, because a hold protects it. Remove the hold, or use --despite-hold.`);
    return EXIT_CODES.failed;
  }
  if (unsearched > 0) reporter.error(`${path}: ${describeUnsearched(unsearched, selector)}`);
  if (isPurged) return unsearched > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
  reporter.error(
    `${path}: erased, but the file still contains the old bytes, because ${safeText(purgeProblem ?? '')}, then run 'compact archive hold list'; it finishes the cleanup.`,
  );
  return EXIT_CODES.failed;
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
