import type { Dialect } from '../sql/query.ts';
import type { Row } from '../rows.ts';

const FIND_LINES = `
SELECT id, block_id, "offset", size_bytes, sha256 FROM captured_lines
WHERE substr(sha256, 1, 8) = substr(:sha256, 1, 8) AND sha256 = :sha256 AND erasure_id IS NULL ORDER BY id DESC`;

/** CROSS JOIN fixes the order: from the searched rows to the rest, never the other way round. */
export const SQLITE: Dialect = {
  name: 'sqlite',
  isAmong: (column, name) => `${column} IN (SELECT value FROM json_each(:${name}))`,
  isAmongTexts: (text, name) => `${text} IN (SELECT value FROM json_each(:${name}))`,
  hex: (column) => `lower(hex(${column}))`,
  lineJoins: `
CROSS JOIN blocks AS k ON k.id = l.block_id CROSS JOIN compactions AS c ON c.id = k.compaction_id
LEFT JOIN batches AS o ON o.id = l.batch_id LEFT JOIN cycles AS y ON y.id = coalesce(l.cycle_id, o.cycle_id)`,
  batchJoins: `
CROSS JOIN cycles AS y ON y.id = b.cycle_id CROSS JOIN compactions AS c ON c.id = y.compaction_id`,
  onBlock: 'l.block_id = k.id AND l.id BETWEEN k.first_line_id AND k.last_line_id',
  onPack: 'p.id = k.pack_id',
  onCompaction: 'k.compaction_id = c.id',
  blockOfLine: 'JOIN blocks ON blocks.id = lines.block_id',
  words: { messages: { table: 'message_search', id: 'rowid' }, batches: { table: 'batch_search', id: 'rowid' } },
  wordBytes: `
SELECT coalesce(sum((SELECT sum(s.pgsize) FROM dbstat AS s WHERE s.name = t.name AND s.aggregate = 1)), 0) AS size
FROM sqlite_schema AS t WHERE t.name GLOB 'message_search_*' OR t.name GLOB 'batch_search_*'`,
  // A contentless index lists its rows in its docsize table.
  isMessageIndexed: 'EXISTS (SELECT 1 FROM message_search_docsize AS d WHERE d.id = l.id)',
  isBatchIndexed: 'EXISTS (SELECT 1 FROM batch_search_docsize AS d WHERE d.id = b.id)',
  storingLocks: [],
  lockPacks: (order) => order,
  partitionOfPack: 'SELECT 1 WHERE false',
  capturing: {
    begin: ['PRAGMA defer_foreign_keys = ON'],
    lastIds: `
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'captured_lines'), 0) AS line,
  coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'captured_blocks'), 0) AS block`,
    keepIds: null,
    findLines: async (query, hashes) => {
      const found: Row[] = [];
      for (const sha256 of new Set(hashes)) found.push(...(await query(FIND_LINES, { sha256 })));
      return found;
    },
  },
  thisMachine: () => null,
  usedBytes: `
SELECT (page_count - freelist_count) * page_size AS size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
};
