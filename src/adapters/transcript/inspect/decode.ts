import type { Json } from '../../../ports/codec.ts';
import { idAt, isList, isRecord, type JsonRecord, stringAt } from '../json.ts';

/**
 * What a record is to the others of its sample. call: an event for the message or call under `of`. sandbox: an event
 * during such a call. event: any other. packed: bytes of the .eval file that this sample was packed in.
 */
export type RecordNote =
  | { readonly kind: 'message'; readonly id: string }
  | { readonly kind: 'call'; readonly of: string }
  | { readonly kind: 'sandbox' | 'event' | 'packed' };

export function isEvent(value: JsonRecord): boolean {
  return !('role' in value) && 'event' in value;
}

/** How `adapters/fs/eval-log.ts` gives the packed bytes of a sample. */
export function isPacked(value: JsonRecord): boolean {
  return !('role' in value) && typeof value['packed'] === 'string';
}

export function readNote(value: Json): RecordNote | null {
  if (!isRecord(value)) return null;
  if (isPacked(value)) return { kind: value['packed'] === '' ? 'event' : 'packed' };
  if (!isEvent(value)) {
    const id = idAt(value, 'id');
    return id === undefined ? null : { kind: 'message', id };
  }
  const { event } = value;
  if (event === 'sandbox') return { kind: 'sandbox' };
  if (event === 'tool') return { kind: 'call', of: `call ${idAt(value, 'id') ?? ''}` };
  return event === 'model' ? { kind: 'call', of: `message ${answerId(value) ?? ''}` } : { kind: 'event' };
}

/** The id of the message that a call of a model gave. */
function answerId({ output }: JsonRecord): string | undefined {
  const choices = isRecord(output) ? output['choices'] : undefined;
  const first = isList(choices) ? choices[0] : undefined;
  const message = isRecord(first) ? first['message'] : undefined;
  return isRecord(message) ? idAt(message, 'id') : undefined;
}

/** A message of Inspect as a chat message: its calls have other names, and texts may be among the attachments. */
export function toChat(value: Json, attachments: JsonRecord): Json {
  if (!isRecord(value)) return value;
  const { tool_calls: calls, error } = value;
  const content = readAttached(value['content'], attachments);
  const isEmpty = content === undefined || content === null || content === '';
  const failure = isRecord(error) ? (stringAt(error, 'message') ?? '') : '';
  return {
    ...value,
    ...(content !== undefined && { content: isList(content) ? content.flatMap(splitServerTool) : content }),
    ...(isEmpty && failure !== '' && { content: failure }),
    ...(isList(calls) && { tool_calls: calls.map(toCall) }),
  };
}

const ATTACHMENT = 'attachment://';

/** A text of more than 100 characters may be stored once, beside the messages. */
function readAttached(content: Json | undefined, attachments: JsonRecord): Json | undefined {
  if (typeof content === 'string') {
    return content.startsWith(ATTACHMENT)
      ? (stringAt(attachments, content.slice(ATTACHMENT.length)) ?? content)
      : content;
  }
  if (!isList(content)) return content;
  return content.map((part): Json => {
    if (!isRecord(part) || part['type'] !== 'text') return part;
    return { ...part, text: readAttached(part['text'], attachments) ?? null };
  });
}

/** A tool that the model's server ran: its call and its result are one part of the answer. */
function splitServerTool(part: Json): readonly Json[] {
  if (!isRecord(part) || part['type'] !== 'tool_use') return [part];
  const { id = null, name = null, arguments: input = null, result, error } = part;
  const call = { type: 'tool_use', id, name, input };
  const content = result ?? error ?? null;
  return content === null ? [call] : [call, { type: 'tool_result', tool_use_id: id, content }];
}

function toCall(call: Json): Json {
  if (!isRecord(call) || typeof call['function'] !== 'string') return call;
  return { id: call['id'] ?? null, name: call['function'], arguments: call['arguments'] ?? {} };
}
