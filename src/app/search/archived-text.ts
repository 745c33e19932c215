import type { FormatRegistry } from '../../ports/formats.ts';
import { parseRecord, trimRecord } from '../read/records.ts';

/**
 * What a message says, from the bytes of its line: as its format reads it, else the `content` of a record that is nobody's format, else the
 * line itself (cut off, or of a format that this version does not know).
 */
export function readArchivedText(
  formats: FormatRegistry,
  stored: { readonly format: string; readonly line: number; readonly bytes: Uint8Array },
): string {
  const codec = formats.find(stored.format);
  const bytes = trimRecord(codec ?? {}, stored.bytes);
  const parsed = parseRecord(formats, codec ?? {}, bytes);
  if (!parsed.ok) return new TextDecoder().decode(bytes);
  const { value } = parsed;
  const decoded = codec?.open().decode(value, stored.line);
  if (decoded !== undefined && !('problem' in decoded) && decoded.message !== undefined) return decoded.message.content;
  const content = typeof value === 'object' && value !== null && 'content' in value ? value.content : null;
  return typeof content === 'string' ? content : new TextDecoder().decode(bytes);
}
