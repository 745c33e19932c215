/** The UTF-8 byte order mark: read, warned of, never written but by a restore. */
export const UTF8_BOM = Uint8Array.of(0xef, 0xbb, 0xbf);
