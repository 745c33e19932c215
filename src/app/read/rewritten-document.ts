import { countOf } from '../../core/tokens.ts';
import type { Entry } from '../../core/transcript.ts';
import type { StoredCompaction } from '../../ports/archive.ts';
import type { Codec, Json } from '../../ports/codec.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { AppDeps } from '../contract/deps.ts';
import { clipTextOf } from './lineage.ts';
import { halfOfSha256, trimRecord } from './records.ts';

/**
 * How a kept record is recognized. A program writes a document anew as a whole, with other white space and keys in another order, so an
 * element of one is known by its value; any other record by its bytes.
 */
export function hashKept(runtime: Pick<Runtime, 'sha256'>, codec: Codec, bytes: Uint8Array): string {
  for (const hash of hashForms(runtime, codec, bytes)) return hash;
  return halfOfSha256(runtime, bytes);
}

/** The hash of a record, then those that it may have had before its program went on in it. */
function* hashForms(runtime: Pick<Runtime, 'sha256'>, codec: Codec, bytes: Uint8Array): Generator<string> {
  const { records, format, formsOf } = codec;
  if (format.layout.kind !== 'document' || records === undefined) return;
  const trimmed = records.trim(bytes);
  if (!keepsNumbers(new TextDecoder().decode(trimmed))) return;
  const parsed = records.parse(trimmed);
  if (!parsed.ok) return;
  for (const form of formsOf?.(parsed.value) ?? [parsed.value]) {
    const canonical = canonicalText(form);
    if (canonical === null) return;
    yield halfOfSha256(runtime, `element\n${canonical}`);
  }
}

const NUMBER = /-?\d[\d.eE+-]*/g;
/** A double keeps so many digits. */
const SAFE_DIGITS = 15;

/** Whether every number is the same after a program has read and written it. */
function keepsNumbers(text: string): boolean {
  return numbersIn(text).every((number) => {
    const value = Number(number);
    if (String(value) === number) return true;
    const [digits = ''] = number.split(/[eE]/);
    return Number.isFinite(value) && digits.replaceAll(/\D/g, '').length <= SAFE_DIGITS;
  });
}

/** The numbers of a JSON text. A string may hold megabytes, which no regular expression with alternatives can pass over. */
function* numbersIn(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const quote = text.indexOf('"', at);
    const end = quote < 0 ? text.length : quote;
    yield* text.slice(at, end).match(NUMBER) ?? [];
    let close = end;
    do close = text.indexOf('"', close + 1);
    while (close >= 0 && isEscaped(text, close));
    at = quote < 0 || close < 0 ? text.length : close + 1;
  }
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text[before] === '\\') before -= 1;
  return (at - before) % 2 === 0;
}

/** The value as JSON with sorted keys; null: it is nested too deeply. */
function canonicalText(value: Json): string | null {
  try {
    return JSON.stringify(value, (_, inner: Json) =>
      isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
    );
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A compacted document that its program has written anew since. */
export type Rewrite = {
  /** The file's records, in order: the text before the elements, the elements, the text after them. */
  readonly records: readonly Uint8Array[];
  /** The number of the original's record by the position of the record here that is it. */
  readonly keptAt: ReadonlyMap<number, number>;
  /** The positions of our own records. */
  readonly ownAt: ReadonlySet<number>;
  /** Elements that the program added at the end. */
  readonly appended: number;
  /** What the program changed of that which was kept, one sentence each. */
  readonly losses: readonly string[];
  /** Where the program went on in a message that was kept, one sentence each. */
  readonly continued: readonly string[];
};

/** A compaction that left a document, with the codec and the records of that. */
type Written = {
  readonly compaction: StoredCompaction;
  readonly codec: Codec;
  readonly entries: readonly Entry[];
};

type Expected = {
  readonly line: number | null;
  readonly isSame: (at: number) => boolean;
  readonly hash: string | null;
};

/**
 * Recognizes what a compaction left in a document, by the contents of its elements. null: the file is not a document with one list, or it
 * has nothing of what was kept.
 */
export async function findRewrite(
  deps: Pick<AppDeps, 'formats' | 'runtime'>,
  { compaction, codec, entries, lines }: Written & { lines: AsyncIterable<Iterable<Uint8Array>> },
): Promise<Rewrite | null> {
  const { source, format } = compaction;
  if (format !== codec.format.name || codec.format.layout.kind !== 'document' || !hasOneList(entries)) return null;
  const records: Uint8Array[] = [];
  for await (const batch of lines) for (const bytes of batch) records.push(Uint8Array.from(bytes));
  const last = records.length - 1;
  const hashes = records.map((bytes) => hashKept(deps.runtime, codec, bytes));
  const expected = expectedRecords(deps, { compaction, codec, entries, records, hashes });
  const found = matchInOrder(expected, hashes);
  const continued: string[] = [];
  const keptAt = new Map([[0, 1]]);
  const ownAt = new Set<number>();
  for (const [at, { line, hash }] of found.matches) {
    if (line === null) ownAt.add(at);
    else keptAt.set(at, line);
    if (line !== null && hash !== hashes[at])
      continued.push(`message ${line - 1} of the original goes on in message ${at} of the file`);
  }
  if (keptAt.size === 1 || ownAt.size === 0) return null;
  keptAt.set(last, source.lineCount);
  const lastKept = Math.max(...keptAt.keys().filter((at) => at < last), ...ownAt);
  const added = records.flatMap((_, at) => (at > 0 && at < lastKept && !keptAt.has(at) && !ownAt.has(at) ? [at] : []));
  const losses = [
    ...found.lost.map(describeLoss),
    ...added.filter((at) => !found.lost.some((one) => one.at === at)).map(describeAdded),
  ];
  const replaced = found.lost.filter(({ at }) => at !== null && at > lastKept).length;
  return { records, keptAt, ownAt, appended: last - 1 - lastKept - replaced, losses, continued };
}

/** The first record is the text before the elements, the last one that after them. */
function hasOneList(entries: readonly Entry[]): boolean {
  const around = entries.flatMap(({ kind, list }, at) => (kind === 'header' && list !== undefined ? [at] : []));
  return around.length === 2 && around[0] === 0 && around[1] === entries.length - 1;
}

/** The elements that a compaction wrote, in order. */
function expectedRecords(
  deps: Pick<AppDeps, 'formats' | 'runtime'>,
  { compaction, codec, entries, records, hashes }: Written & Pick<Rewrite, 'records'> & { hashes: readonly string[] },
): readonly Expected[] {
  const valueOf = (bytes: Uint8Array): Json | undefined => {
    const parsed = codec.records?.parse(trimRecord(codec, bytes));
    return parsed?.ok === true ? parsed.value : undefined;
  };
  const own = compaction.inserted.map(({ beforeLine, bytes }) => {
    const value = valueOf(bytes);
    const text = clipTextOf(deps, codec, value);
    const isSame = (at: number): boolean =>
      (text !== null && entries[at]?.clip?.textSha256 === text) || contains(valueOf(records[at] ?? bytes), value);
    return { place: beforeLine - 0.5, one: { line: null, isSame, hash: null } satisfies Expected };
  });
  const keptHashes = new Set(compaction.kept.flatMap(({ lineSha256 }) => lineSha256));
  const isContinued = (place: number, hash: string): boolean =>
    !keptHashes.has(hashes[place] ?? hash) &&
    hashForms(deps.runtime, codec, records[place] ?? new Uint8Array()).some((form) => form === hash);
  const kept = compaction.kept.flatMap(({ firstLine, lineSha256 }) =>
    lineSha256.map((hash, at) => {
      const line = firstLine + at;
      const isSame = (place: number): boolean => hashes[place] === hash || isContinued(place, hash);
      return { place: line, one: { line, isSame, hash } satisfies Expected };
    }),
  );
  const elements = kept.filter(({ place }) => place > 1 && place < compaction.source.lineCount);
  return [...own, ...elements].sort((a, b) => a.place - b.place).map(({ one }) => one);
}

/** Whether a value has everything that another one has; a program may add fields to what we wrote. */
function contains(whole: Json | undefined, part: Json | undefined): boolean {
  if (whole === undefined || part === undefined) return false;
  if (Array.isArray(part))
    return Array.isArray(whole) && whole.length === part.length && part.every((one, at) => contains(whole[at], one));
  if (isObject(part)) return isObject(whole) && Object.entries(part).every(([key, one]) => contains(whole[key], one));
  return whole === part;
}

type Loss = {
  /** The number of the element in the original; null: it is our own. */
  readonly line: number | null;
  /** The position of the element that stands in its place; null: none. */
  readonly at: number | null;
};

/** Finds the elements in order. One that occurs twice is only taken where it is expected next. */
function matchInOrder(
  expected: readonly Expected[],
  hashes: readonly string[],
): { readonly matches: ReadonlyMap<number, Expected>; readonly lost: readonly Loss[] } {
  const matches = new Map<number, Expected>();
  const end = hashes.length - 1;
  const placesOf = new Map<string, number>();
  for (const hash of hashes) placesOf.set(hash, (placesOf.get(hash) ?? 0) + 1);
  const findFrom = (one: Expected, from: number): number => {
    if (from < end && one.isSame(from)) return from;
    if (one.hash !== null && placesOf.get(one.hash) !== 1) return -1;
    for (let at = from + 1; at < end; at += 1) if (one.isSame(at)) return at;
    return -1;
  };
  const lost: Loss[] = [];
  let missing: Expected[] = [];
  let next = 1;
  const nameMissing = (until: number): void => {
    for (const [index, { line }] of missing.entries())
      lost.push({ line, at: next + index < until ? next + index : null });
    missing = [];
  };
  for (const one of expected) {
    const at = findFrom(one, next + (findFrom(one, next) < 0 ? missing.length : 0));
    if (at < 0) {
      missing.push(one);
      continue;
    }
    nameMissing(at);
    matches.set(at, one);
    next = at + 1;
  }
  nameMissing(end);
  return { matches, lost };
}

/** The text before the elements is the first record, so an element's number is one less than its record's. */
function describeLoss({ line, at }: Loss): string {
  const what = line === null ? 'a message of the summary' : `message ${line - 1} of the original`;
  if (at === null) return `${what} is no longer in the file: its program removed it`;
  return `${what} was changed or removed by its program since the compaction: message ${at} of the file stands in its place`;
}

function describeAdded(at: number): string {
  return `message ${at} of the file was added by its program among those that were kept`;
}

/** For people: what a restore from such documents gives. */
export function describeRewrites(rewrites: readonly Rewrite[]): string {
  const appended = rewrites.reduce((sum, one) => sum + one.appended, 0);
  const added = appended === 0 ? '' : `, with ${countOf(appended, 'message')} that it added`;
  const continued = rewrites.flatMap((one) => one.continued).map((one) => `; ${one}`);
  return `its program has written the file anew since the compaction: what it wrote is kept in its form${added}${continued.join('')}.`;
}
