import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { isList, isRecord, stringAt } from '../json.ts';
import type { JsonRecord } from '../json.ts';
import { summaryRole } from '../summary-role.ts';

/** One element in the words of its neighbor: `{from, value}` or `{role, content}`; among Anthropic's blocks, which know no system, a user's. */
export function renderSummary(input: SummaryInput): readonly string[] {
  const { text, firstKept, lastDropped } = input;
  const neighbors = [firstKept, lastDropped].filter(isMessage);
  const isShareGpt = neighbors.some((record) => 'from' in record && !('role' in record));
  const role = neighbors.some(hasAnthropicBlocks) ? 'user' : summaryRole(input);
  const from = role === 'user' ? 'human' : 'system';
  return [JSON.stringify(isShareGpt ? { from, value: text } : { role, content: text })];
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
