import { hash } from 'node:crypto';
import type { CompactionDraft } from '../../../ports/archive.ts';
import type { ArchiveCheckStep, ArchiveDamageKind } from '../../../ports/archive-check.ts';
import { describeDamage } from '../failure.ts';
import { readHash, readInteger, readOptionalText, readText, type Row } from '../rows.ts';
import type { Sql } from '../sql/query.ts';

/** One thing that is wrong, and the compactions that it affects directly. */
export type Finding = {
  readonly kind: ArchiveDamageKind;
  readonly message: string;
  readonly compactionIds: readonly number[];
};

/** Where a check looks; `name` starts its messages. */
export type Place = { readonly name: string; readonly compactionIds: readonly number[] };

export function finding(kind: ArchiveDamageKind, { name, compactionIds }: Place, what: string): Finding {
  return { kind, message: `${name}: ${what}`, compactionIds };
}

/** Reads one thing. If it cannot be read, `value` is null and a finding says so. */
export async function tryRead<T>(
  place: Place,
  read: () => Promise<T>,
): Promise<{ readonly value: T | null; readonly findings: readonly Finding[] }> {
  try {
    return { value: await read(), findings: [] };
  } catch (error) {
    const damage = describeDamage(error);
    if (damage === null) throw error;
    return { value: null, findings: [finding('unreadable', place, damage)] };
  }
}

/** Checks one thing. If it cannot be read, that is a finding, and the check goes on. */
export async function* attempt<T = Finding>(
  place: Place,
  inspect: () => AsyncIterable<T> | Iterable<T>,
): AsyncGenerator<T | Finding> {
  try {
    yield* inspect();
  } catch (error) {
    const damage = describeDamage(error);
    if (damage === null) throw error;
    yield finding('unreadable', place, damage);
  }
}

/** What a check has counted so far. */
export type Totals = {
  compactions: number;
  batches: number;
  captured: number;
  lines: number;
  blocks: number;
  original: number;
  compressed: number;
};

export function createTotals(): Totals {
  return { compactions: 0, batches: 0, captured: 0, lines: 0, blocks: 0, original: 0, compressed: 0 };
}

/** `row`: counts of what was captured. */
export function addCaptured(totals: Totals, row: Row): void {
  totals.captured += readInteger(row, 'files');
  for (const name of ['blocks', 'lines', 'original', 'compressed'] as const) totals[name] += readInteger(row, name);
}

/** The last step. */
export function toCounted({ original, compressed, ...counts }: Totals, file: number): ArchiveCheckStep {
  return { kind: 'counted', counts: { ...counts, bytes: { original, compressed, file } } };
}

export function progress(stage: string, done: number, total: number): ArchiveCheckStep {
  return { kind: 'progress', stage, done, total };
}

/** A compaction's own files and those of later cycles: they show its batches and need it to restore the original. */
export const LIST_TOUCHED = `
WITH RECURSIVE touched (id) AS (
  SELECT id FROM cycles WHERE compaction_id = :id
  UNION SELECT c.id FROM touched JOIN cycles AS c ON c.parent_cycle_id = touched.id
)
SELECT source_path, output_path FROM compactions
WHERE id = :id OR id IN (SELECT c.compaction_id FROM touched JOIN cycles AS c ON c.id = touched.id) ORDER BY id`;

/** From a row of `LIST_TOUCHED`. */
export function toTouched(row: Row): readonly string[] {
  return [readText(row, 'source_path'), readOptionalText(row, 'output_path')].filter((path) => path !== null);
}

/** A compaction's own row, as far as the check needs it. */
export type Head = Pick<CompactionDraft, 'source' | 'output'> & {
  readonly id: number;
  readonly place: Place;
  readonly isPrepared: boolean;
  readonly isErased: boolean;
};

export function placeOf(compactionId: number): Place {
  return { name: `compaction ${compactionId}`, compactionIds: [compactionId] };
}

export function readHead(row: Row): Head {
  const id = readInteger(row, 'id');
  return {
    id,
    place: placeOf(id),
    isPrepared: readText(row, 'status') === 'prepared',
    isErased: readText(row, 'status') === 'erased',
    source: {
      sha256: readHash(row, 'source_sha256'),
      sizeBytes: readInteger(row, 'source_size_bytes'),
      lineCount: readInteger(row, 'source_line_count'),
      hasBom: readInteger(row, 'source_has_bom') === 1,
    },
    output: { sha256: readHash(row, 'output_sha256'), sizeBytes: readInteger(row, 'output_size_bytes') },
  };
}

export function* checkSettings(row: Row, { place }: Head): Generator<Finding> {
  if (hash('sha256', readText(row, 'settings')) !== readHash(row, 'settings_sha256'))
    yield finding('wrong-hash', place, 'its settings differ from their hash');
}

/** What a check reads: one state of the archive. */
export type CheckSource = Pick<Sql, 'query' | 'dialect'>;
