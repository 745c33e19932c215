import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCodec } from '../../support/codecs.ts';
import type { Entry } from '../../../src/core/transcript.ts';
import type { CodecSession, Json } from '../../../src/ports/codec.ts';

export type Fields = { readonly [key: string]: Json };

export const FIXTURES = join(import.meta.dirname, '../../../fixtures/transcripts');

/** The lines that are JSON; clients skip all others. */
export function parseLines(text: string): readonly Fields[] {
  return text.split('\n').flatMap((line): readonly Fields[] => {
    try {
      return [JSON.parse(line)];
    } catch {
      return []; // blank, torn, or two on one line
    }
  });
}

export function readFixture(format: string, name: string): readonly Fields[] {
  return parseLines(readFileSync(join(FIXTURES, format, name), 'utf8'));
}

/** The n-th second of the day on which all sessions of these tests take place. */
export function isoAt(second: number): string {
  return new Date(Date.UTC(2026, 0, 2, 3, 0, second)).toISOString();
}

export const toText = (values: readonly Json[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join('');

/** What the first pass makes of a file: its entries, lines counted from 1, and the session that read them. */
export function readEntries(
  format: string,
  values: readonly Json[],
): { readonly session: CodecSession; readonly entries: readonly Entry[] } {
  const session = findCodec(format)?.open();
  if (session === undefined) throw new Error(format);
  const entries = values.map((value, index): Entry => {
    const decoded = session.observe(value, index + 1);
    if ('problem' in decoded) throw new Error(`line ${index + 1}: ${decoded.problem}`);
    const { message, ...facts } = decoded;
    const place = { line: index + 1, start: 0, length: 0 };
    return { ...facts, ...place, ...(message !== undefined && { id: message.id, role: message.role }) };
  });
  return { session, entries };
}

/** The lines before which a kept part may begin. */
export function legalLines(format: string, values: readonly Json[]): readonly number[] {
  const { session, entries } = readEntries(format, values);
  const problemAt = session.legalCuts(entries);
  return entries.map(({ line }) => line).filter((line) => problemAt(line) === null);
}

/** The line of the summary, the lines of what else the client would send, and of what must leave. */
export function contextLines(
  format: string,
  values: readonly Json[],
): { readonly prior: number | null; readonly sent: readonly number[]; readonly goes: readonly number[] } {
  const { session, entries } = readEntries(format, values);
  const { priorLine, isStale, mustDrop = () => false } = session.readContext(entries);
  const sent = entries.filter((one) => one.kind === 'message' && !isStale(one));
  const linesOf = (some: readonly Entry[]): readonly number[] => some.map(({ line }) => line);
  return { prior: priorLine, sent: linesOf(sent), goes: linesOf(entries.filter(mustDrop)) };
}
