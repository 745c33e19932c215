import type { Failure, LookupFailure } from '../../app/contract/failure.ts';
import { assertNever } from '../../core/result.ts';
import type { FileFailure } from '../../ports/files.ts';
import { at, renderArchiveFailure } from './archive-failure.ts';
import { describeUncaptured } from './capture.ts';
import { renderLowRetention } from './compact-rows.ts';
import { formatBytes, formatCount } from './quantities.ts';
import { describeErasure } from '../../core/erasure.ts';
import { safeText } from './text.ts';
import { renderCannotUndo } from './undo.ts';

/** Where, what, and what to try, in one line. `file` is what the user calls the transcript. */
export function renderFailure(failure: LookupFailure): string {
  switch (failure.kind) {
    case 'file':
      return fileFailure(failure.failure);
    case 'archive':
      return renderArchiveFailure(failure.failure);
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
          "'compact restore' without --all undoes the last one; for earlier ones, name their archive with --archive.",
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

function fileFailure(failure: FileFailure): string {
  switch (failure.kind) {
    case 'not-found':
      return at(failure.path, 'no such file or folder.', 'Check the path.');
    case 'not-a-file':
      return at(failure.path, `not a file: it is ${safeText(failure.is)}.`, 'Name a file.');
    case 'denied':
      if (failure.reason === 'owner')
        return at(
          failure.path,
          'it is not yours, and its owner could not write to the new file.',
          'Run compact as its owner, or give another place with -o.',
        );
      return at(
        failure.path,
        `no permission to ${failure.what} it.`,
        'Check the permissions of the file and its folder.',
      );
    case 'no-space':
      return at(failure.path, 'no space is left there.', 'Make room, or give another place with -o.');
    case 'foreign-leftover':
      return at(
        failure.path,
        `compact puts files of this name beside a transcript, but did not create this one: ${safeText(failure.is)}.`,
        'Look at it, and remove it.',
      );
    case 'held':
      return at(failure.path, 'another run of compact is working on it.', 'Try again when that one is done.');
    case 'io':
      return at(failure.path, `the system cannot read or write it (${safeText(failure.code)}).`, 'Check the disk.');
    case 'line-too-long': {
      const limit = `${Math.floor(failure.maxLineBytes / 1024 / 1024)} MiB`;
      return at(failure.path, `line ${failure.line} is longer than ${limit}.`, 'Such a line is damage. Remove it.');
    }
    case 'damaged':
      return damaged(failure);
    case 'no-room':
      return noRoom(failure);
    case 'unpacks-too-large':
      return at(
        failure.path,
        `unpacking stopped after ${formatBytes(failure.limitBytes)}: the result is far larger than expected for its size.`,
        'If you expect that, give --max-unpacked SIZE.',
      );
    case 'member-too-large':
      return at(
        failure.path,
        `a file in this zip has more than ${formatBytes(failure.limitBytes)} packed, too much to read.`,
        "Convert the log to JSON with 'inspect log convert'.",
      );
    case 'unfinished':
      return unfinished(failure);
    default:
      return assertNever(failure);
  }
}

function damaged({ path, compression, problem }: Extract<FileFailure, { kind: 'damaged' }>): string {
  if (problem === 'arranged-otherwise')
    return at(path, 'a zip file that is cut off, or not as Inspect writes it.', "Try 'inspect log convert' first.");
  if (compression === 'eval') return at(path, 'a part of this zip file is damaged.', 'Get another copy.');
  const tool = compression;
  switch (problem) {
    case 'cut-off':
      return at(path, `${tool} data that ends too early.`, 'Get a complete copy.');
    case 'broken':
      return at(path, `${tool} data that is damaged.`, `'${tool} -t' says more; get another copy.`);
    case 'trailing':
      return at(path, `something other than ${tool} data follows its end, and would be lost.`, 'Remove that first.');
    case 'too-wide':
      return at(path, `${tool} data that takes too much memory to unpack.`, 'Unpack it first: zstd -d --long=31.');
    default:
      return assertNever(problem);
  }
}

function noRoom({ path, folder, code }: Extract<FileFailure, { kind: 'no-room' }>): string {
  const reason = code === 'ENOSPC' || code === 'EDQUOT' ? 'no space is left' : `the system says ${safeText(code)}`;
  const what = `its content cannot be stored in ${safeText(folder)} while it is read (${reason}).`;
  return at(path, what, 'Name another folder with TMPDIR.');
}

function unfinished({ path, keptAs, because }: Extract<FileFailure, { kind: 'unfinished' }>): string {
  const what = 'it was replaced, but what another program wrote at that very moment could not be appended';
  return keptAs === null
    ? at(path, `${what}, and is lost.`, `The cause: ${fileFailure(because)}`)
    : at(
        path,
        `${what}; it is in ${safeText(keptAs)}, and the next run appends it.`,
        `The cause: ${fileFailure(because)}`,
      );
}

/** Why standard input could not be stored in its temp file. */
export function renderStdinFailure(failure: FileFailure): string {
  const reasons = { 'no-space': 'no space is left', denied: 'it may not be written', 'not-found': 'no such folder' };
  if (failure.kind !== 'no-space' && failure.kind !== 'denied' && failure.kind !== 'not-found')
    return fileFailure(failure);
  const what = `standard input cannot be stored there (${reasons[failure.kind]}).`;
  return at(failure.path, what, 'Name another folder with TMPDIR.');
}

/** Why a file matches none of the formats, one per line, for `-v`. */
export function renderNearFormats(failure: LookupFailure): readonly string[] {
  const near = 'near' in failure && failure.kind !== 'not-archived' ? (failure.near ?? []) : [];
  return near.map(({ format, reason }) => `  not ${safeText(format)}: ${safeText(reason)}`);
}
