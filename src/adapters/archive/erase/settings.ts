import { readText } from '../rows.ts';
import { forRows, type Query } from '../sql/query.ts';
import { parseJson } from '../../../core/result.ts';

const LIST = 'SELECT id, value FROM settings WHERE id > :after ORDER BY id LIMIT 2000';
const CHANGE = 'UPDATE settings SET value = :value WHERE id = :id';

/** All other texts and lists were written by a person, or quote a conversation. */
const KEPT: ReadonlySet<string> = new Set(['format', 'provider', 'modelName', 'chunkOrder', 'conversation', 'scoring']);

/** Removes the texts in the settings of all compactions: nothing reads them, and nobody can tell which of them repeat what is erased. */
export async function eraseSettings(query: Query): Promise<void> {
  await forRows(query, LIST, async (row) => {
    const before = readText(row, 'value');
    const value = withoutTexts(before);
    if (value !== before) await query(CHANGE, { id: row['id'], value });
  });
}

/** Whether settings lost texts to an erasure, so that they differ from their hash. */
export function isWithoutTexts(settings: string): boolean {
  return parse(settings)['erased'] === true;
}

function withoutTexts(settings: string): string {
  const entries = Object.entries(parse(settings));
  const left = entries.filter(([key, value]) => KEPT.has(key) || !hasText(value));
  return left.length === entries.length ? settings : JSON.stringify({ ...Object.fromEntries(left), erased: true });
}

function hasText(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null && Object.keys(value).length > 0);
}

function parse(settings: string): Readonly<Record<string, unknown>> {
  return Object(parseJson(settings));
}
