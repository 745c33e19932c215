import type { MessagePart, ToolCall } from '../../../core/message.ts';
import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { readPartText } from '../part-text.ts';

/** What a message says: no thinking, no images. */
export type Content = {
  readonly parts: readonly MessagePart[];
  /** The parts as one text: text, calls as `name {json}`. */
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** A text that is not blank, or an image, stands in it. */
  readonly isShown: boolean;
};

/** @throws RangeError where a call's arguments are nested too deeply to be written as JSON. */
export function readContent(content: string | readonly Json[]): Content {
  const parts: MessagePart[] = [];
  const calls: ToolCall[] = [];
  let hasImage = false;
  for (const block of typeof content === 'string' ? [content] : content) {
    const type = isRecord(block) ? block['type'] : undefined;
    if (isRecord(block) && type === 'toolCall') {
      const call = readCall(block);
      if (call.id !== undefined) calls.push({ ...call, id: call.id });
      parts.push(callPart(call));
      continue;
    }
    if (type === 'image') hasImage = true;
    const text = readPartText(block);
    if (text !== '') parts.push({ kind: 'text', text });
  }
  const isShown = hasImage || parts.some((part) => part.kind === 'text' && part.text.trim() !== '');
  return { parts, text: textOf(parts), calls, isShown };
}

type Call = { readonly id: string | undefined; readonly name: string; readonly arguments: string };

function readCall(block: JsonRecord): Call {
  const args = block['arguments'] ?? {};
  return {
    id: stringAt(block, 'id'),
    name: stringAt(block, 'name') ?? '',
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
  };
}

/** A call without an id can never be answered: it is shown as text. */
function callPart({ id, name, arguments: args }: Call): MessagePart {
  return id === undefined ? { kind: 'text', text: `${name} ${args}` } : { kind: 'call', id, name, arguments: args };
}

function textOf(parts: readonly MessagePart[]): string {
  return parts.map((part) => (part.kind === 'call' ? `${part.name} ${part.arguments}` : part.text)).join('\n');
}

/** What a person ran in pi's own shell, as a text: the command, what it printed, and how it ended if not well. */
export function shellText(message: JsonRecord): string {
  const { exitCode, cancelled } = message;
  const failed = typeof exitCode === 'number' && exitCode !== 0;
  return [
    `$ ${stringAt(message, 'command') ?? ''}`,
    stringAt(message, 'output') ?? '',
    cancelled === true ? '(cancelled)' : failed ? `(exit code ${exitCode})` : '',
  ]
    .filter((text) => text !== '')
    .join('\n');
}

export function isContent(content: Json | undefined): content is string | readonly Json[] {
  return typeof content === 'string' || isList(content);
}
