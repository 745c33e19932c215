import type Database from 'better-sqlite3';
import type { MissingScope, MissingVector, VectorCount, VectorCursor } from '../../../ports/vector-store.ts';
import { hashColumn } from '../columns.ts';
import { readInteger, readText } from '../rows.ts';
import type { Row } from '../rows.ts';

const OF_SOURCE = "c.status = 'applied' AND (:source IS NULL OR c.source_sha256 = :source)";
const MESSAGES = `
FROM lines AS l JOIN blocks AS k ON k.id = l.block_id JOIN compactions AS c ON c.id = k.compaction_id
WHERE l.role IS NOT NULL AND ${OF_SOURCE} AND (:isRemade OR NOT EXISTS (SELECT 1 FROM message_vectors AS v WHERE v.line_id = l.id))`;
/** What was replaced in the cycle that made it was never shown, and is never found. */
const BATCHES = `
FROM batches AS b JOIN cycles AS y ON y.id = b.cycle_id JOIN compactions AS c ON c.id = y.compaction_id
WHERE ${OF_SOURCE} AND EXISTS (SELECT 1 FROM live_batches AS f WHERE f.batch_id = b.id)
AND (:isRemade OR NOT EXISTS (SELECT 1 FROM batch_vectors AS v WHERE v.batch_id = b.id))`;

const LIST_MESSAGES = `SELECT l.id, l.line, c.format ${MESSAGES} AND l.id > :after ORDER BY l.id LIMIT :limit`;
const LIST_BATCHES = `SELECT b.id, b.content ${BATCHES} AND b.id > :after ORDER BY b.id LIMIT :limit`;
const COUNT_MISSING = `SELECT (SELECT count(*) ${MESSAGES}) + (SELECT count(*) ${BATCHES})`;

type Scope = { readonly source: Uint8Array | null; readonly isRemade: number };

export type MissingVectors = {
  readonly count: () => VectorCount;
  readonly countMissing: (scope: MissingScope) => number;
  readonly list: (
    scope: MissingScope,
    page: { readonly after: VectorCursor; readonly limit: number },
  ) => readonly MissingVector[];
};

/** What has no vector, of applied compactions. */
export function createMissingVectors(db: Database.Database): MissingVectors {
  const toScope = ({ sourceSha256, isRemade }: MissingScope): Scope => ({
    source: sourceSha256 === null ? null : hashColumn(sourceSha256),
    isRemade: isRemade ? 1 : 0,
  });
  const countOf = (scope: MissingScope): number =>
    db.prepare<[Scope], number>(COUNT_MISSING).pluck().get(toScope(scope)) ?? 0;
  return {
    count: () => {
      const total = countOf({ sourceSha256: null, isRemade: true });
      return { done: total - countOf({ sourceSha256: null, isRemade: false }), total };
    },
    countMissing: countOf,
    list: (scope, { after, limit }) => {
      const values = { ...toScope(scope), limit };
      const messages = db
        .prepare<[object], Row>(LIST_MESSAGES)
        .all({ ...values, after: after.lineId })
        .map((row): MissingVector => ({
          kind: 'message',
          lineId: readInteger(row, 'id'),
          line: readInteger(row, 'line'),
          format: readText(row, 'format'),
        }));
      const left = { ...values, limit: limit - messages.length, after: after.batchId };
      const batches = left.limit < 1 ? [] : db.prepare<[object], Row>(LIST_BATCHES).all(left);
      return [
        ...messages,
        ...batches.map((row): MissingVector => ({
          kind: 'batch',
          batchId: readInteger(row, 'id'),
          content: readText(row, 'content'),
        })),
      ];
    },
  };
}
