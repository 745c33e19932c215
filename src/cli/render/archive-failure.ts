import { describeErasure } from '../../core/erasure.ts';
import { assertNever } from '../../core/result.ts';
import type { ArchiveFailure } from '../../ports/archive.ts';
import { formatBytes } from './quantities.ts';
import { safeText } from './text.ts';

/** Where, what, and what to try, of an archive that cannot be used. */
export function renderArchiveFailure(failure: ArchiveFailure): string {
  const other = 'Name another archive with --archive.';
  switch (failure.kind) {
    case 'cannot-open':
      return at(
        failure.path,
        `the archive cannot be opened: ${safeText(failure.reason)}.`,
        safeText(failure.advice ?? other),
      );
    case 'not-ours':
      return at(failure.path, `not an archive of compact: ${safeText(failure.reason)}.`, other);
    case 'unsupported':
      return at(failure.path, `${safeText(failure.reason)}.`, safeText(failure.advice));
    case 'newer':
      return at(
        failure.path,
        `an archive of version ${failure.version}, but this program supports ${failure.supported}.`,
        'Update compact.',
      );
    case 'damaged':
      return at(failure.path, `the archive is damaged: ${safeText(failure.reason)}.`, 'Replace it with a backup.');
    case 'erased':
      return at(
        failure.path,
        `what you asked for was ${describeErasure(failure)}.`,
        `'compact archive erase --list' shows the receipts.`,
      );
    case 'bad-export':
      return at(
        `${failure.path}${failure.line === null ? '' : `:${failure.line}`}`,
        `${safeText(failure.reason)}.`,
        failure.advice,
      );
    case 'busy':
      return at(failure.path, 'another program is using the archive.', 'Try again when it is done.');
    case 'no-space':
      return failure.needs === undefined
        ? at(failure.path, 'no space is left for the archive.', 'Make room, or name another place with --archive.')
        : at(
            failure.path,
            `nothing was removed, because then the archive is rewritten, which needs ${formatBytes(failure.needs.neededBytes)} of free space in ${safeText(failure.needs.folder)}, and ${formatBytes(failure.needs.freeBytes)} are free.`,
            'Make room there, or let SQLITE_TMPDIR name a folder on another disk.',
          );
    default:
      return assertNever(failure);
  }
}

export function at(place: string, what: string, advice: string): string {
  return `${safeText(place)}: ${what}${advice === '' ? '' : ` ${advice}`}`;
}
