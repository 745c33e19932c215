import type { Attachment, EntryFacts } from '../../../core/transcript.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';
import { textsOf } from './content.ts';
import { wordsKey } from './words-key.ts';

/** Events of which the latest says how the thread is called, set up or what it is for. */
const PINNED = new Set(['thread_name_updated', 'thread_settings_applied', 'thread_goal_updated']);

const TURN_BEGINS = new Set(['task_started', 'turn_started']);
const TURN_ENDS = new Set(['task_complete', 'turn_complete', 'turn_aborted']);

/** What an event is: a mirror of an item for the screen, the beginning or end of a turn, or a record of its own. None is a message. */
export function readEvent(event: JsonRecord): EntryFacts {
  const type = stringAt(event, 'type') ?? '';
  if (type === 'token_count') return { kind: 'meta', ...(isRecord(event['info']) && { statesContextSize: true }) };
  if (type === 'thread_rolled_back') return { kind: 'meta', turnsTakenBack: countAt(event, 'num_turns') };
  if (PINNED.has(type)) return { kind: 'meta', pin: type };
  const attachedTo = attachmentOf(event, type);
  return { kind: 'meta', ...(attachedTo !== null && { attachedTo }) };
}

function attachmentOf(event: JsonRecord, type: string): Attachment | null {
  if (TURN_BEGINS.has(type)) return { kind: 'turn' };
  if (TURN_ENDS.has(type)) return { kind: 'last' };
  if (type.startsWith('agent_reasoning')) return { kind: 'answer' };
  if (type === 'user_message') return words('user', stringAt(event, 'message') ?? '');
  if (type === 'agent_message') return words('assistant', stringAt(event, 'message') ?? '');
  const { item } = event;
  if (isRecord(item)) return attachmentOfItem(item);
  const id = stringAt(event, 'call_id');
  return id === undefined ? null : { kind: 'call', id };
}

/** Newer versions mirror every item in one way: `item_completed {item: {type, id, …}}`. */
function attachmentOfItem(item: JsonRecord): Attachment | null {
  const type = stringAt(item, 'type') ?? '';
  if (type === 'UserMessage') return words('user', textsOf(item['content']).join('\n'));
  if (type === 'AgentMessage') return words('assistant', textsOf(item['content']).join('\n'));
  if (type === 'Reasoning') return { kind: 'answer' };
  const id = stringAt(item, 'call_id') ?? stringAt(item, 'id');
  return id === undefined ? null : { kind: 'call', id };
}

function words(role: string, text: string): Attachment {
  return { kind: 'words', key: wordsKey(role, text) };
}

function countAt(record: JsonRecord, key: string): number {
  const value = record[key];
  return typeof value === 'number' && value > 0 ? Math.floor(value) : 0;
}
