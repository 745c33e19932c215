import type Database from 'better-sqlite3';
import type { DroppedRule } from '../../ports/retention.ts';
import { guard } from './failure.ts';
import type { SchemaGuard } from './identity.ts';
import { readText, readTime, timeColumn } from './rows.ts';
import type { SyncArchive } from './sync-archive.ts';
import { ask, createRunner, type Work } from './work.ts';

/** The earlier of two equal ones stays. */
export const DROP_RULE = `
INSERT INTO dropped_rules (conversation_id, path, text, dropped_at_ms) VALUES (:conversationId, :path, :text, :at)
ON CONFLICT (conversation_id, path, text) DO NOTHING RETURNING conversation_id`;

export function* listDroppedRules(): Work<readonly DroppedRule[]> {
  return (yield* ask('SELECT * FROM dropped_rules ORDER BY conversation_id, path, text')).map((row) => ({
    conversationId: readText(row, 'conversation_id'),
    path: readText(row, 'path'),
    text: readText(row, 'text'),
    droppedAt: readTime(row, 'dropped_at_ms') ?? new Date(0),
  }));
}

export function* addDroppedRule({ conversationId, path, text, droppedAt }: DroppedRule): Work<boolean> {
  return (yield* ask(DROP_RULE, { conversationId, path, text, at: timeColumn(droppedAt) })).length > 0;
}

export function* removeDroppedRule({ conversationId, path, text }: DroppedRule): Work<void> {
  yield* ask('DELETE FROM dropped_rules WHERE conversation_id = :conversationId AND path = :path AND text = :text', {
    conversationId,
    path,
    text,
  });
}

export function createDroppedRules(
  db: Database.Database,
  { path, checkSchema }: { readonly path: string; readonly checkSchema: SchemaGuard },
): SyncArchive['droppedRules'] {
  const run = createRunner(db);
  const change = <T>(work: () => Work<T>): T => {
    const transaction = db.transaction((): T => {
      checkSchema();
      return run(work());
    });
    return guard(path, () => transaction.immediate());
  };
  return {
    list: () => guard(path, () => run(listDroppedRules())),
    add: (rule) => change(() => addDroppedRule(rule)),
    remove: (rule) => change(() => removeDroppedRule(rule)),
  };
}
