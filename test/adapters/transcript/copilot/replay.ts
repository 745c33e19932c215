import type { Json } from '../../../../src/ports/codec.ts';
import { type Fields } from '../reading.ts';

/** What Copilot has of a session when it has read it: what it sends, oldest first, and what it goes on with. */
export type Replay = {
  /** The text of the compaction that the history begins with, and the prompts that are told beside it; null: there is none. */
  readonly summary: string | null;
  readonly prompts: readonly string[];
  readonly sent: readonly Json[];
  /** What later events name, or Copilot looks up: the latest of each. */
  readonly settings: Fields;
};

type Said = { readonly role: 'user' | 'assistant' | 'tool'; readonly event: Fields; readonly ids: readonly string[] };

/**
 * As Copilot CLI 1.0.64 reads a file: event after event in the order of lines, whatever their parents are. A compaction replaces all messages
 * before its start, or before itself where none is told; the calls at that place go with results that came later.
 */
export function replay(values: readonly Json[]): Replay {
  let summary: string | null = null;
  let prompts: readonly string[] = [];
  let chat: readonly Said[] = [];
  let checkpoint: number | null = null;
  const typed: string[] = [];
  const settings: Record<string, Json> = {};
  for (const value of values) {
    const event: Fields = Object(value);
    const { type } = event;
    const data: Fields = Object(event['data']);
    const said = readSaid(event, data);
    if (said !== null) chat = [...chat, said];
    if (type === 'user.message' && !data['source']) typed.push(textOf(data['content']));
    if (type === 'session.compaction_start') checkpoint = chat.length;
    if (type === 'session.compaction_complete') {
      if (data['success'] === true && typeof data['summaryContent'] === 'string' && data['summaryContent'] !== '') {
        chat = chat.slice(splitAt(chat, checkpoint ?? chat.length));
        summary = data['summaryContent'];
        prompts = [...typed];
      }
      checkpoint = null;
    }
    const name = settingName(textOf(type), data);
    if (name !== null) settings[name] = event['data'] ?? null;
  }
  return { summary, prompts, sent: chat.map(({ event }) => event), settings };
}

function readSaid(event: Fields, data: Fields): Said | null {
  const isOfSubagent = Boolean(event['agentId'] ?? '') || Boolean(data['parentToolCallId'] ?? '');
  switch (event['type']) {
    case 'user.message':
    case 'system.notification':
      return { role: 'user', event, ids: [] };
    case 'assistant.message': {
      const requests: readonly Fields[] = Object(data['toolRequests'] ?? []);
      const ids = requests.map(({ toolCallId }) => textOf(toolCallId));
      return isOfSubagent ? null : { role: 'assistant', event, ids };
    }
    case 'tool.execution_complete':
      if (isOfSubagent) return null;
      return data['isUserRequested'] === true
        ? { role: 'user', event, ids: [] }
        : { role: 'tool', event, ids: [textOf(data['toolCallId'])] };
    default:
      return null;
  }
}

/** Where results come first behind the place, the answer before it goes with them. */
function splitAt(chat: readonly Said[], checkpoint: number): number {
  if (chat[checkpoint]?.role !== 'tool') return checkpoint;
  let at = checkpoint - 1;
  while (at > 0 && chat[at]?.role === 'tool') at -= 1;
  const { role, ids = [] } = chat[at] ?? {};
  return role === 'assistant' && ids.length > 0 ? at : checkpoint;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

function settingName(type: string, { assetId = '', id = '', role = '', name = '' }: Fields): string | null {
  switch (type) {
    case 'session.model_change':
    case 'session.mode_changed':
      return type;
    case 'session.binary_asset':
      return `asset ${textOf(assetId)}`;
    case 'session.schedule_created':
    case 'session.schedule_cancelled':
      return `schedule ${textOf(id)}`;
    case 'system.message':
      return `prompt ${textOf(role)}`;
    case 'skill.invoked':
      return `skill ${textOf(name)}`;
    default:
      return null;
  }
}
