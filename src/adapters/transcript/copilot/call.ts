import type { MessagePart } from '../../../core/message.ts';
import type { Json } from '../../../ports/codec.ts';
import { isList, isRecord, stringAt } from '../json.ts';

/** A call; its arguments are JSON, or the text that a tool takes as it is. */
type Call = { readonly id: string; readonly name: string; readonly arguments: string };

/**
 * The calls that an answer asks for.
 * @throws RangeError where arguments are nested too deeply to be written as JSON.
 */
export function readCalls(requests: Json | undefined): readonly Call[] {
  return (isList(requests) ? requests : []).flatMap((request): readonly Call[] => {
    if (!isRecord(request)) return [];
    const id = stringAt(request, 'toolCallId');
    const args = request['arguments'] ?? {};
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    return id === undefined ? [] : [{ id, name: stringAt(request, 'name') ?? '', arguments: text }];
  });
}

/** A text and calls as the parts of a message, and as one text. */
export function partsOf(text: string, calls: readonly Call[]): readonly MessagePart[] {
  const said: readonly MessagePart[] = text === '' ? [] : [{ kind: 'text', text }];
  return [...said, ...calls.map((call): MessagePart => ({ kind: 'call', ...call }))];
}

export function textOf(text: string, calls: readonly Call[]): string {
  const written = calls.map(({ name, arguments: args }) => `${name} ${args}`);
  return (text === '' ? written : [text, ...written]).join('\n');
}
