import type { Decoded } from '../../../core/transcript.ts';
import type { Json, RecordProblem } from '../../../ports/codec.ts';
import { refuseDeepNesting } from '../deep-nesting.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';
import { readIsoTime } from '../time.ts';
import { decodeCompaction } from './compaction.ts';
import { textsOf } from './content.ts';
import { readEvent } from './event.ts';
import { decodeItem, type ItemPlace } from './item.ts';

/** What a record of a rollout is, whatever stands before it. An unknown type is carried; a known one without its payload is a problem. */
export function decodeRecord(value: Json, line: number): Decoded | RecordProblem {
  if (!isRecord(value)) return { kind: 'meta' };
  const type = stringAt(value, 'type') ?? '';
  const { payload } = value;
  const decode = DECODERS.get(type);
  if (decode === undefined) return { kind: 'meta' };
  if (!isRecord(payload)) return { problem: `a ${type} record without a payload` };
  return refuseDeepNesting('an item that is', () => decode(payload, { line, at: readIsoTime(value['timestamp']) }));
}

type Decoder = (payload: JsonRecord, place: ItemPlace) => Decoded | RecordProblem;

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['response_item', decodeItem],
  ['compacted', decodeCompaction],
  ['event_msg', readEvent],
  ['turn_context', () => ({ kind: 'meta', pin: 'turn_context', attachedTo: { kind: 'next' } })],
  ['inter_agent_communication', decodeCommunication],
  ['inter_agent_communication_metadata', () => ({ kind: 'meta', attachedTo: { kind: 'next' } })],
]);

/** Words of another agent, which Codex sends to the model like a person's. */
function decodeCommunication(payload: JsonRecord, { line, at }: ItemPlace): Decoded {
  const content = textsOf(payload['content']).join('\n');
  const author = stringAt(payload, 'author');
  return {
    kind: 'message',
    turnPart: 'opens',
    message: {
      id: stringAt(payload, 'id') ?? `line:${line}`,
      conversation_id: '',
      role: 'user',
      ...(author !== undefined && { name: author }),
      content,
      created_at: at,
      parts: [{ kind: 'text', text: content }],
    },
  };
}
