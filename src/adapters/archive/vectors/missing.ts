import type Database from 'better-sqlite3';
import type { MissingScope, MissingVector, VectorCount, VectorCursor } from '../../../ports/vector-store.ts';
import { hashColumn } from '../columns.ts';
import { readInteger, readText, type Row } from '../rows.ts';

// Of one source only its own rows are looked at, by the indexes that lead to them.
const ofSource = (isOne: boolean): string =>
  isOne ? "c.status = 'applied' AND c.source_sha256 = :source" : "c.status = 'applied'";
const messagesOf = (isOne: boolean): string => `
FROM compactions AS c JOIN blocks AS k ON k.compaction_id = c.id JOIN lines AS l ON l.block_id = k.id
WHERE l.role IS NOT NULL AND ${ofSource(isOne)} AND (:isRemade OR NOT EXISTS (SELECT 1 FROM message_vectors AS v WHERE v.line_id = l.id))`;
/** What was replaced in the cycle that made it was never shown, and is never found. */
const batchesOf = (isOne: boolean): string => `
FROM compactions AS c JOIN cycles AS y ON y.compaction_id = c.id JOIN batches AS b ON b.cycle_id = y.id
WHERE ${ofSource(isOne)} AND EXISTS (SELECT 1 FROM live_batches AS f WHERE f.batch_id = b.id)
AND (:isRemade OR NOT EXISTS (SELECT 1 FROM batch_vectors AS v WHERE v.batch_id = b.id))`;

const listMessages = (isOne: boolean): string =>
  `SELECT l.id, l.line, c.format ${messagesOf(isOne)} AND l.id > :after ORDER BY l.id LIMIT :limit`;
const listBatches = (isOne: boolean): string =>
  `SELECT b.id, b.content ${batchesOf(isOne)} AND b.id > :after ORDER BY b.id LIMIT :limit`;
const countMissing = (isOne: boolean): string =>
  `SELECT (SELECT count(*) ${messagesOf(isOne)}) + (SELECT count(*) ${batchesOf(isOne)})`;

type Scope = { readonly source?: Uint8Array; readonly isRemade: number };

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
    ...(sourceSha256 === null ? {} : { source: hashColumn(sourceSha256) }),
    isRemade: isRemade ? 1 : 0,
  });
  const countOf = (scope: MissingScope): number =>
    db
      .prepare<[Scope], number>(countMissing(scope.sourceSha256 !== null))
      .pluck()
      .get(toScope(scope)) ?? 0;
  return {
    count: () => {
      const total = countOf({ sourceSha256: null, isRemade: true });
      return { done: total - countOf({ sourceSha256: null, isRemade: false }), total };
    },
    countMissing: countOf,
    list: (scope, { after, limit }) => {
      const isOne = scope.sourceSha256 !== null;
      const values = { ...toScope(scope), limit };
      const messages = db
        .prepare<[object], Row>(listMessages(isOne))
        .all({ ...values, after: after.lineId })
        .map((row): MissingVector => ({
          kind: 'message',
          lineId: readInteger(row, 'id'),
          line: readInteger(row, 'line'),
          format: readText(row, 'format'),
        }));
      const left = { ...values, limit: limit - messages.length, after: after.batchId };
      const batches = left.limit < 1 ? [] : db.prepare<[object], Row>(listBatches(isOne)).all(left);
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
