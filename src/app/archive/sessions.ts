import { sessionIdOf } from '../../core/paths.ts';
import type { Archive } from '../../ports/archive.ts';
import type { CapturedFile } from '../../ports/captures.ts';
import type { Codec, RawRecord } from '../../ports/codec.ts';
import type { SourceFile } from '../../ports/files.ts';
import type { CapturedPiece } from '../../ports/retention.ts';
import type { AppDeps } from '../contract/deps.ts';
import { stopIfInterrupted } from '../contract/failure.ts';
import { isBlank } from '../read/open-transcript.ts';
import { concat, LF, parseUntrimmed, readRecords } from '../read/records.ts';
import { lastStates } from './captured.ts';
import type { FoundLines } from './find-text.ts';

/** Whether a captured file belongs to a conversation: its records carry the id, or its name does. */
export function belongsTo({ path, sessions }: Pick<CapturedFile, 'path' | 'sessions'>, conversation: string): boolean {
  return sessionIdOf(path) === conversation.toLowerCase() || sessions.some((id) => isSame(id, conversation));
}

/** Whether a captured file has nothing of other conversations, as far as its records or its name say. */
export function isWhollyOf({ path, sessions }: CapturedFile, conversation: string): boolean {
  return sessionIdOf(path) === conversation.toLowerCase() || sessions.every((id) => isSame(id, conversation));
}

function isSame(id: string, other: string): boolean {
  return id.toLowerCase() === other.toLowerCase();
}

/** Adds the ids of the conversations that the records of a file carry, from an offset on. */
export async function addSessions(
  deps: Pick<AppDeps, 'formats' | 'runtime' | 'signal' | 'progress'>,
  { source, codec, from }: { source: SourceFile; codec: Codec; from: number },
  sessions: Set<string>,
): Promise<void> {
  const read = createReader(deps, codec);
  // Only lines can be read without what stands before them, and offsets of a compressed file are those of its content.
  const canContinue = codec.records === undefined && source.compression === 'none' && from > 0;
  let nextYield = from;
  for (const record of canContinue ? source.lines(from) : readRecords(source, codec)) {
    const { conversation } = read(record);
    if (conversation !== null) sessions.add(conversation);
    if (record.start < nextYield) continue;
    nextYield = record.start + YIELD_BYTES;
    await stopIfInterrupted(deps);
  }
}

const YIELD_BYTES = 8 * 1024 * 1024;

/**
 * The captured lines of a file whose records carry the id of a conversation. None, if the file also has messages of which nobody can tell whose
 * they are, or cannot be read line by line.
 */
export async function findLinesOf(
  { files, formats }: Pick<AppDeps, 'files' | 'formats'>,
  archive: Archive,
  { file, conversation }: { file: CapturedFile; conversation: string },
): Promise<FoundLines> {
  const unknown: FoundLines = { lineIds: new Set(), isComplete: false };
  const codec = await formats.load(file.format);
  if (codec === null || codec.records !== undefined || files.compressionOf(file.path) !== 'none') return unknown;
  const lineIds = new Set<number>();
  for (const state of await lastStates(archive, file)) {
    const read = createReader({ formats }, codec);
    for await (const { line, bytes, ids } of joinPieces(archive.retention.readPieces(state.id))) {
      const own = read({ line, bytes });
      if (own.conversation === null && own.isMessage) return unknown;
      if (own.conversation !== null && isSame(own.conversation, conversation)) for (const id of ids) lineIds.add(id);
    }
  }
  return { lineIds, isComplete: true };
}

type JoinedLine = { readonly line: number; readonly bytes: Uint8Array; readonly ids: readonly number[] };

/** The lines of a version, and the ids of their pieces: a piece may hold many lines, or a part of one. What was erased is left out. */
async function* joinPieces(pages: AsyncIterable<readonly CapturedPiece[]>): AsyncGenerator<JoinedLine> {
  let line = 1;
  let torn: { readonly id: number; readonly bytes: Uint8Array }[] = [];
  const join = (): JoinedLine => {
    const [first] = torn;
    const bytes = first !== undefined && torn.length === 1 ? first.bytes : concat(torn.map((part) => part.bytes));
    const joined = { line, bytes, ids: torn.map(({ id }) => id) };
    torn = [];
    line += 1;
    return joined;
  };
  for await (const page of pages)
    for (const { id, bytes } of page) {
      if (bytes === null) continue;
      let start = 0;
      for (let end = bytes.indexOf(LF) + 1; end > 0; end = bytes.indexOf(LF, start) + 1) {
        torn.push({ id, bytes: bytes.subarray(start, end) });
        yield join();
        start = end;
      }
      if (start < bytes.length) torn.push({ id, bytes: bytes.subarray(start) });
    }
  if (torn.length > 0) yield join();
}

type Reading = { readonly conversation: string | null; readonly isMessage: boolean };

/** Sessions of codecs take notes of every record, so a new one begins now and then. */
const MAX_NOTED = 10_000;

function createReader(
  { formats }: Pick<AppDeps, 'formats'>,
  codec: Codec,
): (record: Pick<RawRecord, 'line' | 'bytes' | 'around'>) => Reading {
  let session = codec.open();
  let noted = 0;
  return ({ line, bytes, around }) => {
    noted += 1;
    if (noted % MAX_NOTED === 0 && codec.records === undefined) session = codec.open();
    if (around !== undefined) {
      const opened = around === null ? {} : (session.openList?.(around, line) ?? {});
      return { conversation: 'problem' in opened ? null : nonEmpty(opened.conversation), isMessage: false };
    }
    const parsed = parseUntrimmed(formats, codec, bytes);
    if (!parsed.ok && isBlank(bytes)) return { conversation: null, isMessage: false };
    const decoded = parsed.ok ? session.observe(parsed.value, line) : null;
    if (decoded === null || 'problem' in decoded) return { conversation: null, isMessage: true };
    return { conversation: nonEmpty(decoded.conversation), isMessage: decoded.message !== undefined };
  };
}

function nonEmpty(id: string | undefined): string | null {
  return id === undefined || id === '' ? null : id;
}
