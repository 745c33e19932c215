import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pi } from '../../../../src/adapters/transcript/pi/codec.ts';
import type { Entry } from '../../../../src/core/transcript.ts';
import type { CodecSession, Json } from '../../../../src/ports/codec.ts';

export type Fields = { readonly [key: string]: Json };

export function header(version: number | null = 3): Fields {
  return { type: 'session', ...(version !== null && { version }), id: 'session-1', timestamp: isoAt(0), cwd: '/w' };
}

/** The n-th second of the day on which all sessions of these tests take place. */
export function isoAt(second: number): string {
  return new Date(Date.UTC(2026, 0, 2, 3, 0, second)).toISOString();
}

/** An entry that hangs on another; `fields` come last. */
export function entry(type: string, id: string, parentId: string | null, fields: Fields = {}): Fields {
  return { type, id, parentId, timestamp: isoAt(1), ...fields };
}

type Link = readonly [id: string, parentId: string | null];

export function user(text: string, [id, parentId]: Link): Fields {
  return entry('message', id, parentId, { message: { role: 'user', content: [{ type: 'text', text }] } });
}

export function assistant(text: string, [id, parentId]: Link, message: Fields = {}): Fields {
  const content = [{ type: 'text', text }];
  return entry('message', id, parentId, {
    message: { role: 'assistant', content, provider: 'p', model: 'm', ...message },
  });
}

export function compaction(keptFrom: string, [id, parentId]: Link, summary = 'It was long.'): Fields {
  return entry('compaction', id, parentId, { summary, firstKeptEntryId: keptFrom, tokensBefore: 9 });
}

/** Entries that hang on one another in their order: prompts and answers in turn, called `a`, `b`, … */
export function thread(ids: string, from: string | null = null): readonly Fields[] {
  return ids.split('').map((id, at) => {
    const link: Link = [id, at === 0 ? from : (ids[at - 1] ?? null)];
    return at % 2 === 0 ? user(`${id} asked`, link) : assistant(`${id} said`, link);
  });
}

/** What the first pass makes of a file: its entries, lines counted from 1, and the session that read them. */
export function readEntries(values: readonly Json[]): {
  readonly session: CodecSession;
  readonly entries: readonly Entry[];
} {
  const session = pi.open();
  const entries = values.map((value, index) => {
    const decoded = session.observe(value, index + 1);
    if ('problem' in decoded) throw new Error(`line ${index + 1}: ${decoded.problem}`);
    const { message, ...facts } = decoded;
    const place = { line: index + 1, start: 0, length: 0 };
    return { ...facts, ...place, ...(message !== undefined && { id: message.id, role: message.role }) };
  });
  return { session, entries };
}

/** The lines before which a kept part may begin. */
export function legalLines(values: readonly Json[]): readonly number[] {
  const { session, entries } = readEntries(values);
  const problemAt = session.legalCuts(entries);
  return entries.map(({ line }) => line).filter((line) => problemAt(line) === null);
}

/** The line of the summary, and the lines of what else pi would send. */
export function contextLines(values: readonly Json[]): {
  readonly prior: number | null;
  readonly sent: readonly number[];
} {
  const { session, entries } = readEntries(values);
  const { priorLine, isStale } = session.readContext(entries);
  const sent = entries.filter((one) => one.kind === 'message' && !isStale(one));
  return { prior: priorLine, sent: sent.map(({ line }) => line) };
}

export const FIXTURES = pathToFileURL(join(import.meta.dirname, '../../../../fixtures/transcripts/pi/'));

/** The lines of a fixture that are JSON. */
export function readFixture(name: string): readonly Json[] {
  return parseLines(readFileSync(new URL(name, FIXTURES), 'utf8'));
}

/** The lines that are JSON; pi skips all others. */
export function parseLines(text: string): readonly Json[] {
  return text.split('\n').flatMap((line): readonly Json[] => {
    try {
      return [JSON.parse(line)];
    } catch {
      return []; // blank, or two on one line
    }
  });
}
