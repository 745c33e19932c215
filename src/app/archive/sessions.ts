import { sessionIdOf } from '../../core/session-id.ts';
import type { Archive } from '../../ports/archive.ts';
import type { CapturedFile } from '../../ports/captures.ts';
import type { Codec } from '../../ports/codec.ts';
import type { SourceFile } from '../../ports/files.ts';
import type { RawRecord } from '../../ports/records.ts';
import { type AppDeps, isInterrupted } from '../contract/deps.ts';
import { isBlank } from '../read/open-transcript.ts';
import { parseUntrimmed, readRecords } from '../read/records.ts';
import { lastStates } from './captured.ts';
import { joinBytes } from './match-captured.ts';

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

/** Adds the ids of the conversations that the records of a file carry, from an offset on. False: the work was interrupted. */
export async function addSessions(
  deps: Pick<AppDeps, 'formats' | 'runtime' | 'signal' | 'progress'>,
  { source, codec, from }: { readonly source: SourceFile; readonly codec: Codec; readonly from: number },
  sessions: Set<string>,
): Promise<boolean> {
  const read = createReader(deps, codec);
  // Only lines can be read without what stands before them, and offsets of a compressed file are those of its content.
  const canContinue = codec.records === undefined && source.compression === 'none' && from > 0;
  let nextYield = from;
  for (const record of canContinue ? source.lines(from) : readRecords(source, codec)) {
    const { conversation } = read(record);
    if (conversation !== null) sessions.add(conversation);
    if (record.start < nextYield) continue;
    nextYield = record.start + YIELD_BYTES;
    if (await isInterrupted(deps)) return false;
  }
  return true;
}

const YIELD_BYTES = 8 * 1024 * 1024;

/**
 * The captured lines of a file whose records carry the id of a conversation. Null: the file also has messages of which nobody can tell whose
 * they are, or cannot be read line by line.
 */
export async function findLinesOf(
  { files, formats }: Pick<AppDeps, 'files' | 'formats'>,
  archive: Archive,
  { file, conversation }: { readonly file: CapturedFile; readonly conversation: string },
): Promise<ReadonlySet<number> | null> {
  const codec = formats.find(file.format);
  if (codec === null || codec.records !== undefined || files.compressionOf(file.path) !== 'none') return null;
  const found = new Set<number>();
  for (const state of await lastStates(archive, file)) {
    const read = createReader({ formats }, codec);
    let line = 0;
    let torn: { readonly ids: number[]; readonly parts: Uint8Array[] } = { ids: [], parts: [] };
    const end = (): boolean => {
      line += 1;
      const own = read({ line, bytes: joinBytes(torn.parts) });
      if (own.conversation !== null && isSame(own.conversation, conversation)) for (const id of torn.ids) found.add(id);
      torn = { ids: [], parts: [] };
      return own.conversation !== null || !own.isMessage;
    };
    for await (const pieces of archive.retention.readPieces(state.id))
      for (const { id, bytes } of pieces) {
        if (bytes === null) continue;
        torn.ids.push(id);
        torn.parts.push(bytes);
        if (bytes.at(-1) === LF && !end()) return null;
      }
    if (torn.ids.length > 0 && !end()) return null;
  }
  return found;
}

const LF = 0x0a;

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
