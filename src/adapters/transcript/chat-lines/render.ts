import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { idAt, isRecord, type JsonRecord } from '../json.ts';
import { summaryRole } from '../summary-role.ts';
import { OWN_KEYS, type OwnKey, type Survey, type Times } from './dialect.ts';
import { parseTime } from './time.ts';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const ID_PREFIX = /^[a-z]+[-_:.]/i;
/** They may stand in JSON, but readers that split text at every kind of line end would part the record. */
const RARE_LINE_ENDS = /[\u0085\u2028\u2029]/g;

/**
 * One record, written as the conversation's own are: where every message has an id, a conversation or a time, the summary has them too, in the
 * same order. Other columns are left to their defaults.
 */
export function renderSummary(input: SummaryInput, survey: Survey): readonly string[] {
  const kept = recordOf(input.firstKept);
  const dropped = recordOf(input.lastDropped);
  const template = kept ?? dropped ?? {};
  const conversation = idAt(template, 'conversation_id') ?? '';
  const keys = survey.keysOf(conversation);
  const isRow = keys.has('conversation_id');
  const candidates = [dropped, kept, survey.laterInstructionOf(conversation)];
  const values: { readonly [key: string]: Json } = {
    role: survey.hasBlocks() && !isRow ? 'user' : summaryRole(input),
    content: input.text,
    ...(keys.has('id') && { id: newId(input, { kept, dropped }) }),
    ...(isRow && { conversation_id: template['conversation_id'] ?? null }),
    ...timeOf('created_at', keys, candidates),
    ...timeOf('timestamp', keys, candidates),
  };
  const record = Object.fromEntries(
    orderOf(template).flatMap((key) => (values[key] === undefined ? [] : [[key, values[key]]])),
  );
  return [JSON.stringify(record).replace(RARE_LINE_ENDS, escapeChar)];
}

/** The keys of a record of the conversation, with content right after the role where that record has none. */
function orderOf(template: JsonRecord): readonly string[] {
  const known = new Set<string>(['role', 'content', ...OWN_KEYS]);
  const keys = Object.keys(template).filter((key) => known.has(key));
  if (!keys.includes('role')) return ['role', 'content', ...keys.filter((key) => key !== 'content')];
  return keys.includes('content') ? keys : keys.flatMap((key) => (key === 'role' ? ['role', 'content'] : [key]));
}

/**
 * A fresh id of the kind that the conversation has. A number that nobody counts is not to be had: the last one that left is free, and stands
 * in its place in the order.
 */
function newId(
  { uuid }: SummaryInput,
  { kept, dropped }: { readonly kept: JsonRecord | null; readonly dropped: JsonRecord | null },
): Json {
  const like = kept?.['id'] ?? dropped?.['id'];
  if (typeof like === 'number') return dropped?.['id'] ?? like;
  const fresh = uuid('summary');
  if (typeof like !== 'string' || UUID.test(like)) return fresh;
  return `${ID_PREFIX.exec(like)?.[0] ?? ''}${fresh}`;
}

/** The earliest of the last message that left, the first that stays and an instruction between them, as it is written there. */
function timeOf(
  key: OwnKey,
  keys: ReadonlySet<OwnKey>,
  candidates: readonly (JsonRecord | Times | null)[],
): { readonly [key: string]: Json } {
  if (!keys.has(key)) return {};
  const values = candidates.flatMap((candidate) => candidate?.[key] ?? []);
  const form = typeof (candidates[1] ?? candidates[0])?.[key];
  const dated = values.flatMap((value) => {
    const time = typeof value === form ? parseTime(value) : null;
    return time === null ? [] : [{ value, ms: time.getTime() }];
  });
  const earliest = dated.reduce((best, one) => (one.ms < best.ms ? one : best), dated[0] ?? { value: null, ms: 0 });
  const value = dated.length === 0 ? (candidates[1]?.[key] ?? candidates[0]?.[key]) : earliest.value;
  return value === undefined ? {} : { [key]: value };
}

function recordOf(value: Json): JsonRecord | null {
  return isRecord(value) ? value : null;
}

function escapeChar(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
