import type { DroppedRules } from '../../../ports/retention.ts';
import { readText, readTime, timeColumn } from '../rows.ts';
import type { Sql } from '../sql/query.ts';

/** The earlier of two equal ones stays. */
export const DROP_RULE = `
INSERT INTO dropped_rules (conversation_id, path, text, dropped_at_ms) VALUES (:conversationId, :path, :text, :at)
ON CONFLICT (conversation_id, path, text) DO NOTHING RETURNING conversation_id`;
const LIST_RULES = 'SELECT * FROM dropped_rules ORDER BY conversation_id, path, text';
const REMOVE_RULE =
  'DELETE FROM dropped_rules WHERE conversation_id = :conversationId AND path = :path AND text = :text';

export function createDroppedRules(sql: Sql): DroppedRules {
  return {
    list: async () =>
      (await sql.query(LIST_RULES)).map((row) => ({
        conversationId: readText(row, 'conversation_id'),
        path: readText(row, 'path'),
        text: readText(row, 'text'),
        droppedAt: readTime(row, 'dropped_at_ms') ?? new Date(0),
      })),
    add: ({ conversationId, path, text, droppedAt }) =>
      sql.transaction('write', async (query) => {
        const added = await query(DROP_RULE, { conversationId, path, text, at: timeColumn(droppedAt) });
        return added.length > 0;
      }),
    remove: ({ conversationId, path, text }) =>
      sql.transaction('write', async (query) => void (await query(REMOVE_RULE, { conversationId, path, text }))),
  };
}
