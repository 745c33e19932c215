/** What a compaction's key is the sha256 of: the same for the same original and settings only. */
export function originOf(sourceSha256: string, settingsSha256: string): string {
  return `${sourceSha256}\n${settingsSha256}`;
}

/** So much of the key stands in the last line of a clip-archive. */
export const SHOWN_KEY_DIGITS = 12;
