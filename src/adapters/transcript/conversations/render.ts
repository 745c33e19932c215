import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { isList, isRecord, stringAt } from '../json.ts';
import type { JsonRecord } from '../json.ts';

/** One element in the words of its neighbor: `{from, value}` or `{role, content}`; among Anthropic's blocks, which know no system, a user's. */
export function renderSummary({ text, firstKept, lastDropped }: SummaryInput): readonly string[] {
  const neighbors = [firstKept, lastDropped].filter(isMessage);
  const isShareGpt = neighbors.some((record) => 'from' in record && !('role' in record));
  const role = neighbors.some(hasAnthropicBlocks) ? 'user' : 'system';
  return [JSON.stringify(isShareGpt ? { from: 'system', value: text } : { role, content: text })];
}

function isMessage(value: Json): value is JsonRecord {
  return isRecord(value);
}

function hasAnthropicBlocks({ content }: JsonRecord): boolean {
  return (
    isList(content) &&
    content.some((block) => isRecord(block) && /^tool_(?:use|result)$/.test(stringAt(block, 'type') ?? ''))
  );
}
