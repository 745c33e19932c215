import type { Json } from '../../../../src/ports/codec.ts';
import { type Fields, legalLines as legalLinesOf, readEntries, readFixture as readFixtureOf } from '../reading.ts';

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

export const readRecords = (values: readonly Json[]): ReturnType<typeof readEntries> =>
  readEntries('claude-code', values);
export const readFixture = (name: string): readonly Fields[] => readFixtureOf('claude-code', name);
export const legalLines = (values: readonly Json[]): readonly number[] => legalLinesOf('claude-code', values);
