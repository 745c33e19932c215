import { type Event, orderResults, type ResultOrder, timeAt } from './events.ts';

type Item = Readonly<Record<string, unknown>>;

/** Rollouts of Codex: a header, items and what mirrors them, settings of each turn, compactions and turns that were taken back. */
export function writeCodex(events: readonly Event[], flavor: number): readonly string[] {
  const lines: string[] = [];
  const isPaginated = flavor % 4 === 3;
  const write = (type: string, payload: Item): void => {
    const ordinal = isPaginated ? { ordinal: lines.length } : {};
    lines.push(JSON.stringify({ timestamp: timeAt(lines.length), ...ordinal, type, payload }));
  };
  const item = (payload: Item): void => write('response_item', payload);
  writeHeader(write, { id: 'thread-1', isPaginated });
  events.forEach((event, at) => {
    switch (event.kind) {
      case 'prompt':
        if (flavor % 2 === 0) write('event_msg', { type: 'task_started', turn_id: `turn-${at}` });
        write('turn_context', { cwd: '/home/me/app', model: 'm', approval_policy: 'never', turn: at });
        item(messageItem('user', event.text));
        return write('event_msg', { type: 'user_message', message: event.text, images: [] });
      case 'answer':
        item(messageItem('assistant', event.text));
        write('event_msg', { type: 'agent_message', message: event.text });
        return write('event_msg', { type: 'token_count', info: { total_token_usage: { total_tokens: 190_000 } } });
      case 'tools':
        return callItems(event, at).forEach(item);
      case 'compaction': {
        const kept = Array.from({ length: event.keeps }, () => messageItem('user', event.text));
        const history = flavor % 5 === 0 ? {} : { replacement_history: [...kept, messageItem('user', 'go on')] };
        write('compacted', { message: event.text, ...history });
        return write('event_msg', { type: 'context_compacted' });
      }
      case 'rewind':
        return write('event_msg', { type: 'thread_rolled_back', num_turns: event.back });
      case 'meta':
        return writeMeta(write, event.which);
      default:
        return otherItem(event).forEach(item);
    }
  });
  return lines;
}

/** The same items bare, as older rollouts and logs of requests have them; some with the older header. */
export function writeResponsesItems(events: readonly Event[], flavor: number): readonly string[] {
  const header = { id: 'thread-1', timestamp: timeAt(0), instructions: null, git: {} };
  const items = events.flatMap((event, at): readonly Item[] => {
    switch (event.kind) {
      case 'prompt':
        return [messageItem('user', event.text)];
      case 'answer':
        return [messageItem('assistant', event.text)];
      case 'tools':
        return callItems(event, at);
      case 'meta':
        return [{ record_type: 'state' }];
      default:
        return otherItem(event);
    }
  });
  return [...(flavor % 2 === 0 ? [header] : []), ...items].map((one) => JSON.stringify(one));
}

type Write = (type: string, payload: Item) => void;

function writeHeader(write: Write, { id, isPaginated }: { readonly id: string; readonly isPaginated: boolean }): void {
  const mode = isPaginated ? { history_mode: 'paginated' } : {};
  const version = { originator: 'codex_cli', cli_version: '0.169.0', source: 'cli', model_provider: 'p' };
  write('session_meta', { id, timestamp: timeAt(0), cwd: '/home/me/app', ...version, instructions: null, ...mode });
}

function writeMeta(write: Write, which: number): void {
  if (which % 4 === 0) return writeHeader(write, { id: `fork-${which}`, isPaginated: false });
  if (which % 4 === 1) return write('event_msg', { type: 'turn_aborted', reason: 'interrupted' });
  if (which % 4 === 2) return write('world_state', { which });
  return write('nobody_knows', { which });
}

function messageItem(role: string, text: string): Item {
  return { type: 'message', role, content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }] };
}

function callItems(event: { text: string; count: number; results: ResultOrder }, at: number): readonly Item[] {
  const isCustom = at % 3 === 0;
  const kind = isCustom ? 'custom_tool_call' : 'function_call';
  const calls = Array.from({ length: event.count }, (_, call) => ({
    type: kind,
    name: 'shell',
    call_id: `call_${at}_${call}`,
    ...(isCustom ? { input: 'patch' } : { arguments: '{"command":["ls"]}' }),
  }));
  const results = orderResults(event.count, event.results).map((call) => ({
    type: `${kind}_output`,
    call_id: `call_${at}_${call}`,
    output: call === 1 ? [{ type: 'input_text', text: event.text }] : event.text,
  }));
  return [...calls, ...results];
}

function otherItem(event: Event): readonly Item[] {
  if (event.kind === 'instruction') return [messageItem('developer', event.text)];
  if (event.kind === 'queued') return [{ type: 'ghost_snapshot', commit: 'c' }];
  return [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'thinking' }], encrypted_content: 'AAAA' }];
}
