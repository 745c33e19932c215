/** What a compaction's key is the sha256 of: the same for the same original and settings only. */
export function originOf(sourceSha256: string, settingsSha256: string): string {
  return `${sourceSha256}\n${settingsSha256}`;
}

/** So much of the key stands in the last line of a clip-archive. */
export const SHOWN_KEY_DIGITS = 12;

const ARCHIVE_LINE = new RegExp(`^\\[Archive: ([0-9a-f]{${SHOWN_KEY_DIGITS}}) `, 'gm');

/** The key in the last line of a clip-archive, as far as it is shown; null: there is none. */
export function readShownKey(clipArchive: string): string | null {
  return [...clipArchive.matchAll(ARCHIVE_LINE)].at(-1)?.[1] ?? null;
}
