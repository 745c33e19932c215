import { assertNever } from '../../core/result.ts';
import { findRemedy } from '../../core/system-error.ts';
import type { FileFailure } from '../../ports/files.ts';
import { at } from './archive-failure.ts';
import { formatBytes } from './quantities.ts';
import { safeText } from './text.ts';

export function renderFileFailure(failure: FileFailure): string {
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
    case 'io': {
      const remedy = findRemedy(failure.code);
      if (remedy !== null) return at(failure.path, `${remedy.reason} (${failure.code}).`, remedy.advice);
      return at(failure.path, `the system cannot read or write it (${safeText(failure.code)}).`, 'Check the disk.');
    }
    case 'too-large':
      return at(
        failure.path,
        `it is larger than ${formatBytes(failure.limitBytes)}, the limit.`,
        'Name a smaller one.',
      );
    case 'line-too-long': {
      const limit = `${Math.floor(failure.maxLineBytes / 1024 / 1024)} MiB`;
      const { unit = 'line' } = failure;
      return at(
        failure.path,
        `${unit} ${failure.line} is longer than ${limit}.`,
        `Such a ${unit} is damage. Remove it.`,
      );
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
    case 'not-flushed':
      return notFlushed(failure);
    default:
      return assertNever(failure);
  }
}

function damaged({ path, compression, problem }: Extract<FileFailure, { kind: 'damaged' }>): string {
  if (problem === 'arranged-otherwise')
    return at(
      path,
      'this zip file is cut off, or was not written by Inspect.',
      "Get a complete copy, or rewrite it with 'inspect log convert'.",
    );
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
  const what = 'another program wrote to it while it was being replaced, and what it wrote could not be brought back';
  return at(
    path,
    `${what}: it is in ${safeText(keptAs)}. The next command for this file brings it back.`,
    `The cause: ${renderFileFailure(because)}`,
  );
}

function notFlushed({ path, because }: Extract<FileFailure, { kind: 'not-flushed' }>): string {
  const what =
    'it was replaced and the archive has its original, but the system could not confirm that it is safe on disk.';
  return at(
    path,
    what,
    `Nothing is left to do unless the machine crashes now. The cause: ${renderFileFailure(because)}`,
  );
}
