import { type Event, orderResults, type ResultOrder, timeAt } from './events.ts';

type Fields = Readonly<Record<string, unknown>>;

type Session = {
  readonly lines: string[];
  /** Ids of the main thread's records, in order. */
  readonly thread: string[];
  tip: string | null;
};

/** Session files of Claude Code: answers split over records, parallel tools, side threads, rewinds, compactions of its own. */
export function writeClaudeCode(events: readonly Event[], flavor: number): readonly string[] {
  const session: Session = { lines: [], thread: [], tip: null };
  if (flavor % 3 === 1) writeMeta(session, 0);
  for (const event of events) writeEvent(session, event, flavor);
  return session.lines;
}

function writeEvent(session: Session, event: Event, flavor: number): void {
  const n = session.lines.length;
  switch (event.kind) {
    case 'prompt':
      return link(session, 'user', { message: { role: 'user', content: asContent(event.text, n + flavor) } });
    case 'answer':
      return link(session, 'assistant', answerOf(n, [{ type: 'text', text: event.text }]));
    case 'thinking':
      return link(session, 'assistant', answerOf(n, [{ type: 'thinking', thinking: event.text, signature: 's' }]));
    case 'instruction':
      return link(session, 'user', { isMeta: true, message: { role: 'user', content: event.text } });
    case 'queued':
      return link(session, 'attachment', { attachment: { type: 'queued_command', prompt: event.text } });
    case 'tools':
      return writeTools(session, event);
    case 'side':
      return writeSide(session, event);
    case 'meta':
      return writeMeta(session, event.which);
    case 'compaction':
      return writeCompaction(session, event);
    case 'rewind':
      session.tip = session.thread.at(-event.back) ?? null;
  }
}

/** A record that hangs on the last one of the main thread, and becomes it. */
function link(session: Session, type: string, fields: Fields): void {
  const uuid = idOf(session.lines.length);
  write(session, type, { parentUuid: session.tip, ...fields, uuid });
  session.tip = uuid;
  session.thread.push(uuid);
}

function write({ lines }: Session, type: string, fields: Fields): void {
  const base = { parentUuid: null, isSidechain: false, userType: 'external', cwd: '/home/me/app', sessionId: 's-1' };
  const version = { version: '2.1.90', gitBranch: 'main' };
  lines.push(JSON.stringify({ ...base, ...version, type, ...fields, timestamp: timeAt(lines.length) }));
}

function writeTools(
  session: Session,
  { text, count, results }: { text: string; count: number; results: ResultOrder },
): void {
  const n = session.lines.length;
  link(session, 'assistant', answerOf(n, [{ type: 'text', text: 'Looking.' }]));
  const callers = Array.from({ length: count }, (_, call) => {
    const block = {
      type: 'tool_use',
      id: `toolu_${n}_${call}`,
      name: 'Read',
      input: { path: `src/part-${n}.ts`, call },
    };
    link(session, 'assistant', answerOf(n, [block]));
    return session.tip;
  });
  for (const call of orderResults(count, results)) {
    const block = {
      type: 'tool_result',
      tool_use_id: `toolu_${n}_${call}`,
      content: call === 1 ? [{ type: 'text', text }] : text,
    };
    session.tip = callers[call] ?? session.tip;
    link(session, 'user', { message: { role: 'user', content: [block] }, toolUseResult: { stdout: text } });
  }
}

function writeSide(session: Session, { text, count }: { text: string; count: number }): void {
  let parentUuid: string | null = null;
  for (let step = 0; step < count; step += 1) {
    const uuid = idOf(session.lines.length);
    const message = {
      role: step % 2 === 0 ? 'user' : 'assistant',
      content: step % 2 === 0 ? text : [{ type: 'text', text }],
    };
    write(session, step % 2 === 0 ? 'user' : 'assistant', { parentUuid, isSidechain: true, message, uuid });
    parentUuid = uuid;
  }
}

function writeMeta(session: Session, which: number): void {
  const { lines, tip } = session;
  const loose: readonly Fields[] = [
    { type: 'file-history-snapshot', messageId: tip, snapshot: { trackedFileBackups: {} }, isSnapshotUpdate: false },
    { type: 'custom-title', customTitle: `title ${which}`, sessionId: 's-1' },
    { type: 'mode', mode: 'normal', sessionId: 's-1' },
    { type: 'summary', summary: 'An older title', leafUuid: tip ?? 'gone' },
    {
      type: 'queue-operation',
      operation: 'enqueue',
      content: 'later',
      sessionId: 's-1',
      timestamp: timeAt(lines.length),
    },
    { type: 'nobody-knows', value: which },
  ];
  const meta = loose[which % (loose.length + 3)];
  if (meta !== undefined) lines.push(JSON.stringify(meta));
  else if (which % 2 === 0) link(session, 'progress', { data: { type: 'bash_progress', output: 'half' } });
  else link(session, 'system', { subtype: 'turn_duration', durationMs: which });
}

function writeCompaction(session: Session, { text, keeps }: { text: string; keeps: number }): void {
  const { thread } = session;
  const headUuid = thread.at(-keeps);
  const tailUuid = thread.at(-1);
  const boundary = idOf(session.lines.length);
  const anchorUuid = idOf(session.lines.length + 1);
  const segment = keeps === 0 || headUuid === undefined ? {} : { preservedSegment: { headUuid, anchorUuid, tailUuid } };
  write(session, 'system', {
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    logicalParentUuid: session.tip,
    uuid: boundary,
    compactMetadata: { trigger: 'auto', preTokens: 1000, ...segment },
  });
  write(session, 'user', {
    parentUuid: boundary,
    message: { role: 'user', content: `This session is being continued. ${text}` },
    isCompactSummary: true,
    isVisibleInTranscriptOnly: true,
    uuid: anchorUuid,
  });
  session.tip = 'preservedSegment' in segment ? (tailUuid ?? anchorUuid) : anchorUuid;
}

function answerOf(n: number, content: readonly Fields[]): Fields {
  const usage = { input_tokens: 9, cache_read_input_tokens: 150_000, output_tokens: 5 };
  return {
    requestId: `req_${n}`,
    message: { id: `msg_${n}`, type: 'message', role: 'assistant', model: 'm', content, usage },
  };
}

function asContent(text: string, n: number): unknown {
  return n % 4 === 0 ? [{ type: 'text', text }] : text;
}

function idOf(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}
