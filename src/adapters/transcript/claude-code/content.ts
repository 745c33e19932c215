import type { MessagePart } from '../../../core/message.ts';
import type { Json } from '../../../ports/codec.ts';
import { documentText } from '../document-block.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { readPartText } from '../part-text.ts';

/** The arguments of a call as the producer wrote them, beside its id and name. */
type Call = { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: Json };

/** What a message's content holds: no thinking, no media. */
export type Content = {
  readonly parts: readonly MessagePart[];
  /** The parts as one text: text, calls as `name {json}`, text of results. */
  readonly text: string;
  readonly calls: readonly Call[];
  readonly results: readonly string[];
  /** A tool's result stands in it, with an id or without. */
  readonly hasResult: boolean;
};

/** @throws RangeError where a call's arguments are nested too deeply to be written as JSON. */
export function readContent(content: string | readonly Json[]): Content {
  const parts: MessagePart[] = [];
  const calls: Call[] = [];
  const results: string[] = [];
  let hasResult = false;
  const addText = (text: string): void => {
    if (text !== '') parts.push({ kind: 'text', text });
  };
  for (const block of typeof content === 'string' ? [content] : content) {
    if (!isRecord(block)) {
      addText(readPartText(block));
      continue;
    }
    const type = stringAt(block, 'type') ?? '';
    if (type.endsWith('tool_use')) {
      const name = stringAt(block, 'name') ?? '';
      const input = block['input'] ?? {};
      const id = stringAt(block, 'id');
      if (id !== undefined) calls.push({ type: 'tool_use', id, name, input });
      parts.push(callPart(id, name, typeof input === 'string' ? input : JSON.stringify(input)));
    } else if (type.endsWith('tool_result')) {
      hasResult = true;
      const id = stringAt(block, 'tool_use_id');
      if (id !== undefined) results.push(id);
      parts.push(resultPart(id, block));
    } else addText(type === 'document' ? documentText(block) : readPartText(block));
  }
  return { parts, text: textOf(parts), calls, results, hasResult };
}

/** A call without an id can never be answered: it is shown as text. */
function callPart(id: string | undefined, name: string, args: string): MessagePart {
  return id === undefined ? { kind: 'text', text: `${name} ${args}` } : { kind: 'call', id, name, arguments: args };
}

function resultPart(callId: string | undefined, block: JsonRecord): MessagePart {
  const text = resultText(block['content']);
  if (callId === undefined) return { kind: 'text', text };
  return { kind: 'result', callId, text, isError: block['is_error'] === true };
}

function resultText(content: Json | undefined): string {
  const texts = (isList(content) ? content : [content]).map((item) =>
    isRecord(item) && item['type'] === 'document' ? documentText(item) : readPartText(item),
  );
  return texts.filter((text) => text !== '').join('\n');
}

function textOf(parts: readonly MessagePart[]): string {
  const only = parts.length === 1 ? parts[0] : undefined;
  if (only !== undefined) return partText(only);
  return parts
    .map(partText)
    .filter((text) => text !== '')
    .join('\n');
}

function partText(part: MessagePart): string {
  return part.kind === 'call' ? `${part.name} ${part.arguments}` : part.text;
}
