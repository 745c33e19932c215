import { type Event, orderResults, type ResultOrder, timeAt } from './events.ts';

type Fields = Readonly<Record<string, unknown>>;

type Session = {
  readonly version: number;
  readonly lines: string[];
  /** Ids of the thread's entries, in order; in version 1 their numbers. */
  readonly thread: string[];
  tip: string | null;
};

/** Sessions of pi in all three versions: branches, branch summaries, shell commands, extensions' entries, compactions of its own. */
export function writePi(events: readonly Event[], flavor: number): readonly string[] {
  const version = flavor % 4 === 1 ? 1 : flavor % 4 === 2 ? 2 : 3;
  const session: Session = { version, lines: [], thread: [], tip: null };
  const header = { id: 'session-1', timestamp: timeAt(0), cwd: '/home/me/app' };
  session.lines.push(JSON.stringify({ type: 'session', ...(version > 1 && { version }), ...header }));
  if (flavor % 3 === 0) link(session, 'thinking_level_change', { thinkingLevel: 'high' });
  for (const event of events) writeEvent(session, event);
  return session.lines;
}

function writeEvent(session: Session, event: Event): void {
  const n = session.lines.length;
  switch (event.kind) {
    case 'prompt':
      return say(session, { role: 'user', content: n % 4 === 0 ? event.text : [{ type: 'text', text: event.text }] });
    case 'answer':
      return say(session, answerOf([{ type: 'text', text: event.text }]));
    case 'thinking':
      return say(session, answerOf([{ type: 'thinking', thinking: event.text }]));
    case 'instruction':
      return say(session, {
        role: session.version < 3 ? 'hookMessage' : 'custom',
        customType: 'x',
        content: event.text,
      });
    case 'queued':
      return link(session, 'custom_message', { customType: 'x', content: event.text, display: true });
    case 'tools':
      return writeTools(session, event);
    case 'side':
      return say(session, {
        role: 'bashExecution',
        command: 'ls',
        output: event.text,
        excludeFromContext: event.count > 1,
      });
    case 'meta':
      return writeMeta(session, event.which);
    case 'compaction':
      return writeCompaction(session, event);
    case 'rewind':
      session.tip = session.thread.at(-event.back) ?? null;
      if (n % 2 === 0)
        link(session, 'branch_summary', { fromId: session.thread.at(-1) ?? 'root', summary: 'gave it up' });
  }
}

/** An entry that hangs on the last one, and becomes it. */
function link(session: Session, type: string, fields: Fields): void {
  const { lines, version, tip } = session;
  const id = (0xc0_00_00_00 + lines.length).toString(16);
  const chain = version === 1 ? {} : { id, parentId: tip };
  session.thread.push(version === 1 ? String(lines.length) : id);
  lines.push(JSON.stringify({ type, ...chain, timestamp: timeAt(lines.length), ...fields }));
  session.tip = id;
}

function say(session: Session, message: Fields): void {
  link(session, 'message', { message: { ...message, timestamp: Date.parse(timeAt(session.lines.length)) } });
}

function answerOf(content: readonly Fields[]): Fields {
  const usage = { input: 9, output: 5, cacheRead: 150_000, cacheWrite: 0, totalTokens: 150_014 };
  return { role: 'assistant', content, provider: 'p', model: 'm', usage, stopReason: 'stop' };
}

function writeTools(
  session: Session,
  { text, count, results }: { text: string; count: number; results: ResultOrder },
): void {
  const n = session.lines.length;
  const idOf = (call: number): string => `call_${n}_${call}`;
  const calls = Array.from({ length: count }, (_, call) => ({
    type: 'toolCall',
    id: idOf(call),
    name: 'read',
    arguments: { path: `src/part-${n}.ts` },
  }));
  say(session, answerOf([{ type: 'text', text: 'Looking.' }, ...calls]));
  for (const call of orderResults(count, results)) {
    const content = [
      { type: 'text', text },
      ...(call === 1 ? [{ type: 'image', data: 'AA', mimeType: 'image/png' }] : []),
    ];
    say(session, { role: 'toolResult', toolCallId: idOf(call), toolName: 'read', content, isError: false });
  }
}

function writeMeta(session: Session, which: number): void {
  const kinds: readonly (readonly [string, Fields])[] = [
    ['thinking_level_change', { thinkingLevel: which % 2 === 0 ? 'off' : 'low' }],
    ['model_change', { provider: 'p', modelId: `m-${which}` }],
    ['session_info', { name: `name ${which}` }],
    ['label', { targetId: session.tip ?? 'gone', label: 'here' }],
    ['custom', { customType: `x-${which % 2}`, data: { which } }],
    ['nobody_knows', { which }],
  ];
  const [type, fields] = kinds[which % kinds.length] ?? ['nobody_knows', {}];
  link(session, type, fields);
}

function writeCompaction(session: Session, { text, keeps }: { text: string; keeps: number }): void {
  const kept = session.thread.at(-keeps - 1);
  const place =
    session.version === 1 ? { firstKeptEntryIndex: Number(kept ?? 0) } : { firstKeptEntryId: kept ?? 'gone' };
  link(session, 'compaction', { summary: text, ...place, tokensBefore: 1000 });
}
