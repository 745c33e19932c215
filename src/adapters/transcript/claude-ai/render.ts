import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { isRecord, stringAt } from '../json.ts';
import { ROOT_ID } from './context.ts';

/**
 * A user message with the keys that the export uses. If messages name their parents, it takes the uuid that the first
 * kept one names, so that the path up from the last message leads through it.
 */
export function renderSummary(input: SummaryInput): readonly string[] {
  const first = isRecord(input.firstKept) ? input.firstKept : {};
  const dropped = isRecord(input.lastDropped) ? input.lastDropped : {};
  const parent = stringAt(first, 'parent_message_uuid');
  const time = stringAt(dropped, 'created_at') ?? stringAt(first, 'created_at');
  const record: Json = {
    uuid: parent === undefined || parent === ROOT_ID ? input.uuid('summary') : parent,
    text: input.text,
    content: [{ type: 'text', text: input.text }],
    sender: 'human',
    ...(time !== undefined && { created_at: time, updated_at: time }),
    attachments: [],
    files: [],
    ...(parent !== undefined && { parent_message_uuid: ROOT_ID }),
  };
  return [JSON.stringify(record)];
}
