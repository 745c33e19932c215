import type { ScoreRow } from '../../app/contract/reports.ts';
import { likelyName } from '../../config/nearest.ts';
import { safeText } from './text.ts';

type Row = Pick<ScoreRow, 'id' | 'line' | 'role'>;

/** An id is found by its beginning from so many characters on. */
export const MIN_ID_LENGTH = 6;
const MAX_SHOWN = 5;
/** More ids are not compared letter by letter. */
const MAX_COMPARED = 5_000;

/** The messages that a word may mean, one a line, each with what names it alone. */
export function renderCandidates(rows: readonly Row[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { id } of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
  const shown = rows.slice(0, MAX_SHOWN).map(({ id, line, role }) => {
    const isUnique = counts.get(id) === 1;
    return isUnique ? `  ${safeText(id)}  (${role}, line ${line})` : `  line:${line}  (${role}, ${safeText(id)})`;
  });
  return rows.length > MAX_SHOWN ? [...shown, `  … and ${rows.length - MAX_SHOWN} more`] : shown;
}

/** Sentences on what names messages in this file, and which messages an unknown word is near to. */
export function describeNear(rows: readonly Row[], word: string): string {
  const [first] = rows;
  if (first === undefined) return 'It has no messages.';
  const line = Number(/^(?:line:)?(\d+)$/.exec(word)?.[1] ?? Number.NaN);
  if (!Number.isNaN(line)) return describeLine(rows, line, word);
  const begun = rows.filter(({ id }) => id.startsWith(word));
  if (begun.length > 0)
    return `Type at least ${MIN_ID_LENGTH} characters of an id:\n${renderCandidates(begun).join('\n')}\n`;
  const near = rows.length > MAX_COMPARED ? null : likelyName(word, [...new Set(rows.map(({ id }) => id))]);
  if (near !== null) return `Did you mean ${safeText(near)}?`;
  const example = first.id.startsWith('line:') ? `line:${first.line}` : `${safeText(first.id)} or line:${first.line}`;
  return `Its messages have names like ${example}.`;
}

function describeLine(rows: readonly Row[], line: number, word: string): string {
  if (rows.some((row) => row.line === line) && !word.startsWith('line:')) return `Did you mean line:${line}?`;
  const lines = rows.map((row) => row.line).toSorted((a, b) => a - b);
  const before = lines.findLast((one) => one < line);
  const after = lines.find((one) => one > line);
  if (after === undefined) return `Its last message is in line ${before}.`;
  if (before === undefined) return `Its first message is in line ${after}.`;
  return `The nearest messages are line:${before} and line:${after}.`;
}
