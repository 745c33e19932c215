import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { claudeCode } from '../../../../src/adapters/transcript/claude-code/codec.ts';
import type { Entry } from '../../../../src/core/transcript.ts';
import type { CodecSession, Json } from '../../../../src/ports/codec.ts';

type Fields = { readonly [key: string]: Json };

export const SESSION_ID = '5e551011-0000-4000-8000-000000000000';

/** A record with what every record of a session carries; `fields` come last. */
export function record(type: string, fields: Fields = {}): Fields {
  return {
    parentUuid: null,
    isSidechain: false,
    sessionId: SESSION_ID,
    type,
    timestamp: '2026-03-02T10:00:00.000Z',
    ...fields,
  };
}

export function userRecord(content: Json, fields: Fields = {}): Fields {
  return record('user', { message: { role: 'user', content }, ...fields });
}

export function assistantRecord(content: Json, fields: Fields = {}): Fields {
  return record('assistant', { message: { role: 'assistant', content }, ...fields });
}

/** What the first pass makes of a file: entries of the records, lines counted from 1, and the session that read them. */
export function readRecords(values: readonly Json[]): {
  readonly session: CodecSession;
  readonly entries: readonly Entry[];
} {
  const session = claudeCode.open();
  const entries = values.map((value, index) => {
    const decoded = session.observe(value, index + 1);
    if ('problem' in decoded) throw new Error(`line ${index + 1}: ${decoded.problem}`);
    const { message, ...facts } = decoded;
    return {
      ...facts,
      line: index + 1,
      start: 0,
      length: 0,
      ...(message !== undefined && { id: message.id, role: message.role }),
    };
  });
  return { session, entries };
}

export const FIXTURES = pathToFileURL(join(import.meta.dirname, '../../../../fixtures/transcripts/claude-code/'));

/** The lines of a fixture; null: no JSON. */
export function readFixture(name: string): readonly (Json | null)[] {
  const lines = readFileSync(new URL(name, FIXTURES), 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    try {
      return JSON.parse(line);
    } catch {
      return null; // the fixture is about a line that is no JSON
    }
  });
}

/** As `readRecords`, of a fixture whose lines are all JSON. */
export function readFixtureEntries(name: string): {
  readonly session: CodecSession;
  readonly entries: readonly Entry[];
} {
  return readRecords(readFixture(name));
}

/** The lines before which a kept part may begin. */
export function legalLines(values: readonly Json[]): readonly number[] {
  const { session, entries } = readRecords(values);
  const problemAt = session.legalCuts(entries);
  return entries.map(({ line }) => line).filter((line) => problemAt(line) === null);
}
