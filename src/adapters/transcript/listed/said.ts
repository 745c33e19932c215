import type { MessagePart, ToolCall } from '../../../core/message.ts';
import type { Json } from '../../../ports/json.ts';

/** The parts of a message as one text: text, calls as `name arguments`, text of results. */
export function textOfParts(parts: readonly MessagePart[]): string {
  return parts
    .map((part) => (part.kind === 'call' ? `${part.name} ${part.arguments}`.trim() : part.text))
    .filter((text) => text !== '')
    .join('\n');
}

/** The calls among the parts, as the message lists them; nothing where there is none. */
export function listCalls(parts: readonly MessagePart[]): { readonly tool_calls?: readonly ToolCall[] } {
  const calls = parts.flatMap((part) =>
    part.kind === 'call' ? [{ id: part.id, name: part.name, arguments: part.arguments }] : [],
  );
  return calls.length === 0 ? {} : { tool_calls: calls };
}

/**
 * Arguments of a call as JSON text, or the text that they are.
 * @throws RangeError where they are nested too deeply to be written.
 */
export function argumentText(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? {});
}
