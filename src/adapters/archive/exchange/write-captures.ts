import { isDeepStrictEqual } from 'node:util';
import type { CapturedPiece, MergedVersion, UnitReader, UnitStore } from '../../../ports/exchange.ts';
import { CHANGES, hashColumn } from '../rows.ts';
import type { Query, Dialect } from '../sql/query.ts';
import { openLines } from '../store/captured-lines.ts';
import { INSERT_FILE, INSERT_RUN, INSERT_STATE, INSERT_VERSION, UPDATE_FILE } from '../store/captures.ts';
import { findErasure, idOf, type UnitEngine } from './write-units.ts';

const FIND_FILE = 'SELECT id FROM captured_files WHERE path = :path';
const SET_ASIDE = 'UPDATE captured_versions SET version = -version WHERE file_id = :id';
const DELETE_ASIDE = 'DELETE FROM captured_versions WHERE file_id = :id AND version < 0';

/** Replaces what is known of a captured file, in one transaction. Its old versions are read for the new ones, so they go last. */
export function createCaptureWriter(
  engine: UnitEngine,
  readerOf: (query: Query) => Pick<UnitReader, 'findCapture'>,
): UnitStore['storeCapture'] {
  return ({ path, format, stamp, readAtMs, sessions }, { known: expected, versions }) =>
    engine.transaction(async (query) => {
      if (!isDeepStrictEqual(await readerOf(query).findCapture(path), expected)) return false;
      const [known] = await query(FIND_FILE, { path });
      const fileId = known === undefined ? idOf(await query(INSERT_FILE, { path, format })) : idOf([known]);
      const lines = await openPieces(query, engine.dialect);
      const stored: { readonly version: MergedVersion; readonly runs: readonly Run[] }[] = [];
      for (const version of versions) stored.push({ version, runs: await storePieces(lines, version) });
      await lines.end();
      await query(UPDATE_FILE, { fileId, format, stamp, at: readAtMs, sessions: JSON.stringify(sessions) });
      await query(SET_ASIDE, { id: fileId });
      for (const [at, { version, runs }] of stored.entries())
        await insertVersion(query, version, { fileId, number: at + 1, runs });
      await query(DELETE_ASIDE, { id: fileId });
      return true;
    });
}

type Run = { readonly first: number; count: number };

async function storePieces(lines: PieceWriter, { pieces }: MergedVersion): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for await (const batch of pieces())
    for (const id of await lines.add(batch)) {
      const last = runs.at(-1);
      if (last !== undefined && last.first + last.count === id) last.count += 1;
      else runs.push({ first: id, count: 1 });
    }
  return runs;
}

async function insertVersion(
  query: Query,
  { states }: MergedVersion,
  { fileId, number, runs }: { readonly fileId: number; readonly number: number; readonly runs: readonly Run[] },
): Promise<void> {
  const change = CHANGES.indexOf(states[0]?.change ?? 'new');
  const versionId = idOf(await query(INSERT_VERSION, { fileId, version: number, change }));
  for (const [position, { first, count }] of runs.entries())
    await query(INSERT_RUN, { versionId, position, first, count });
  for (const { sizeBytes, sha256, capturedAtMs } of states)
    await query(INSERT_STATE, { versionId, sizeBytes, sha256: hashColumn(sha256), at: capturedAtMs });
}

/** Stores lines of captured files, each once. */
type PieceWriter = {
  /** The ids of lines, in order. */
  readonly add: (pieces: readonly CapturedPiece[]) => Promise<readonly number[]>;
  readonly end: () => Promise<void>;
};

async function openPieces(query: Query, dialect: Dialect): Promise<PieceWriter> {
  for (const statement of dialect.capturing.begin) await query(statement);
  const lines = await openLines(query, dialect);
  return {
    add: async (pieces) => {
      const ids: number[] = [];
      for (const { bytes, sha256, sizeBytes, receipt } of pieces) {
        if (receipt === null) ids.push(...(await lines.add([bytes ?? new Uint8Array()])));
        else {
          const erasureId = await findErasure(query, receipt);
          ids.push(await lines.addErased({ sha256: hashColumn(sha256), size: sizeBytes, erasureId }));
        }
      }
      return ids;
    },
    end: async () => void (await lines.end()),
  };
}
