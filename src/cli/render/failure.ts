import type { Failure, LookupFailure } from '../../app/contract/failure.ts';
import { assertNever } from '../../core/result.ts';
import type { FileFailure } from '../../ports/files.ts';
import { at, renderArchiveFailure } from './archive-failure.ts';
import { describeUncaptured } from './capture.ts';
import { renderLowRetention } from './compact-rows.ts';
import { renderFileFailure } from './file-failure.ts';
import { formatCount } from './quantities.ts';
import { describeErasure } from '../../core/erasure.ts';
import { safeText } from './text.ts';
import { renderCannotUndo } from './undo.ts';

/** Where, what, and what to try, in one line. `file` is what the user calls the transcript. */
export function renderFailure(failure: LookupFailure): string {
  switch (failure.kind) {
    case 'file':
      return renderFileFailure(failure.failure);
    case 'archive':
      return failure.replaced === undefined
        ? renderArchiveFailure(failure.failure)
        : at(
            failure.replaced,
            'it was replaced, and then its archive failed, so it may not be possible to restore it.',
            `Keep the archive ${safeText(failure.failure.path)}, and run 'compact verify' for the file. The cause: ${safeText('reason' in failure.failure ? failure.failure.reason : failure.failure.kind)}.`,
          );
    case 'bad-line': {
      const place = `${safeText(failure.file)}:${failure.line}:${failure.column}`;
      const advice = failure.canCarry ? 'Use --keep-invalid to carry such lines along.' : 'Fix or remove that line.';
      return `${place}: ${safeText(failure.problem)}. ${advice}`;
    }
    case 'not-a-transcript':
      return at(
        failure.file,
        `not a transcript: it looks like ${safeText(failure.looksLike)}.`,
        safeText(failure.advice),
      );
    case 'unknown-format':
      return at(
        failure.file,
        `${describeUnknown(failure)}.`,
        failure.looksLike === null ? FORMAT_ADVICE : FORMATS_ADVICE,
      );
    case 'mixed-formats':
      return at(
        `${failure.file}:${failure.line}`,
        `a message in ${safeText(failure.other)} format in a ${safeText(failure.format)} file.`,
        `Split the file at such lines, or keep them unread with --format ${safeText(failure.format)}.`,
      );
    case 'no-messages':
      return at(failure.file, `no messages, only ${safeText(failure.contains)}.`, TRANSCRIPT_ADVICE);
    case 'read-only-format':
      return at(
        failure.file,
        `an ${safeText(failure.title)} is not compacted: ${safeText(failure.reason)}.`,
        'Use compact capture and compact search --captures instead.',
      );
    case 'too-recent':
      return at(failure.file, 'its last message is too recent.', 'Leave out --older-than to compact it anyway.');
    case 'no-text':
      return at(failure.file, `${describeNoText(failure)}.`, TRANSCRIPT_ADVICE);
    case 'output-exists':
      return at(
        failure.output,
        'already exists and is not replaced, because its content would be lost.',
        `Move it away, or give another output for ${safeText(failure.file)} with -o.`,
      );
    case 'zip-on-stdout':
      return at(failure.file, 'the result is a zip file, which is not printed.', 'Use -i, or name a file with -o.');
    case 'source-changed':
      return at(failure.file, 'keeps changing while it is read.', 'Try again when its writer is done.');
    case 'in-use':
      return at(
        failure.file,
        `${safeText(failure.name)} (process ${failure.processId}) has it open for writing, and would go on writing to the replaced file.`,
        'End that program first, or give another output with -o.',
      );
    case 'not-compacted':
      return at(failure.file, 'not compacted.', 'Name a compacted file, or compact it first.');
    case 'not-its-original':
      return at(failure.file, `not the original of ${safeText(failure.compacted)}.`, 'Name the compacted file alone.');
    case 'cannot-undo':
      return renderCannotUndo(failure);
    case 'not-in-archive':
      if (failure.canUndoLast === true)
        return at(
          failure.file,
          `the archive ${safeText(failure.archive)} does not have its first compaction.`,
          "'compact restore' without --all undoes the last one; for earlier ones, name their archive with --archive. If somebody pasted that summary, --all --partial goes back to where it was pasted.",
        );
      return at(
        failure.file,
        `its compaction is not in the archive ${safeText(failure.archive)}.`,
        'Name the archive that was used with --archive.',
      );
    case 'rewritten':
      return at(
        failure.file,
        'its producer rewrote it after a compaction, so the first original cannot be restored byte for byte.',
        `${failure.canUndoLast ? "'compact restore' without --all restores the state before the last compaction. " : ''}'compact show ${safeText(failure.key)} --messages' prints the lines that left it.`,
      );
    case 'altered': {
      const place = failure.line === null ? safeText(failure.file) : `${safeText(failure.file)}:${failure.line}`;
      return `${place}: changed since it was written: ${safeText(failure.problem)}. 'compact verify' says what is still intact.`;
    }
    case 'overwritten':
      return at(
        failure.file,
        `compact wrote a transcript here on ${failure.at.slice(0, 10)}, and now it looks like ${safeText(failure.looksLike)}.`,
        "If you have a copy of it, put it back; 'compact search' still finds what left it.",
      );
    case 'erased':
      return at(
        failure.file,
        `archived lines of it were ${describeErasure(failure)}.`,
        "'compact restore --partial' restores the rest.",
      );
    case 'no-summary':
      return at(
        failure.file,
        `no summary: ${safeText(failure.problem)}. The file is unchanged.`,
        safeText(failure.advice),
      );
    case 'no-batch-api':
      return at(failure.provider, `${safeText(failure.problem)}.`, 'See docs/models.md.');
    case 'not-archived': {
      const near = failure.near.map(safeText).join(', ');
      const advice = near === '' ? SEARCH_ADVICE : `The nearest labels: ${near}.`;
      return at(failure.name, `not in the archive ${safeText(failure.archive)}.`, advice);
    }
    case 'not-captured':
      return at(failure.file, 'no such file was captured.', CAPTURED_ADVICE);
    case 'no-version':
      return at(failure.file, 'it has no such version.', CAPTURED_ADVICE);
    case 'uncaptured':
      return at(failure.file, `${describeUncaptured(failure)}, so it is not replaced.`, RECAPTURE_ADVICE);
    case 'ambiguous': {
      const candidates = failure.candidates.map(({ name, about }) => `\n  ${safeText(name)}  (${safeText(about)})`);
      const more = failure.hasMore ? '\n  …' : '';
      return `${safeText(failure.name)}: the name is ambiguous. Give one of these:${candidates.join('')}${more}`;
    }
    case 'low-retention':
      return renderLowRetention(failure);
    case 'worker-died':
      return at(
        failure.file,
        `the worker that processed it crashed (${safeText(failure.reason)}).`,
        'Run it again with -j 1.',
      );
    case 'interrupted':
      return 'interrupted: the current transcript is unchanged.';
    default:
      return assertNever(failure);
  }
}

const RECAPTURE_ADVICE = "Capture it first, with 'compact capture --reread'.";
const CAPTURED_ADVICE = "'compact capture --list' shows what there is.";
const TRANSCRIPT_ADVICE = 'Name a transcript that holds a conversation.';
const SEARCH_ADVICE = "'compact search' gives the labels and ids of what is in it.";

/** Why messages without text cannot be compacted. */
export function describeNoText({ messages }: Extract<Failure, { kind: 'no-text' }>): string {
  return messages === 1
    ? 'its only message has no text that can be read'
    : `none of its ${formatCount(messages)} messages has text that can be read`;
}

/** What is known about a format that we do not read. */
export function describeUnknown({ looksLike }: Extract<Failure, { kind: 'unknown-format' }>): string {
  return looksLike === null
    ? 'of no known format'
    : `it looks like ${safeText(looksLike)}, which this version does not read`;
}

const FORMATS_ADVICE = "'compact --formats' lists what it reads.";
const FORMAT_ADVICE =
  "Give --format NAME if you know it ('compact --formats' lists them); -v says why it was not recognized.";

/** Why standard input could not be stored in its temp file. */
export function renderStdinFailure(failure: FileFailure): string {
  const reasons = { 'no-space': 'no space is left', denied: 'it may not be written', 'not-found': 'no such folder' };
  if (failure.kind !== 'no-space' && failure.kind !== 'denied' && failure.kind !== 'not-found')
    return renderFileFailure(failure);
  const what = `standard input cannot be stored there (${reasons[failure.kind]}).`;
  return at(failure.path, what, 'Name another folder with TMPDIR.');
}

/** Why a file matches none of the formats, one per line, for `-v`. */
export function renderNearFormats(failure: LookupFailure): readonly string[] {
  const near = 'near' in failure && failure.kind !== 'not-archived' ? (failure.near ?? []) : [];
  return near.map(({ format, reason }) => `  not ${safeText(format)}: ${safeText(reason)}`);
}
