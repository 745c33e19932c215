import { cutMiddle } from '../../../core/chunk.ts';
import type { Archive } from '../../../ports/archive.ts';
import type { FormatRegistry } from '../../../ports/formats.ts';
import type { Redactor } from '../../../ports/redactor.ts';
import type { MissingScope, MissingVector, VectorCursor } from '../../../ports/vector-store.ts';
import { redactTexts } from '../../summarize/redacting-model.ts';
import { createTextReader } from '../text-reader.ts';
import { MAX_TEXT_CHARS } from './embed-texts.ts';

/** What has no vector, with what is to be sent of it: nothing where that is empty. */
export type MissingText = { readonly of: MissingVector; readonly text: string };

/** A request of this many texts, or of this much text, a small machine answers within its time. */
const MAX_TEXTS = 64;
const MAX_REQUEST_CHARS = 100_000;

/** A request's worth of what is missing, from a place on. */
export function readMissingTexts(
  {
    archive,
    formats,
    redactor,
  }: { readonly archive: Archive; readonly formats: FormatRegistry; readonly redactor: Redactor | null },
  scope: MissingScope,
  after: VectorCursor,
): readonly MissingText[] {
  const missing = archive.vectors.listMissing(scope, { after, limit: MAX_TEXTS });
  const reader = createTextReader(archive, formats);
  reader.load(missing.flatMap((one) => (one.kind === 'message' ? [one] : [])));
  const said = missing.map((one) => (one.kind === 'message' ? reader.textOf(one) : one.content));
  const masked = redactor === null ? said : redactTexts(said, redactor);
  const texts = masked.map(sendable);
  let chars = 0;
  const isRoom = (text: string): boolean => {
    chars += text.length;
    return chars <= MAX_REQUEST_CHARS;
  };
  const firstLeft = texts.findIndex((text) => !isRoom(text));
  return missing
    .slice(0, firstLeft < 0 ? undefined : Math.max(1, firstLeft))
    .map((of, at) => ({ of, text: texts[at] ?? '' }));
}

/** Not too long, and without what no JSON, or no tokenizer, takes. */
export function sendable(text: string): string {
  return cutMiddle(text.replaceAll('\0', ' ').trim(), MAX_TEXT_CHARS).toWellFormed();
}
