import type { Archive } from '../../ports/archive.ts';
import type { CapturedFile, CapturedState } from '../../ports/captures.ts';
import type { AppDeps } from '../contract/deps.ts';
import { stop, stopIfInterrupted } from '../contract/failure.ts';
import { concat } from '../read/records.ts';
import { lastStates } from './captured.ts';

/** The captured pieces of a file that something is in. */
export type FoundLines = {
  readonly lineIds: ReadonlySet<number>;
  /** False: not all of the file could be searched. */
  readonly isComplete: boolean;
};

type MatchDeps = Pick<AppDeps, 'files' | 'runtime' | 'signal'>;

type Search = { readonly archive: Archive; readonly finder: TextFinder };

/**
 * Searches every version of a captured file for a text, in bounded memory. It may be in a piece alone or with its neighbors. Of a compressed
 * version all pieces are found, since none can be read alone.
 */
export async function matchCaptured(
  deps: MatchDeps,
  { archive, file, finder }: Search & { file: CapturedFile },
): Promise<FoundLines> {
  const lineIds = new Set<number>();
  let isComplete = true;
  for (const state of await lastStates(archive, file))
    if (!(await matchVersion(deps, { archive, state, finder, lineIds }))) isComplete = false;
  return { lineIds, isComplete };
}

/** `lineIds` receives the ids of the pieces. False: not all of the version could be searched, and what could does not have the text. */
async function matchVersion(
  deps: MatchDeps,
  { archive, state, finder, lineIds }: Search & { state: CapturedState; lineIds: Set<number> },
): Promise<boolean> {
  const head: Uint8Array[] = [];
  let hasGap = false;
  const stored = createWindow(finder, (id) => lineIds.add(id));
  for await (const pieces of archive.retention.readPieces(state.id)) {
    await stopIfInterrupted(deps);
    for (const { id, bytes } of pieces) {
      if (head.length < HEAD_PIECES) head.push((bytes ?? new Uint8Array()).slice(0, HEAD_BYTES));
      if (bytes !== null) stored.add(id, bytes);
      else {
        stored.end();
        hasGap = true;
      }
    }
  }
  stored.end();
  const content = deps.files.unpack(concat(head), readContent(archive, state));
  if (content === null) return true;
  let isReadable = !hasGap;
  let isFound = false;
  const unpacked = createWindow(finder, () => (isFound = true));
  for await (const part of content) {
    if (deps.signal.aborted) stop({ kind: 'interrupted' });
    if ('problem' in part) isReadable = false;
    else unpacked.add(state.id, part.bytes);
    if (isFound) break;
  }
  unpacked.end();
  if (!isFound) return isReadable;
  for await (const pieces of archive.retention.readPieces(state.id))
    for (const { id, bytes } of pieces) if (bytes !== null) lineIds.add(id);
  return true;
}

/** A file of a few bytes may have grown by a few bytes at a time. */
const HEAD_PIECES = 4;
/** Enough to detect a compression. */
const HEAD_BYTES = 48;

/** The bytes of a version until its first erased piece. */
async function* readContent(archive: Archive, state: CapturedState): AsyncGenerator<Uint8Array> {
  for await (const pieces of archive.retention.readPieces(state.id)) {
    for (const { bytes } of pieces) {
      if (bytes === null) return;
      yield bytes;
    }
  }
}

/** A piece, or a part of one, and where it is in the window. */
type Part = { readonly id: number; readonly bytes: Uint8Array } & ByteRange;

type Window = {
  readonly add: (id: number, bytes: Uint8Array) => void;
  /** What is added next does not continue what was added before. */
  readonly end: () => void;
};

const WINDOW_BYTES = 1024 * 1024;

/** Finds the pieces of a text that a text is in. Keeps as many bytes as it takes to find it across the end of a window. */
function createWindow(finder: TextFinder, onMatch: (id: number) => void): Window {
  const windowBytes = Math.max(WINDOW_BYTES, 2 * finder.maxBytes);
  let parts: Part[] = [];
  let sizeBytes = 0;
  /** Of these at the beginning, all matches are known. */
  let knownBytes = 0;
  const search = (): void => {
    const found = finder.find(concat(parts.map(({ bytes }) => bytes))).filter(({ end }) => end > knownBytes);
    let first = 0;
    for (const { start, end } of found.toSorted((a, b) => a.start - b.start)) {
      while ((parts[first]?.end ?? Infinity) <= start) first += 1;
      let at = first;
      for (let part = parts[at]; part !== undefined && part.start < end; part = parts[at]) {
        onMatch(part.id);
        at += 1;
      }
    }
  };
  const push = (id: number, bytes: Uint8Array): void => {
    parts.push({ id, bytes, start: sizeBytes, end: sizeBytes + bytes.length });
    sizeBytes += bytes.length;
  };
  const slide = (): void => {
    const from = sizeBytes - finder.maxBytes;
    const kept = parts.filter((part) => part.end > from);
    parts = [];
    sizeBytes = 0;
    for (const { id, bytes, start } of kept) push(id, bytes.subarray(Math.max(0, from - start)));
    knownBytes = sizeBytes;
  };
  const end = (): void => {
    if (sizeBytes > knownBytes) search();
    parts = [];
    sizeBytes = 0;
    knownBytes = 0;
  };
  const add: Window['add'] = (id, bytes) => {
    for (let at = 0; at < bytes.length; at += windowBytes) {
      push(id, bytes.subarray(at, at + windowBytes));
      if (sizeBytes < windowBytes) continue;
      search();
      slide();
    }
  };
  return { add, end };
}

export type TextFinder = {
  /** Whether bytes have the text: as it is, or escaped in JSON, also in JSON that is itself a string of JSON. */
  readonly isIn: (bytes: Uint8Array) => boolean;
  readonly isInText: (text: string) => boolean;
  /** Where the text is: offsets of its first byte and behind its last one. */
  readonly find: (bytes: Uint8Array) => readonly ByteRange[];
  /** The most bytes that the text can take when it is escaped. */
  readonly maxBytes: number;
};

type ByteRange = { readonly start: number; readonly end: number };

/** Arguments of tools are JSON in a string, and their results may hold JSON again. */
const MAX_ESCAPES = 3;
/** `\uXXXX`, for each UTF-16 unit and in each string of JSON. */
const ESCAPED_BYTES = 6;

/** Bytes are compared as strings that have a character for each byte, so offsets are those of the bytes. */
export function createTextFinder(text: string): TextFinder {
  const wanted = toByteString(new TextEncoder().encode(text));
  const isIn = (bytes: Uint8Array): boolean => {
    let left = toByteString(bytes);
    for (let depth = 0; depth <= MAX_ESCAPES; depth += 1) {
      if (left.includes(wanted)) return true;
      if (!left.includes('\\')) return false;
      left = left.replaceAll(ESCAPES, unescapeOne);
    }
    return false;
  };
  const find = (bytes: Uint8Array): readonly ByteRange[] => {
    if (!isIn(bytes)) return [];
    const found: ByteRange[] = [];
    let left: Unescaped = { text: toByteString(bytes), offsetOf: (at) => at };
    for (let depth = 0; depth <= MAX_ESCAPES; depth += 1) {
      for (let at = left.text.indexOf(wanted); at >= 0; at = left.text.indexOf(wanted, at + 1))
        found.push({ start: left.offsetOf(at), end: left.offsetOf(at + wanted.length) });
      if (!left.text.includes('\\')) break;
      left = unescapeAll(left);
    }
    return found;
  };
  return {
    isIn,
    isInText: (whole) => isIn(new TextEncoder().encode(whole)),
    find,
    maxBytes: Math.max(wanted.length, text.length * ESCAPED_BYTES ** MAX_ESCAPES),
  };
}

const ESCAPES = /\\(?:u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})|u([\da-f]{4})|(["\\/bfnrt]))/gi;
const NAMED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescapeOne(_: string, ...[high, low, hex, named]: readonly (string | undefined)[]): string {
  const units = [high, low, hex].flatMap((digits) => (digits === undefined ? [] : Number.parseInt(digits, 16)));
  if (units.length > 0) return toByteString(new TextEncoder().encode(String.fromCharCode(...units)));
  return NAMED[named ?? ''] ?? named ?? '';
}

/** `offsetOf`: where a character of the text was in the bytes. */
type Unescaped = { readonly text: string; readonly offsetOf: (at: number) => number };

function unescapeAll({ text, offsetOf }: Unescaped): Unescaped {
  const offsets: number[] = [];
  const parts: string[] = [];
  let end = 0;
  const keepUntil = (next: number): void => {
    parts.push(text.slice(end, next));
    for (let at = end; at < next; at += 1) offsets.push(offsetOf(at));
  };
  for (const match of text.matchAll(ESCAPES)) {
    keepUntil(match.index);
    const one = unescapeOne(match[0], ...match.slice(1));
    parts.push(one);
    for (let at = 0; at < one.length; at += 1) offsets.push(offsetOf(match.index));
    end = match.index + match[0].length;
  }
  keepUntil(text.length);
  offsets.push(offsetOf(text.length));
  return { text: parts.join(''), offsetOf: (at) => offsets[at] ?? 0 };
}

function toByteString(bytes: Uint8Array): string {
  return new TextDecoder('latin1').decode(bytes);
}
