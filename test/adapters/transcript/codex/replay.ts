import type { Json } from '../../../../src/ports/codec.ts';
import { type Fields as JsonObject } from '../reading.ts';

/** An item of the history that Codex builds from a rollout; `line` is 0 for one that a compaction brought. */
type Sent = { readonly line: number; readonly item: JsonObject };

type Logged =
  | ({ readonly kind: 'item' } & Sent)
  | { readonly kind: 'compaction'; readonly history: readonly JsonObject[] }
  | { readonly kind: 'start' };

const OWN_TEXT =
  /^<(?:permissions instructions>|(environment_context|turn_aborted)>[^]*<\/\1>$)|^# AGENTS\.md instructions[^]*<\/INSTRUCTIONS>$/;

/**
 * The history that Codex builds of a rollout, told once more in the plainest way: turns that are taken back are cut off as they come, with a
 * compaction that was made as they began; then the last compaction that is left stands for all before it.
 */
export function replay(records: readonly Json[]): readonly Sent[] {
  let log: readonly Logged[] = [];
  for (const [index, record] of records.entries()) {
    const { type, payload } = Object(record);
    const history = type === 'compacted' ? payload.replacement_history : undefined;
    if (type === 'response_item') log = [...log, { kind: 'item', line: index + 1, item: payload }];
    if (history !== undefined) log = [...log, { kind: 'compaction', history }];
    if (type === 'event_msg' && payload.type === 'task_started') log = [...log, { kind: 'start' }];
    if (type === 'event_msg' && payload.type === 'thread_rolled_back') log = cutTurns(log, payload.num_turns);
  }
  const last = log.findLastIndex(({ kind }) => kind === 'compaction');
  const compaction = log[last];
  const brought = compaction?.kind === 'compaction' ? compaction.history.map((item) => ({ line: 0, item })) : [];
  return [...brought, ...log.slice(last + 1).flatMap((one) => (one.kind === 'item' ? [one] : []))];
}

function cutTurns(log: readonly Logged[], turns: number): readonly Logged[] {
  const opening = log.flatMap((one, at) => (one.kind === 'item' && opensTurn(one.item) ? [at] : []));
  const first = opening[0];
  if (turns === 0 || first === undefined) return log;
  let cut = opening.at(-turns) ?? first;
  const start = log.slice(0, cut).findLastIndex(({ kind }) => kind === 'start');
  const isUndone = (one: Logged, at: number): boolean => one.kind === 'compaction' && start >= 0 && at > start;
  while (cut > first && isLoose(log[cut - 1])) cut -= 1;
  return log.slice(0, cut).filter((one, at) => !isUndone(one, at));
}

function opensTurn(item: JsonObject): boolean {
  return item['type'] === 'message' && item['role'] === 'user' && !isOwn(item);
}

function isLoose(one: Logged | undefined): boolean {
  return one?.kind === 'item' && isOwn(one.item);
}

function isOwn(item: JsonObject): boolean {
  const { role, content } = Object(item);
  return role !== 'assistant' && Array.isArray(content) && content.some((part) => OWN_TEXT.test(part.text));
}
