import { readInteger } from '../rows.ts';
import type { Sql } from '../sql/query.ts';

/** The bytes that the committed content takes, without free pages where the engine knows them. */
export async function readUsedBytes({ query, dialect }: Pick<Sql, 'query' | 'dialect'>): Promise<number> {
  const [row = {}] = await query(dialect.usedBytes);
  return readInteger(row, 'size');
}
