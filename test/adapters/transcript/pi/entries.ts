import type { Json } from '../../../../src/ports/codec.ts';
import {
  contextLines as contextLinesOf,
  type Fields,
  isoAt,
  legalLines as legalLinesOf,
  readEntries as readEntriesOf,
  readFixture as readFixtureOf,
} from '../reading.ts';

export function header(version: number | null = 3): Fields {
  return { type: 'session', ...(version !== null && { version }), id: 'session-1', timestamp: isoAt(0), cwd: '/w' };
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

export const readEntries = (values: readonly Json[]): ReturnType<typeof readEntriesOf> => readEntriesOf('pi', values);
export const legalLines = (values: readonly Json[]): readonly number[] => legalLinesOf('pi', values);
export const contextLines = (values: readonly Json[]): Omit<ReturnType<typeof contextLinesOf>, 'goes'> => {
  const { prior, sent } = contextLinesOf('pi', values);
  return { prior, sent };
};
export const readFixture = (name: string): readonly Fields[] => readFixtureOf('pi', name);
