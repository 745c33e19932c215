import { type Event, orderResults, type ResultOrder, timeAt } from './events.ts';

type Fields = Readonly<Record<string, unknown>>;

type Session = {
  readonly flavor: number;
  readonly lines: string[];
  lastId: string | null;
};

/** Sessions of Copilot CLI: subagents, commands of persons, settings, and compactions of its own, some of them while the work goes on. */
export function writeCopilot(events: readonly Event[], flavor: number): readonly string[] {
  const session: Session = { flavor, lines: [], lastId: null };
  const context = { cwd: '/home/me/app', branch: 'main' };
  add(session, 'session.start', { sessionId: 'session-1', version: 1, copilotVersion: '1.0.64', context });
  if (flavor % 3 === 0) add(session, 'session.model_change', { newModel: 'm' });
  for (const event of events) writeEvent(session, event);
  return session.lines;
}

function writeEvent(session: Session, event: Event): void {
  const n = session.lines.length;
  switch (event.kind) {
    case 'prompt':
      return add(session, 'user.message', { content: event.text, transformedContent: `<now/>\n\n${event.text}` });
    case 'answer':
      return answer(session, event.text);
    case 'thinking':
      return answer(session, '', { reasoningText: event.text });
    case 'instruction':
      return add(session, 'system.message', { role: n % 3 === 0 ? 'developer' : 'system', content: event.text });
    case 'queued':
      return add(session, 'user.message', { content: event.text, source: 'skill-x' });
    case 'tools':
      return writeTools(session, event);
    case 'side':
      return writeSide(session, event);
    case 'meta':
      return writeMeta(session, event.which);
    case 'compaction':
      return writeCompaction(session, event);
    case 'rewind':
      return add(session, 'abort', { reason: 'user_initiated' }); // a rewind leaves no trace in the file
  }
}

/** An event that hangs on the last one. */
function add(session: Session, type: string, data: Fields, more: Fields = {}): void {
  const { lines, flavor } = session;
  const id = `${(0xc0_00_00_00 + lines.length).toString(16)}-0000-4000-8000-${String(flavor).padStart(12, '0')}`;
  lines.push(JSON.stringify({ type, data, id, timestamp: timeAt(lines.length), parentId: session.lastId, ...more }));
  session.lastId = id;
}

function answer(session: Session, content: string, data: Fields = {}): void {
  const n = session.lines.length;
  add(session, 'assistant.message', { messageId: `m-${n}`, content, toolRequests: [], outputTokens: 9, ...data });
}

function writeTools(
  session: Session,
  { text, count, results }: { text: string; count: number; results: ResultOrder },
): void {
  const n = session.lines.length;
  const idOf = (call: number): string => `call_${n}_${call}`;
  const path = `src/part-${n}.ts`;
  const toolRequests = Array.from({ length: count }, (_, call) => ({
    toolCallId: idOf(call),
    name: 'view',
    arguments: { path },
  }));
  answer(session, n % 3 === 0 ? '' : 'Looking.', { toolRequests, apiCallId: `api-${n}` });
  for (const { toolCallId } of toolRequests) add(session, 'tool.execution_start', { toolCallId, toolName: 'view' });
  for (const call of orderResults(count, results)) {
    const outcome =
      call === 1 ? { success: false, error: { message: text } } : { success: true, result: { content: text } };
    add(session, 'tool.execution_complete', { toolCallId: idOf(call), ...outcome });
  }
}

/** A subagent's words, or a command that a person ran. */
function writeSide(session: Session, { text, count }: { text: string; count: number }): void {
  const toolCallId = `side_${session.lines.length}`;
  const result = { content: text };
  if (count > 1) {
    add(session, 'tool.user_requested', { toolCallId, toolName: 'bash', arguments: { command: 'ls' } });
    add(session, 'tool.execution_complete', { toolCallId, success: true, isUserRequested: true, result });
    return;
  }
  add(session, 'subagent.started', { toolCallId: 'task', agentName: 'x' });
  add(session, 'assistant.message', { messageId: 'm', content: text, parentToolCallId: 'task' }, { agentId: 'task' });
  add(session, 'tool.execution_complete', { toolCallId, success: true, result, parentToolCallId: 'task' });
}

function writeMeta(session: Session, which: number): void {
  const kinds: readonly (readonly [string, Fields])[] = [
    ['hook.start', { hookInvocationId: `h-${which}`, hookType: 'preToolUse' }],
    ['session.model_change', { newModel: `m-${which}` }],
    ['session.mode_changed', { newMode: 'plan' }],
    ['session.binary_asset', { assetId: `a-${which % 2}`, mimeType: 'image/png', data: 'AA' }],
    ['session.schedule_created', { id: which, prompt: 'look', intervalMs: 60_000 }],
    ['system.notification', { content: 'a shell has ended', kind: { type: 'shell_completed' } }],
    ['session.compaction_complete', { success: false, error: 'no answer' }],
    ['nobody.knows', { which }],
  ];
  const [type, data] = kinds[which % kinds.length] ?? ['nobody.knows', {}];
  add(session, type, data);
}

function writeCompaction(session: Session, { text, keeps }: { text: string; keeps: number }): void {
  if (keeps !== 3) add(session, 'session.compaction_start', {});
  if (keeps > 3) answer(session, 'Said while it was made.');
  add(session, 'session.compaction_complete', { success: true, preCompactionTokens: 1000, summaryContent: text });
}
