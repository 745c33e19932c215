import type { Failure } from '../../app/contract/failure.ts';
import type { FailedReport, SkippedFileReport, SkippedRestoreReport } from '../../app/contract/reports.ts';
import { byKind } from '../../core/result.ts';
import { describeNoText, describeUnknown, type NotDone, renderFailed, toFailedReport } from '../../messages/failure.ts';
import { skipWords } from '../render/compact-list.ts';
import { safeText } from '../../messages/text.ts';
import type { Session } from '../session.ts';

type Unreadable = Extract<Failure, { readonly kind: (typeof REASONS)[number] }>;

/**
 * The report of a file that is too recent, or that was found rather than named, and that is no readable conversation: folders hold all kinds of files, and
 * they must not make a nightly run fail. Null: this is a failure.
 */
export function skipUnreadable(
  failure: NotDone | Failure,
  { name, isNamed }: UnreadableFile,
): SkippedFileReport | null {
  if (failure.kind === 'too-recent') {
    const notes = ['its last message is not older than --older-than'];
    return { schema: 'compact/report@1', file: name, result: 'skipped', reason: 'too-recent', notes };
  }
  if (isNamed || !isUnreadable(failure)) return null;
  const advice = failure.kind === 'bad-line' && failure.canCarry ? ['--keep-invalid carries such lines along'] : [];
  const notes = [describeUnreadable(failure), ...advice];
  const isEmpty = failure.kind === 'not-a-transcript' && failure.isEmpty === true;
  const reason = isEmpty ? 'no-messages' : failure.kind;
  return { schema: 'compact/report@1', file: name, result: 'skipped', reason, notes };
}

/** The same for a command on compacted files: a folder also holds files that were never compacted. */
export function skipUncompacted(failure: NotDone, input: UnreadableFile): Skipped | null {
  if (failure.kind === 'not-compacted' && !input.isNamed)
    return { reason: 'not-compacted', notes: ['it is not compacted'] };
  // A file with a damaged line may have been compacted, so it cannot be skipped, unless none of its lines is a record.
  return failure.kind === 'bad-line' && failure.canCarry ? null : skipUnreadable(failure, input);
}

type Skipped = Pick<SkippedFileReport | SkippedRestoreReport, 'reason' | 'notes'>;

/** `isNamed`: the command line itself names the file. */
type UnreadableFile = { readonly name: string; readonly isNamed: boolean };

const REASONS = ['no-messages', 'no-text', 'not-a-transcript', 'unknown-format', 'mixed-formats', 'bad-line'] as const;

function isUnreadable(failure: NotDone | Failure): failure is Unreadable {
  return REASONS.some((reason) => reason === failure.kind);
}

type OutcomeOptions = {
  /** How `--json` reports files that failed or were skipped; by default it does not. */
  readonly schema?: string;
  /** A failure names its file, whatever failed. */
  readonly isSeveral?: boolean;
  readonly skip?: (failure: NotDone, input: UnreadableFile) => Skipped | null;
  readonly isSkipShown?: (failure: NotDone) => boolean;
};

/** Tells of the files of a run that failed or were skipped, and counts them. */
export function createOutcomes(session: Pick<Session, 'reporter' | 'asked' | 'explain'>, options: OutcomeOptions = {}) {
  const { schema, isSeveral = false, skip = skipUnreadable, isSkipShown = () => true } = options;
  const { reporter } = session;
  const tellsJson = session.asked.outputOptions.json && schema !== undefined;
  const counts = { failed: 0, skipped: new Map<string, number>() };
  const renderSkipped = createSkipRenderer();
  /** A file whose failure was printed before. */
  const countFailed = ({ file, error }: FailedReport): void => {
    counts.failed += 1;
    if (tellsJson) reporter.answerJson({ schema, file, result: 'failed', error });
  };
  return {
    counts,
    countFailed,
    add: (failure: NotDone, input: UnreadableFile): void => {
      const { name: file } = input;
      const skipped = skip(failure, input);
      if (skipped === null) {
        const failed = toFailedReport(file, failure);
        reporter.error(isSeveral || failure.kind === 'bug' ? renderFailed(failed) : failed.error.message, failed);
        countFailed(failed);
      } else {
        const { reason, notes } = skipped;
        const words = skipWords(reason);
        counts.skipped.set(words, (counts.skipped.get(words) ?? 0) + 1);
        if (tellsJson) reporter.answerJson({ schema, file, result: 'skipped', reason, notes });
        else if (isSkipShown(failure)) reporter.report([renderSkipped({ file, notes })], { file, result: 'skipped' });
      }
      if (failure.kind !== 'bug') session.explain(failure);
    },
  };
}

/** The failed lines of a run, for people: the reason is repeated for each line, the advice is printed once. */
export function createSkipRenderer(): (report: { readonly file: string; readonly notes: readonly string[] }) => string {
  const given = new Set<string>();
  return ({ file, notes: [reason = '', ...advice] }) => {
    const fresh = advice.filter((note) => !given.has(note));
    for (const note of fresh) given.add(note);
    return `${safeText(file)}: skipped, ${[reason, ...fresh].map(safeText).join('; ')}`;
  };
}

function describeUnreadable(failure: Unreadable): string {
  return byKind(failure, {
    'no-messages': ({ contains }) => `no messages in it, only ${contains}`,
    'no-text': describeNoText,
    'not-a-transcript': ({ isEmpty, looksLike }) =>
      isEmpty === true ? `it is ${looksLike}` : `not a transcript: it looks like ${looksLike}`,
    'unknown-format': describeUnknown,
    'mixed-formats': ({ line, other, format }) => `line ${line}: a message of ${other} in a file of ${format}`,
    'bad-line': ({ line, column, problem }) => `line ${line}, column ${column}: ${problem}`,
  });
}
