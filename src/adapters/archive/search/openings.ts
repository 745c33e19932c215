import type { ArchiveLookup } from '../../../ports/archive-lookup.ts';
import type { Sql } from '../sql/query.ts';

/** Of the first batch of a conversation. */
const LIST_ARCHIVED = `
SELECT l.id FROM lines AS l WHERE l.role = 0 AND l.batch_id = (
  SELECT b.id FROM cycles AS y JOIN batches AS b ON b.cycle_id = y.id JOIN compactions AS c ON c.id = y.compaction_id
  WHERE y.conversation_id = :conversation AND c.status = 'applied' ORDER BY y.id, b.position LIMIT 1) ORDER BY l.id LIMIT 5`;
/** Not far behind the beginning of a file. */
const LIST_CAPTURED = `
SELECT coalesce(m.line_id, -m.captured_id) AS id FROM captured_messages AS m JOIN (
  SELECT r.first_line_id AS id FROM captured_files AS f JOIN captured_versions AS v ON v.file_id = f.id
  JOIN captured_runs AS r ON r.version_id = v.id AND r.position = 0 WHERE f.path = :file ORDER BY v.version LIMIT 1
) AS s ON m.captured_id BETWEEN s.id AND s.id + 200
WHERE m.role = 0 ORDER BY m.captured_id LIMIT 5`;

/** Finds the first messages of users, which say what a session is about. */
export function createOpenings({ query }: Pick<Sql, 'query'>): Pick<ArchiveLookup, 'listOpenings'> {
  return {
    listOpenings: async ({ conversation, file }) => {
      const archived = conversation === null ? [] : await query.numbers(LIST_ARCHIVED, { conversation });
      return archived.length > 0 ? archived : query.numbers(LIST_CAPTURED, { file });
    },
  };
}
