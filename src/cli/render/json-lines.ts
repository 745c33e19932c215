import type { ScoreReport, ScoreRow } from '../../app/contract/reports.ts';
import { safeJson } from './text.ts';

const ROWS_A_PIECE = 500; // about 100 kB: the text of a million rows is never in memory at once

/** A score report as one line of JSON, in pieces. */
export function* scoreJson(report: ScoreReport, rows: readonly ScoreRow[]): Generator<string> {
  const { messages: _all, ...head } = report;
  yield `${safeJson(JSON.stringify(head)).slice(0, -1)},"messages":[`;
  for (let start = 0; start < rows.length; start += ROWS_A_PIECE) {
    const piece = safeJson(JSON.stringify(rows.slice(start, start + ROWS_A_PIECE), roundScores)).slice(1, -1);
    yield start === 0 ? piece : `,${piece}`;
  }
  yield ']}\n';
}

/** Scores to four digits, which is more than they mean. */
function roundScores(key: string, value: unknown): unknown {
  return typeof value === 'number' && SCORES.has(key) ? Number(value.toPrecision(4)) : value;
}

const SCORES: ReadonlySet<string> = new Set(['score', 'value', 'groupScore']);

/** One report as one line; safe to print on a terminal, and the same value for a parser. */
export function reportJson(report: object): string {
  return `${safeJson(JSON.stringify(report))}\n`;
}
