import type { MessagePart } from '../../../core/message.ts';
import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { argumentText } from '../listed/said.ts';
import { readPartText } from '../part-text.ts';
import { typedText } from '../typed-text.ts';

/**
 * What a message says: its blocks, or its `text` in exports that have none, and what its attachments hold. Calls are numbered within their
 * message where the export has no ids for them.
 * @throws RangeError where a call's arguments are nested too deeply to be written as JSON.
 */
export function readParts(message: JsonRecord, messageId: string): readonly MessagePart[] {
  const { content } = message;
  const blocks = readBlocks(isList(content) ? content : [content ?? null], messageId);
  const text = readPartText(message['text']);
  const said = blocks.length === 0 && text !== '' ? [{ kind: 'text', text } as const] : blocks;
  return [...said, ...readAttachments(message['attachments'])];
}

/** What a person wrote: the text without what the attachments hold. */
export function readTyped({ content, text }: JsonRecord): string | undefined {
  const blocks = isList(content) ? content.filter(isRecord) : [];
  const texts = blocks.flatMap((block) => (block['type'] === 'text' ? [stringAt(block, 'text') ?? ''] : []));
  return typedText(blocks.length === 0 ? [readPartText(text)] : texts);
}

function readBlocks(blocks: readonly Json[], messageId: string): readonly MessagePart[] {
  const parts: MessagePart[] = [];
  let lastCall: string | null = null;
  for (const [index, block] of blocks.entries()) {
    const type = isRecord(block) ? stringAt(block, 'type') : undefined;
    if (isRecord(block) && type === 'tool_use') {
      lastCall = stringAt(block, 'id') ?? `${messageId}:${index}`;
      const name = stringAt(block, 'name') ?? '';
      parts.push({ kind: 'call', id: lastCall, name, arguments: argumentText(block['input']) });
    } else if (isRecord(block) && type === 'tool_result') {
      parts.push(resultPart(block, stringAt(block, 'tool_use_id') ?? lastCall));
    } else if (type !== 'token_budget') {
      const text = readPartText(block);
      if (text !== '') parts.push({ kind: 'text', text });
    }
  }
  return parts;
}

function resultPart(block: JsonRecord, callId: string | null): MessagePart {
  const text = resultText(block['content']);
  if (callId === null) return { kind: 'text', text };
  return { kind: 'result', callId, text, isError: block['is_error'] === true };
}

function resultText(content: Json | undefined): string {
  const texts = (isList(content) ? content : [content]).map(readPartText);
  return texts.filter((text) => text !== '').join('\n');
}

/** Pasted text and documents are sent with the message; files of which the export has the name alone are media. */
function readAttachments(attachments: Json | undefined): readonly MessagePart[] {
  if (!isList(attachments)) return [];
  return attachments.flatMap((attachment): readonly MessagePart[] => {
    const text = isRecord(attachment) ? (stringAt(attachment, 'extracted_content') ?? '') : '';
    return text === '' ? [] : [{ kind: 'text', text }];
  });
}
