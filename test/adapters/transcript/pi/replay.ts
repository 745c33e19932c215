import type { Json } from '../../../../src/ports/codec.ts';
import { type Fields } from '../reading.ts';

/** What pi has of a session when it has read it: what it sends, oldest first, and what it goes on with. */
export type Replay = {
  /** The text of the compaction that the history begins with; null: none. */
  readonly summary: string | null;
  readonly sent: readonly Json[];
  readonly thinking: Json;
  readonly model: Json;
  readonly name: Json;
};

/**
 * As pi 0.73.1 reads a file: entries of version 1 hang together by their order, the last entry is the tip, and the newest compaction on the
 * way from there to the root stands for what is before the entry that it names. A circle of parents, which pi never comes out of, ends here.
 */
export function replay(values: readonly Json[]): Replay {
  const records = values.map((value): Fields => Object(value));
  const first = records.find(({ type }) => type === 'session');
  const entries = Number(first?.['version'] ?? 1) < 2 ? linkByOrder(records) : records;
  const own = entries.filter(({ type }) => type !== 'session');
  const path = walk(own);
  const at = path.findLastIndex(({ type }) => type === 'compaction');
  const keptFrom = at < 0 ? 0 : path.findIndex(({ id }) => id === path[at]?.['firstKeptEntryId']);
  const kept = at < 0 || keptFrom < 0 ? [] : path.slice(keptFrom, Math.max(at, keptFrom));
  const history = [...kept, ...path.slice(at + 1)].filter((entry, index, all) => all.indexOf(entry) === index);
  const last = (matches: (entry: Fields) => boolean): Fields => path.findLast(matches) ?? {};
  const modelEntry = last(({ type, message }) => type === 'model_change' || Object(message).role === 'assistant');
  const answer = Object(modelEntry['message']);
  return {
    summary: at < 0 ? null : stringOf(path[at]?.['summary']),
    sent: history.filter(isSent).map(({ message, content, summary }) => message ?? content ?? summary ?? null),
    thinking: last(({ type }) => type === 'thinking_level_change')['thinkingLevel'] ?? 'off',
    model: modelEntry['modelId'] ?? answer.model ?? null,
    name: own.findLast(({ type }) => type === 'session_info')?.['name'] ?? null,
  };
}

function stringOf(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function isSent({ type, message, summary = '' }: Fields): boolean {
  if (type === 'branch_summary') return summary !== '';
  if (type === 'message') return Object(message).excludeFromContext !== true;
  return type === 'custom_message';
}

function walk(entries: readonly Fields[]): readonly Fields[] {
  const byId = new Map(entries.map((one) => [one['id'], one]));
  const path: Fields[] = [];
  let at = entries.at(-1) === undefined ? undefined : byId.get(entries.at(-1)?.['id']);
  while (at !== undefined && !path.includes(at)) {
    path.unshift(at);
    const { parentId = null } = at;
    at = parentId === null || parentId === '' ? undefined : byId.get(parentId);
  }
  return path;
}

/** As pi rewrites a file of version 1 when it opens it. */
function linkByOrder(records: readonly Fields[]): readonly Fields[] {
  const name = (at: number): string => `n${at}`;
  return records.map((record, at) => {
    if (record['type'] === 'session') return record;
    const before = records.slice(0, at).findLastIndex(({ type }) => type !== 'session');
    const { firstKeptEntryIndex: index, ...rest } = record;
    const isEntry = typeof index === 'number' && records[index] !== undefined && records[index]['type'] !== 'session';
    return {
      ...rest,
      id: name(at),
      parentId: before < 0 ? null : name(before),
      ...(isEntry && { firstKeptEntryId: name(index) }),
    };
  });
}
