import Database from 'better-sqlite3';
import type { SoughtWord } from '../../core/search/question.ts';

/** What FTS5 looks for; whatever stands between quotes is text to it, but for a quote itself and NUL. */
export function matchAny(terms: readonly string[]): string {
  return terms.map(quote).join(' OR ');
}

export function matchWord({ forms, isBeginning }: SoughtWord): string {
  return isBeginning ? forms.map((form) => `${quote(form)} *`).join(' OR ') : matchAny(forms);
}

function quote(term: string): string {
  return `"${term.replaceAll('\0', ' ').replaceAll('"', '""')}"`;
}

/** Letters that are younger than SQLite's tables part words for it, and words that stand together cannot be asked of an index without places. */
export function isUnknownWord(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.message.startsWith('fts5: phrase queries are not supported');
}
