import type { EngineCheck } from '../check/check.ts';
import { finding, nowhere, placeOf } from '../check/finding.ts';
import { readInteger, readOptionalInteger } from '../rows.ts';
import { POSTGRES } from './dialect.ts';

/** How many rows of the search index refer to something wrong, by the compaction that they belong to. */
const STRAYS: readonly (readonly [what: string, sql: string])[] = [
  [
    'missing messages',
    'SELECT NULL AS owner, count(*) AS count FROM message_words AS t WHERE NOT EXISTS (SELECT 1 FROM lines WHERE id = t.line_id AND month = t.month AND role IS NOT NULL) HAVING count(*) > 0',
  ],
  [
    'other words than the messages have',
    `
SELECT coalesce(a.id, b.id) AS owner, abs(coalesce(a.count, 0) - coalesce(b.count, 0)) AS count
FROM (SELECT k.compaction_id AS id, sum(length(w.words)) AS count FROM message_words AS w
  JOIN lines AS l ON l.id = w.line_id AND l.month = w.month JOIN blocks AS k ON k.id = l.block_id AND k.month = l.month GROUP BY 1) AS a
FULL JOIN (SELECT compaction_id AS id, sum(length(lines)) / 2 AS count FROM word_lines GROUP BY 1) AS b ON b.id = a.id
WHERE coalesce(a.count, 0) <> coalesce(b.count, 0) ORDER BY 1 LIMIT 20`,
  ],
];

/** Pages and indexes are the server's to check. */
export const POSTGRES_CHECK: EngineCheck = {
  structure: async function* structure() {},
  derived: async function* derived({ query }) {
    for (const [what, sql] of STRAYS) {
      for (const row of await query(sql)) {
        const id = readOptionalInteger(row, 'owner');
        const count = readInteger(row, 'count');
        const place = id === null ? nowhere('the search index of messages') : placeOf(id);
        yield finding('search', place, `${count} of its rows ${count === 1 ? 'refers' : 'refer'} to ${what}`);
      }
      yield null;
    }
  },
  lastIds: ['SELECT coalesce(max(id), 0) AS id FROM compactions'],
  fileBytes: POSTGRES.usedBytes,
};
