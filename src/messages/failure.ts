import type { Failure, LookupFailure } from '../app/contract/failure.ts';
import type { FailedReport, FailureKind } from '../app/contract/reports.ts';
import { describeErasure, findRemedy } from '../core/result.ts';
import type { ArchiveFailure } from '../ports/archive.ts';
import type { FileFailure } from '../ports/files.ts';
import { isFullDisk } from '../system/files.ts';
import { countOf, describeSpending, formatBytes, formatCost, formatCount } from './quantities.ts';
import { listSome, safeText, shellWord } from './text.ts';

/** The advice may be empty. `where`: if it is not the file or the archive that the failure names. */
type Sentence = readonly [what: string, whatToTry: string, where?: string];

/** How each kind of failure is told. Whatever a failure carries is made safe when the sentence is written. */
type Sentences<F extends { readonly kind: string }> = {
  readonly [One in F as One['kind']]: (failure: One) => Sentence;
};

/** Where, what, and what to try, in one line. `file` is what the user calls the transcript. */
export function renderFailure(failure: LookupFailure): string {
  const line = write(tell<LookupFailure>(FAILURES, failure));
  if (failure.kind !== 'ambiguous') return line;
  const candidates = failure.candidates.map(({ name, about }) => `\n  ${safeText(name)}  (${safeText(about)})`);
  return `${line}${candidates.join('')}${failure.hasMore ? '\n  …' : ''}`;
}

function write([what, whatToTry, where]: Sentence): string {
  return safeText(`${where}: ${what}${whatToTry === '' ? '' : ` ${whatToTry}`}`);
}

type Told = { readonly kind: string; readonly file?: string; readonly path?: string };

function tell<F extends Told>(sentences: Sentences<F>, failure: F): Sentence {
  const { kind, file, path = file }: Told = failure;
  // The table has a sentence for each kind.
  const describe = sentences[kind as F['kind']] as (one: F) => Sentence;
  const [what, whatToTry, where = path] = describe(failure);
  return [what, whatToTry, where];
}

const NAME_ARCHIVE = 'Name another archive with --archive.';

const ARCHIVES: Sentences<ArchiveFailure> = {
  'cannot-open': ({ reason, advice = NAME_ARCHIVE }) => [`the archive cannot be opened: ${reason}.`, advice],
  'not-ours': ({ reason }) => [`not an archive of compact: ${reason}.`, NAME_ARCHIVE],
  unsupported: ({ reason, advice }) => [`${reason}.`, advice],
  newer: ({ version, supported }) => [
    `an archive of version ${version}, but this program supports ${supported}.`,
    'Update compact.',
  ],
  damaged: ({ reason }) => [`the archive is damaged: ${reason}.`, 'Replace it with a backup.'],
  erased: (mark) => [
    `what you asked for was ${describeErasure(mark)}.`,
    `'compact archive erase --list' shows the receipts.`,
  ],
  'bad-export': ({ path, line, reason, advice }) => [`${reason}.`, advice, atLine(path, line)],
  busy: () => ['another program is using the archive.', 'Try again when it is done.'],
  'no-space': ({ needs }) =>
    needs === undefined
      ? ['no space is left for the archive.', 'Make room, or name another place with --archive.']
      : [
          `nothing was removed, because then the archive is rewritten, which needs ${formatBytes(needs.neededBytes)} of free space in ${needs.folder}, and ${formatBytes(needs.freeBytes)} are free.`,
          'Make room there, or let SQLITE_TMPDIR name a folder on another disk.',
        ],
};

const FILES: Sentences<FileFailure> = {
  'not-found': () => ['no such file or folder.', 'Check the path.'],
  'not-a-file': ({ is }) => [`not a file: it is ${is}.`, 'Name a file.'],
  denied: ({ what, reason }) =>
    reason === 'owner'
      ? [
          'it is not yours, and its owner could not write to the new file.',
          'Run compact as its owner, or give another place with -o.',
        ]
      : [`no permission to ${what} it.`, 'Check the permissions of the file and its folder.'],
  'no-space': () => ['no space is left there.', 'Make room, or give another place with -o.'],
  'foreign-leftover': ({ is }) => [
    `compact puts files of this name beside a transcript, but did not create this one: ${is}.`,
    'Look at it, and remove it.',
  ],
  held: () => ['another run of compact is working on it.', 'Try again when that one is done.'],
  io: ({ code }) => {
    const remedy = findRemedy(code);
    return remedy === null
      ? [`the system cannot read or write it (${code}).`, 'Check the disk.']
      : [`${remedy.reason} (${code}).`, remedy.advice];
  },
  'too-large': ({ limitBytes }) => [`it is larger than ${formatBytes(limitBytes)}, the limit.`, 'Name a smaller one.'],
  'line-too-long': ({ unit = 'line', line, maxLineBytes }) => [
    `${unit} ${line} is longer than ${Math.floor(maxLineBytes / 1024 / 1024)} MiB.`,
    `Such a ${unit} is damage. Remove it.`,
  ],
  damaged: ({ compression, problem }) =>
    compression === 'eval' && problem !== 'arranged-otherwise'
      ? ['a part of this zip file is damaged.', 'Get another copy.']
      : DAMAGES[problem](compression),
  'no-room': ({ folder, code }) => {
    const reason = isFullDisk(code) ? 'no space is left' : `the system says ${code}`;
    return [`its content cannot be stored in ${folder} while it is read (${reason}).`, NAME_TEMP_FOLDER];
  },
  'unpacks-too-large': ({ limitBytes }) => [
    `unpacking stopped after ${formatBytes(limitBytes)}: the result is far larger than expected for its size.`,
    'If you expect that, give --max-unpacked SIZE.',
  ],
  'member-too-large': ({ limitBytes }) => [
    `a file in this zip has more than ${formatBytes(limitBytes)} packed, too much to read.`,
    "Convert the log to JSON with 'inspect log convert'.",
  ],
  unfinished: ({ keptAs, because }) => [
    `another program wrote to it while it was being replaced, and what it wrote could not be brought back: it is in ${keptAs}. The next command for this file brings it back.`,
    `The cause: ${write(tell<FileFailure>(FILES, because))}`,
  ],
  'not-flushed': ({ because }) => [
    'it was replaced and the archive has its original, but the system could not confirm that it is safe on disk.',
    `Nothing is left to do unless the machine crashes now. The cause: ${write(tell<FileFailure>(FILES, because))}`,
  ],
};

const NAME_TEMP_FOLDER = 'Name another folder with TMPDIR.';

const DAMAGES: Readonly<
  Record<Extract<FileFailure, { readonly kind: 'damaged' }>['problem'], (tool: string) => Sentence>
> = {
  'arranged-otherwise': () => [
    'this zip file is cut off, or was not written by Inspect.',
    "Get a complete copy, or rewrite it with 'inspect log convert'.",
  ],
  'cut-off': (tool) => [`${tool} data that ends too early.`, 'Get a complete copy.'],
  broken: (tool) => [`${tool} data that is damaged.`, `'${tool} -t' says more; get another copy.`],
  trailing: (tool) => [`something other than ${tool} data follows its end, and would be lost.`, 'Remove that first.'],
  'too-wide': (tool) => [`${tool} data that takes too much memory to unpack.`, 'Unpack it first: zstd -d --long=31.'],
};

const CAPTURED_ADVICE = "'compact capture --list' shows what there is.";
const TRANSCRIPT_ADVICE = 'Name a transcript that holds a conversation.';

const FAILURES: Sentences<LookupFailure> = {
  file: ({ failure }) => tell<FileFailure>(FILES, failure),
  archive: ({ failure, replaced }) =>
    replaced === undefined
      ? tell<ArchiveFailure>(ARCHIVES, failure)
      : [
          'it was replaced, and then its archive failed, so it may not be possible to restore it.',
          `Keep the archive ${failure.path}, and run 'compact verify' for the file. The cause: ${'reason' in failure ? failure.reason : failure.kind}.`,
          replaced,
        ],
  'bad-line': ({ file, line, column, problem, canCarry }) => [
    `${problem}.`,
    canCarry ? 'Use --keep-invalid to carry such lines along.' : 'Fix or remove that line.',
    `${file}:${line}:${column}`,
  ],
  'not-a-transcript': ({ looksLike, advice }) => [`not a transcript: it looks like ${looksLike}.`, advice],
  'unknown-format': (failure) => [
    `${describeUnknown(failure)}.`,
    failure.looksLike === null
      ? "Give --format NAME if you know it ('compact --formats' lists them); -v says why it was not recognized."
      : "'compact --formats' lists what it reads.",
  ],
  'mixed-formats': ({ file, line, other, format }) => [
    `a message in ${other} format in a ${format} file.`,
    `Split the file at such lines, or keep them unread with --format ${format}.`,
    `${file}:${line}`,
  ],
  'several-conversations': ({ count }) => [
    `${count} conversations, and this takes one.`,
    'Name a file that is one session.',
  ],
  'no-messages': ({ contains }) => [`no messages, only ${contains}.`, TRANSCRIPT_ADVICE],
  'read-only-format': ({ title, reason }) => [
    `an ${title} is not compacted: ${reason}.`,
    'Use compact capture and compact search instead.',
  ],
  'too-recent': () => ['its last message is too recent.', 'Leave out --older-than to compact it anyway.'],
  'no-text': (failure) => [`${describeNoText(failure)}.`, TRANSCRIPT_ADVICE],
  'no-message': ({ file, name, problem }) => [
    `${name} ${problem}.`,
    `'compact score -v ${shellWord(file)}' lists the ids in it${/^\d+$/.test(name) ? `, and line:${name} is the one in line ${name}` : ''}; 'compact show ${shellWord(name)}' reads a message that a compaction removed.`,
  ],
  'output-exists': ({ file, output }) => [
    'already exists and is not replaced, because its content would be lost.',
    `Move it away, or give another output for ${file} with -o.`,
    output,
  ],
  'zip-on-stdout': () => ['the result is a zip file, which is not printed.', 'Use -i, or name a file with -o.'],
  'source-changed': () => ['keeps changing while it is read.', 'Try again when its writer is done.'],
  'in-use': ({ user }) =>
    user === 'unknown'
      ? [
          'so many files are open on this machine that the search for a program that has this one open was stopped.',
          'Make sure that no program has it open, and try again when the machine is less busy.',
        ]
      : [
          `${user.name} (process ${user.processId}) has it open for writing, and would go on writing to the replaced file.`,
          'End that program first, or give another output with -o.',
        ],
  'not-compacted': () => ['not compacted.', 'Name a compacted file, or compact it first.'],
  'cannot-undo': (failure) => ['left alone:', LEFT_ALONE[failure.why](failure)],
  'not-in-archive': ({ archive, isNone, canUndoLast }) =>
    canUndoLast === true
      ? [
          `the archive ${archive} does not have its first compaction.`,
          "'compact restore' without --all undoes the last one; for earlier ones, name their archive with --archive. If somebody pasted that summary, --all --partial goes back to where it was pasted.",
        ]
      : [
          `its compaction ${isNone === true ? 'cannot be found: there is no' : 'is not in the'} archive ${archive}.`,
          'Name the archive that was used with --archive.',
        ],
  rewritten: ({ key, canUndoLast }) => [
    'its producer rewrote it after a compaction, so the first original cannot be restored byte for byte.',
    `${canUndoLast ? "'compact restore' without --all restores the state before the last compaction. " : ''}'compact show ${key} --messages' prints the lines that left it.`,
  ],
  altered: ({ file, line, problem }) => [
    `changed since it was written: ${problem}.`,
    "'compact verify' says what is still intact.",
    atLine(file, line),
  ],
  overwritten: ({ at, looksLike }) => [
    `compact wrote a transcript here on ${at.slice(0, 10)}, and now it looks like ${looksLike}.`,
    "If you have a copy of it, put it back; 'compact search' still finds what left it.",
  ],
  erased: (mark) => [
    `archived lines of it were ${describeErasure(mark)}.`,
    "'compact restore --partial' restores the rest.",
  ],
  'no-summary': ({ problem, advice }) => [`no summary: ${problem}. The file is unchanged.`, advice],
  'cost-limit': ({ limit, spent, next }) => [
    `the run ends here: ${formatCost(spent)} is spent, and the next call could cost ${formatCost(next)}. The file is unchanged, and what was paid for is stored.`,
    'The same command with a higher --max-cost goes on from there.',
    `--max-cost ${formatCost(limit)}`,
  ],
  'no-batch-api': ({ provider, problem }) => [`${problem}.`, 'See docs/models.md.', provider],
  'not-archived': ({ name, near, archive }) => [
    `not in the archive ${archive}.`,
    near.length === 0
      ? "'compact search' gives the labels and ids of what is in it."
      : `The nearest labels: ${near.join(', ')}.`,
    name,
  ],
  'not-captured': () => [
    'no such file was captured, or what was captured of it was removed.',
    `${CAPTURED_ADVICE} 'compact archive log' tells of what was pruned or erased.`,
  ],
  'no-version': () => ['it has no such version.', CAPTURED_ADVICE],
  uncaptured: ({ isDamaged }) => [
    `its current content was ${isDamaged ? 'captured, but that capture is damaged' : 'not captured'}, so it is not replaced.`,
    "Capture it first, with 'compact capture --reread'.",
  ],
  ambiguous: ({ name }) => ['the name is ambiguous.', 'Give one of these:', name],
  // The kept share is rounded down, so that it never looks like the wanted one.
  'low-retention': ({ kept, total, wanted, lost }) => [
    `the summaries keep ${formatCount(kept)} of ${countOf(total, 'fact')} (${Math.floor((100 * kept) / total)} %), and ${Number((100 * wanted).toFixed(2))} % are required; lost: ${listSome(lost, { count: total - kept, columns: Number.POSITIVE_INFINITY })}. The file is unchanged.`,
    'Try longer summaries (--max-summary-tokens), smaller chunks (--chunk-size), another model, or a lower --min-retention.',
  ],
  'worker-died': ({ reason }) => [`the worker that processed it crashed (${reason}).`, 'Run it again with -j 1.'],
  interrupted: () => ['the current transcript is unchanged.', '', 'interrupted'],
};

type CannotUndo = Extract<Failure, { readonly kind: 'cannot-undo' }>;

const IF_MOVED = "If it was moved, 'compact restore -i' restores it where it is now.";

const LEFT_ALONE: { readonly [why in CannotUndo['why']]: (failure: CannotUndo) => string } = {
  'no-folder': () => `its folder does not exist. If it is on an unmounted disk, mount the disk. ${IF_MOVED}`,
  gone: ({ file, original }) =>
    file === original
      ? `it was moved or deleted since. ${IF_MOVED}`
      : `it and its original, ${original}, were moved or deleted. If they are on an unmounted disk, mount the disk.`,
  edited: ({ problem }) =>
    `it was edited since${problem === undefined ? '' : ` (${problem})`}. 'compact verify' says what is still intact; 'compact search' finds the lines that left it.`,
  'compacted-again': () => "a later run compacted it again. Undo that run first: 'compact undo --list' shows the runs.",
  'other-output': () => 'it is no longer what was written there. Remove it yourself if you do not need it.',
  'only-copy': ({ file, original }) =>
    `its original is gone or was changed, so this may be the only copy. 'compact restore ${shellWord(file)} -o ${shellWord(original)}' brings the original back.`,
};

function atLine(path: string, line: number | null): string {
  return line === null ? path : `${path}:${line}`;
}

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

const STDIN_REASONS: { readonly [kind in FileFailure['kind']]?: string } = {
  'no-space': 'no space is left',
  denied: 'it may not be written',
  'not-found': 'no such folder',
};

/** Why standard input could not be stored in its temp file. */
export function renderStdinFailure(failure: FileFailure): string {
  const reason = STDIN_REASONS[failure.kind];
  if (reason === undefined) return write(tell<FileFailure>(FILES, failure));
  return write([`standard input cannot be stored there (${reason}).`, NAME_TEMP_FOLDER, failure.path]);
}

/** Why a file matches none of the formats, one per line, for `-v`. */
export function renderNearFormats(failure: LookupFailure): readonly string[] {
  const near = 'near' in failure && failure.kind !== 'not-archived' ? (failure.near ?? []) : [];
  return near.map(({ format, reason }) => `  not ${safeText(format)}: ${safeText(reason)}`);
}

/** Why a file was not done. A bug concerns this file only; `message` is for people. */
export type NotDone =
  | Exclude<Failure, { readonly kind: 'interrupted' }>
  | { readonly kind: 'bug'; readonly message: string };

/** A failure as `--json` reports it; `file` is the user's name for the transcript. */
export function toFailedReport(file: string, failure: NotDone): FailedReport {
  if (failure.kind === 'bug') return failedReport(file, failure);
  const usage = 'usage' in failure ? failure.usage : undefined;
  const isPaid = usage !== undefined && usage.inputTokens + usage.outputTokens > 0;
  // On the same line, because it belongs to the failure.
  const spent = isPaid ? describeSpending({ ...usage, reused: 0, retries: 0, waitedMs: 0 }).join(', ') : '';
  const message = renderFailure(failure) + (isPaid ? ` It took ${spent}.` : '');
  const report = failedReport(file, { kind: kindOf(failure), message });
  return usage === undefined ? report : { ...report, usage };
}

export function failedReport(file: string, error: FailedReport['error']): FailedReport {
  return { schema: 'compact/report@1', file, result: 'failed', error };
}

/** A sentence that names the file, even if something else failed (the archive, the output). */
export function renderFailed({ file, error: { message } }: FailedReport): string {
  const name = safeText(file);
  return message.startsWith(name) ? message : `${name}: ${message}`;
}

function kindOf(failure: Exclude<NotDone, { readonly kind: 'bug' }>): FailureKind {
  if (failure.kind === 'file') return failure.failure.kind;
  return failure.kind === 'archive' ? `archive-${failure.failure.kind}` : failure.kind;
}
