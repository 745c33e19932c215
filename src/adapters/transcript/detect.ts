import type { Codec, Detection, Json } from '../../ports/codec.ts';
import type { FormatRegistry, FormatSearch } from '../../ports/formats.ts';
import { describeBytes, looksLikeDocument, nameForeign } from './foreign.ts';
import { parseJsonLine } from './json-lines.ts';
import { parseBeginning } from './json-list/detect.ts';
import { findCodec, FORMATS } from './registry.ts';

export const formatRegistry: FormatRegistry = {
  list: () => FORMATS.map(({ format }) => format),
  find: findCodec,
  detect: detectFormat,
  detectDocument,
  findClaimant,
  describeBytes,
  parseLine: parseJsonLine,
};

/** Formats of JSON Lines. */
const OF_LINES = FORMATS.filter(
  ({ format, detectText }) => format.layout.kind !== 'document' && detectText === undefined,
);

/** Formats whose records may be pretty-printed one after another. */
const PRINTED = OF_LINES.filter(({ records }) => records?.spansLines === true);

/** A codec that is less sure only says what it saw. */
const MIN_CONFIDENCE = 0.5;

/**
 * The format of a file that is one JSON value or other text, from its first bytes. null: the file is not one value, or it could be
 * one line of JSON and no document format claims it.
 */
export function detectDocument(head: Uint8Array, isWhole: boolean): FormatSearch | null {
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('utf8').trimStart();
  const ofText = FORMATS.find((codec) => codec.detectText?.(text));
  if (ofText !== undefined) return { kind: 'found', codec: ofText };
  if (!text.startsWith('{') && !text.startsWith('[')) return null;
  const firstEnd = text.indexOf('\n');
  const isOneLine = firstEnd < 0 || (isWhole && text.slice(firstEnd).trim() === '');
  const mayBeLines = !isOneLine && !looksLikeDocument(text);
  if (mayBeLines && text.startsWith('{')) return null;
  const beginning = parseBeginning(text);
  // A file with one line may get more lines later: it is a document only if no format of lines knows it.
  if (isOneLine && detectFormat([beginning]).kind === 'found') return null;
  const found = refuseForeign(
    [beginning],
    surest(
      FORMATS.flatMap((codec) =>
        codec.format.layout.kind === 'document' ? [{ codec, ...codec.detect([beginning]) }] : [],
      ),
    ),
  );
  if (found.kind === 'unknown' && found.looksLike !== null) return found;
  if (found.kind === 'unknown' && !isOneLine) {
    const printed = surest(
      PRINTED.map((codec) => ({ codec, ...codec.detect(samplePrinted(head, codec) ?? [beginning]) })),
    );
    if (printed.kind === 'found') return printed;
  }
  const isOther = mayBeLines || (isOneLine && text.startsWith('{'));
  return found.kind === 'unknown' && isOther ? null : found;
}

/** The complete records in the first bytes of a file; null: there is none. */
function samplePrinted(head: Uint8Array, { records }: Codec): readonly Json[] | null {
  const found = Array.from(records?.open(0).add(head) ?? []).flatMap(({ bytes }) => {
    const parsed = parseJsonLine(bytes);
    return parsed.ok ? [parsed.value] : [];
  });
  return found.length === 0 ? null : found;
}

/** The format that is most sure of the first records; or what they look like, and why each format is not theirs. */
export function detectFormat(sample: readonly Json[]): FormatSearch {
  return refuseForeign(sample, surest(OF_LINES.map((codec) => ({ codec, ...codec.detect(sample) }))));
}

/** A known format without a codec is refused by name, however much its records look like those of another. */
function refuseForeign(sample: readonly Json[], found: Search): FormatSearch {
  const looksLike = nameForeign(sample);
  if (found.kind === 'found' && looksLike === null) return found;
  return { kind: 'unknown', looksLike, near: found.near };
}

type NearFormats = Extract<FormatSearch, { kind: 'unknown' }>['near'];
type Search = ({ readonly kind: 'found'; readonly codec: Codec } | { readonly kind: 'unknown' }) & {
  readonly near: NearFormats;
};

function surest(verdicts: readonly (Detection & { readonly codec: Codec })[]): Search {
  const highest = verdicts.reduce((most, { confidence }) => Math.max(most, confidence), 0);
  const best = verdicts.find(({ confidence }) => confidence === highest);
  const near = verdicts.map(({ codec, reason }) => ({ format: codec.format.name, reason }));
  return best !== undefined && highest >= MIN_CONFIDENCE
    ? { kind: 'found', codec: best.codec, near }
    : { kind: 'unknown', near };
}

/** With less than this, a record is unknown to the format of its file. */
const MIN_OWN = 0.3;
/** With at least this, a single record surely has the format. */
const MIN_CLAIM = 0.7;

/** The other format of lines whose message or header this record is, if `own` does not know it; null: none. */
function findClaimant(value: Json, own: Codec): string | null {
  if (own.format.layout.kind === 'document' || own.detect([value]).confidence >= MIN_OWN) return null;
  const claimant = OF_LINES.find(
    (codec) => codec !== own && codec.detect([value]).confidence >= MIN_CLAIM && says(codec, value),
  );
  return claimant?.format.name ?? null;
}

function says({ records, open }: Codec, value: Json): boolean {
  if (records !== undefined) return true; // a list with messages in it
  const decoded = open().observe(value, 1);
  return 'kind' in decoded && ['message', 'instruction', 'header'].includes(decoded.kind);
}
