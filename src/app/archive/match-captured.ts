import type { Archive } from '../../ports/archive.ts';
import type { CapturedState } from '../../ports/captures.ts';
import { type AppDeps, isInterrupted } from '../contract/deps.ts';
import { lastStates } from './captured.ts';
import type { ByteRange, TextFinder } from './text-finder.ts';

export type CapturedMatches = {
  /** The captured pieces that the text is in, alone or with their neighbors. Of a compressed version all pieces, since none can be read alone. */
  readonly lineIds: readonly number[];
  /** The files that have them. */
  readonly paths: readonly string[];
  /** The number of files that could not be decompressed to their end. */
  readonly unsearched: number;
};

type MatchDeps = Pick<AppDeps, 'files' | 'runtime' | 'signal' | 'progress'>;

/** Searches every version of every captured file for a text, in bounded memory. Null: the work was interrupted. */
export async function matchCaptured(
  deps: MatchDeps,
  archive: Archive,
  finder: TextFinder,
): Promise<CapturedMatches | null> {
  const lineIds = new Set<number>();
  const files = await archive.captures.list();
  const paths: string[] = [];
  let unsearched = 0;
  for (const [at, file] of files.entries()) {
    deps.progress.update('searching captured files', at, files.length);
    let isSearched = true;
    const found = new Set<number>();
    for (const state of await lastStates(archive, file)) {
      const version = await matchVersion(deps, { archive, state, finder, lineIds: found });
      if (version === 'interrupted') return null;
      if (version === 'unreadable') isSearched = false;
    }
    if (!isSearched) unsearched += 1;
    if (found.size > 0) paths.push(file.path);
    for (const id of found) lineIds.add(id);
  }
  return { lineIds: [...lineIds], paths, unsearched };
}

type VersionSearch = {
  readonly archive: Archive;
  readonly state: CapturedState;
  readonly finder: TextFinder;
  /** Receives the ids of the pieces. */
  readonly lineIds: Set<number>;
};

async function matchVersion(
  deps: MatchDeps,
  { archive, state, finder, lineIds }: VersionSearch,
): Promise<'searched' | 'unreadable' | 'interrupted'> {
  const head: Uint8Array[] = [];
  let hasGap = false;
  const stored = createWindow(finder, (id) => lineIds.add(id));
  for await (const pieces of archive.retention.readPieces(state.id)) {
    if (await isInterrupted(deps)) return 'interrupted';
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
  const content = deps.files.unpack(joinBytes(head), readContent(archive, state));
  if (content === null) return 'searched';
  let isReadable = !hasGap;
  let isFound = false;
  const unpacked = createWindow(finder, () => (isFound = true));
  for await (const part of content) {
    if (deps.signal.aborted) return 'interrupted';
    if ('problem' in part) isReadable = false;
    else unpacked.add(state.id, part.bytes);
    if (isFound) break;
  }
  unpacked.end();
  if (!isFound) return isReadable ? 'searched' : 'unreadable';
  for await (const pieces of archive.retention.readPieces(state.id))
    for (const { id, bytes } of pieces) if (bytes !== null) lineIds.add(id);
  return 'searched';
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
    const found = finder.find(joinBytes(parts.map(({ bytes }) => bytes))).filter(({ end }) => end > knownBytes);
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

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
