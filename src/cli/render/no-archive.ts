import { safeText } from './safe-text.ts';

/** Nothing was compacted yet, or the archive is elsewhere: an answer all the same. */
export function noArchive(path: string): string {
  return `${safeText(path)}: there is no archive yet, so there is nothing in it. Name another one with --archive.`;
}
