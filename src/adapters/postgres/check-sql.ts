import type { ArchiveDamageKind } from '../../ports/archive-check.ts';
import { OUTCOMES } from '../archive/rows.ts';

type Stray = {
  readonly name: string;
  readonly kind: ArchiveDamageKind;
  readonly what: string;
  /** Gives how many rows refer to what is missing, by the compaction that they belong to. */
  readonly sql: string;
};

/** The references that Postgres does not enforce: those from and to partitioned tables. */
export const STRAYS: readonly Stray[] = [
  {
    name: 'table blocks',
    kind: 'reference',
    what: 'missing compactions',
    sql: 'SELECT NULL AS owner, count(*) AS count FROM blocks AS t WHERE NOT EXISTS (SELECT 1 FROM compactions WHERE id = t.compaction_id) HAVING count(*) > 0',
  },
  {
    name: 'table lines',
    kind: 'reference',
    what: 'missing blocks',
    sql: 'SELECT NULL AS owner, count(*) AS count FROM lines AS t WHERE NOT EXISTS (SELECT 1 FROM blocks WHERE id = t.block_id AND month = t.month) HAVING count(*) > 0',
  },
  {
    name: 'table lines',
    kind: 'reference',
    what: 'missing batches or cycles',
    sql: `
SELECT k.compaction_id AS owner, count(*) AS count FROM lines AS t LEFT JOIN blocks AS k ON k.id = t.block_id AND k.month = t.month
WHERE (t.batch_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM batches WHERE id = t.batch_id))
  OR (t.cycle_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM cycles WHERE id = t.cycle_id)) GROUP BY 1 ORDER BY 1 LIMIT 20`,
  },
  {
    name: 'table carried_lines',
    kind: 'reference',
    what: 'missing lines',
    sql: `
SELECT y.compaction_id AS owner, count(*) AS count FROM carried_lines AS t LEFT JOIN cycles AS y ON y.id = t.cycle_id
WHERE NOT EXISTS (SELECT 1 FROM lines WHERE id = t.line_id) GROUP BY 1 ORDER BY 1 LIMIT 20`,
  },
  {
    name: 'the search index of messages',
    kind: 'search',
    what: 'missing messages',
    sql: 'SELECT NULL AS owner, count(*) AS count FROM message_words AS t WHERE NOT EXISTS (SELECT 1 FROM lines WHERE id = t.line_id AND month = t.month AND role IS NOT NULL) HAVING count(*) > 0',
  },
  {
    name: 'the search index of messages',
    kind: 'search',
    what: 'other words than the messages have',
    sql: `
SELECT coalesce(a.id, b.id) AS owner, abs(coalesce(a.count, 0) - coalesce(b.count, 0)) AS count
FROM (SELECT k.compaction_id AS id, sum(length(w.words)) AS count FROM message_words AS w
  JOIN lines AS l ON l.id = w.line_id AND l.month = w.month JOIN blocks AS k ON k.id = l.block_id AND k.month = l.month GROUP BY 1) AS a
FULL JOIN (SELECT compaction_id AS id, sum(length(lines)) / 2 AS count FROM word_lines GROUP BY 1) AS b ON b.id = a.id
WHERE coalesce(a.count, 0) <> coalesce(b.count, 0) ORDER BY 1 LIMIT 20`,
  },
  {
    name: 'the vectors',
    kind: 'reference',
    what: 'missing lines',
    sql: 'SELECT NULL AS owner, count(*) AS count FROM message_vectors AS t WHERE NOT EXISTS (SELECT 1 FROM lines WHERE id = t.line_id) HAVING count(*) > 0',
  },
];

export const LIST_BLOCKS = 'SELECT id FROM blocks WHERE compaction_id = :id ORDER BY position';
export const GET_BLOCK = 'SELECT first_line, raw_size_bytes, data FROM blocks WHERE id = :id';
/** is_stray: with a batch or cycle of another compaction, or none where it needs one. is_lost: a message without words. */
export const LIST_LINES = `
SELECT l.id, l.line, l."offset", l.size_bytes, l.fate, l.cycle_id, l.batch_id, l.role, l.sha256, l.erasure_id,
  ((l.fate = ${OUTCOMES.indexOf('summarized')}) <> (l.batch_id IS NOT NULL) OR coalesce(y.compaction_id <> k.compaction_id, false))::int AS is_stray,
  (l.role IS NOT NULL AND NOT EXISTS (SELECT 1 FROM message_words AS w WHERE w.line_id = l.id AND w.month = l.month))::int AS is_lost
FROM lines AS l JOIN blocks AS k ON k.id = l.block_id AND k.month = l.month
LEFT JOIN batches AS b ON b.id = l.batch_id LEFT JOIN cycles AS y ON y.id = coalesce(l.cycle_id, b.cycle_id)
WHERE l.block_id = :id ORDER BY l.line`;
export const LIST_KEPT =
  'SELECT first_line, line_count, size_bytes FROM kept_runs WHERE compaction_id = :id ORDER BY position';
export const LIST_INSERTED =
  'SELECT before_line, bytes, raw_size, erased_sha256 FROM inserted_lines WHERE compaction_id = :id ORDER BY position';
export const LIST_CLIPS = 'SELECT conversation_id, clip_sha256 FROM cycles WHERE compaction_id = :id ORDER BY position';

export const LIST_CYCLES = `
SELECT c.id, c.position, c.conversation_id, c.cycle, c.parent_cycle_id, c.messages_compressed, c.made_count, c.live_count, p.cycle AS parent_cycle,
  (SELECT count(*) FROM live_batches WHERE cycle_id = c.id) AS live_found,
  (SELECT count(*) FROM live_batches AS v JOIN batches AS b ON b.id = v.batch_id WHERE v.cycle_id = c.id AND b.cycle_id > c.id) AS live_newer,
  (SELECT coalesce(sum(b.message_count), 0) FROM live_batches AS v JOIN batches AS b ON b.id = v.batch_id WHERE v.cycle_id = c.id)::bigint AS live_messages,
  (SELECT count(*) FROM carried_lines AS d JOIN lines AS l ON l.id = d.line_id
    WHERE d.cycle_id = c.id AND l.fate <> ${OUTCOMES.indexOf('quoted')}) AS wrongly_carried
FROM cycles AS c LEFT JOIN cycles AS p ON p.id = c.parent_cycle_id WHERE c.compaction_id = :id ORDER BY c.position`;
export const LIST_BATCHES = `
SELECT b.id, b.label, b.content, b.content_sha256, b.depth, b.message_count, (SELECT count(*) FROM carried_lines WHERE batch_id = b.id) AS carried_count,
  count(s.source_id) AS source_count, coalesce(sum(o.message_count), 0)::bigint AS source_messages, max(o.depth) AS source_depth, max(s.source_id) AS newest_source,
  (NOT EXISTS (SELECT 1 FROM batch_words AS w WHERE w.batch_id = b.id
    AND length(w.words) = (SELECT count(*) FROM batch_terms AS t WHERE t.batch_id = b.id)))::int AS is_unfindable
FROM batches AS b LEFT JOIN batch_sources AS s ON s.batch_id = b.id LEFT JOIN batches AS o ON o.id = s.source_id
WHERE b.cycle_id = :id GROUP BY b.id ORDER BY b.position`;

export const LIST_VERSIONS = `
SELECT v.id, v.version, f.path FROM captured_versions AS v JOIN captured_files AS f ON f.id = v.file_id ORDER BY v.id`;
export const LIST_STATES =
  'SELECT size_bytes, sha256 FROM captured_states WHERE version_id = :id ORDER BY size_bytes, id';
export const COUNT_CAPTURED = `
SELECT (SELECT count(*) FROM captured_files) AS files, count(*) AS blocks, coalesce(sum(line_count), 0)::bigint AS lines,
  coalesce(sum(raw_size_bytes), 0)::bigint AS original, coalesce(sum(length(data)), 0)::bigint AS compressed FROM captured_blocks`;
export const COUNT_WRONG_VECTORS = `
SELECT (SELECT count(*) FROM message_vectors WHERE length(vector) <> (SELECT dimensions FROM vector_model))
  + (SELECT count(*) FROM batch_vectors WHERE length(vector) <> (SELECT dimensions FROM vector_model)) AS count`;
