import type { Codec, Detection, Json } from '../../ports/codec.ts';
import type { FormatRegistry, FormatSearch } from '../../ports/formats.ts';
import { describeBytes, looksLikeDocument } from './foreign-bytes.ts';
import { nameForeign } from './foreign-formats.ts';
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

/** Below this a codec only names what it saw. */
const MIN_CONFIDENCE = 0.5;

/**
 * The format of a file that is one JSON value, from its first bytes. null: it is not, or it may as well be one line of JSON and no format
 * claims it.
 */
export function detectDocument(head: Uint8Array, isWhole: boolean): FormatSearch | null {
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString('utf8').trimStart();
  if (!text.startsWith('{') && !text.startsWith('[')) return null;
  const firstEnd = text.indexOf('\n');
  const isOneLine = firstEnd < 0 || (isWhole && text.slice(firstEnd).trim() === '');
  const mayBeLines = !isOneLine && !looksLikeDocument(text);
  if (mayBeLines && text.startsWith('{')) return null;
  const beginning = parseBeginning(text);
  // One line may be followed by others some day: it is a document only where no format of lines knows it.
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
  const isOther = mayBeLines || (isOneLine && text.startsWith('{'));
  return found.kind === 'unknown' && isOther ? null : found;
}

/** The format that is the surest of a file's first records; or what they look like, and what each format misses in them. */
export function detectFormat(sample: readonly Json[]): FormatSearch {
  const ofLines = FORMATS.filter(({ format }) => format.layout.kind !== 'document');
  return refuseForeign(sample, surest(ofLines.map((codec) => ({ codec, ...codec.detect(sample) }))));
}

/** A format that is known and that no codec reads is refused by its name, however much its records are like those of another. */
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

/** Below this a record is nothing that its own format knows. */
const MIN_OWN = 0.3;
/** From here on a single record is surely of a format. */
const MIN_CLAIM = 0.7;

/** The format of lines whose message or header a record is, if it is nothing that `own` knows; null: nobody's. */
function findClaimant(value: Json, own: Codec): string | null {
  const isOther = (codec: Codec): boolean => codec !== own && codec.format.layout.kind !== 'document';
  if (own.format.layout.kind === 'document' || own.detect([value]).confidence >= MIN_OWN) return null;
  const claimant = FORMATS.filter(isOther).find(
    (codec) => codec.detect([value]).confidence >= MIN_CLAIM && says(codec, value),
  );
  return claimant?.format.name ?? null;
}

function says({ records, open }: Codec, value: Json): boolean {
  if (records !== undefined) return true; // a list with messages in it
  const decoded = open().observe(value, 1);
  return 'kind' in decoded && ['message', 'instruction', 'header'].includes(decoded.kind);
}
