import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';

/** Records of formats that have a codec of their own, and what a file of them is called. */
type OtherFormat = { readonly name: string; readonly matches: (record: JsonRecord, type: string) => boolean };

const LOOSE_ITEMS = new Set([
  'function_call',
  'function_call_output',
  'reasoning',
  'custom_tool_call',
  'local_shell_call',
]);

const OTHER_FORMATS: readonly OtherFormat[] = [
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
];

/** What a record of another format's codec looks like it is from; null: nothing that is known. */
export function nameOther(record: JsonRecord): string | null {
  const type = stringAt(record, 'type') ?? '';
  return OTHER_FORMATS.find(({ matches }) => matches(record, type))?.name ?? null;
}

function hasResponseParts(content: Json | undefined): boolean {
  return (
    isList(content) &&
    content.some((part) => isRecord(part) && /^(?:in|out)put_text$/.test(stringAt(part, 'type') ?? ''))
  );
}
