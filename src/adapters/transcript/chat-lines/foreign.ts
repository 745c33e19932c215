import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, stringAt } from '../json.ts';
import type { JsonRecord } from '../json.ts';

/** A kind of record that other programs write, and what files of it are called. */
type ForeignKind = { readonly name: string; readonly matches: (record: JsonRecord, type: string) => boolean };

const LOOSE_ITEMS = new Set([
  'function_call',
  'function_call_output',
  'reasoning',
  'custom_tool_call',
  'local_shell_call',
]);

const FOREIGN_KINDS: readonly ForeignKind[] = [
  { name: 'a Codex rollout', matches: (record, type) => type !== '' && isRecord(record['payload']) },
  {
    name: 'a Codex rollout of the older kind, or bare items of the Responses API',
    matches: (record, type) =>
      'record_type' in record ||
      ('instructions' in record && 'git' in record) ||
      (LOOSE_ITEMS.has(type) && !('role' in record)) ||
      (type === 'message' && hasResponseParts(record['content'])),
  },
  {
    name: 'a Claude Code session',
    matches: (record, type) => 'parentUuid' in record || 'leafUuid' in record || type === 'file-history-snapshot',
  },
  {
    name: "one of Cursor's agent transcripts",
    matches: (record) => typeof record['role'] === 'string' && isRecord(record['message']) && !('content' in record),
  },
  { name: 'a log of requests', matches: (record) => isRecord(record['request']) && 'response' in record },
];

/** What a record of another program's looks like it is from; null: nothing that is known. */
export function nameForeign(record: JsonRecord): string | null {
  const type = stringAt(record, 'type') ?? '';
  return FOREIGN_KINDS.find(({ matches }) => matches(record, type))?.name ?? null;
}

function hasResponseParts(content: Json | undefined): boolean {
  return (
    isList(content) &&
    content.some((part) => isRecord(part) && /^(?:in|out)put_text$/.test(stringAt(part, 'type') ?? ''))
  );
}
