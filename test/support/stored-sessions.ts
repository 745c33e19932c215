import { CODECS } from './codecs.ts';
import { chatTranscript, prose } from './chat.ts';

/** Transcripts of one format. */
export type StoredSession = {
  readonly format: string;
  /** Long enough for three chunks of 20 messages. */
  readonly first: string;
  /** What its producer appends afterwards, as much again. */
  readonly more: string;
};

const TURNS = 16;

const ALL: readonly StoredSession[] = [
  { format: 'chat-lines', first: chatTranscript(24), more: chatTranscript(24, 100) },
  { format: 'claude-code', first: claudeCodeTurns(0), more: claudeCodeTurns(TURNS) },
  { format: 'codex', first: codexHeader() + codexTurns(0), more: codexTurns(TURNS) },
];

/** One of each format that the program knows. */
export const STORED_SESSIONS = ALL.filter(({ format }) => CODECS.some((codec) => codec.format.name === format));

function toLines(records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

function timeOf(turn: number, second: number): string {
  return new Date(Date.UTC(2026, 4, 5, 9, turn, second)).toISOString();
}

/** Turns of a prompt, a call, its result and an answer, each record hanging on the one before it. */
function claudeCodeTurns(from: number): string {
  const idOf = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
  const records: object[] = [];
  for (let turn = from; turn < from + TURNS; turn += 1) {
    const call = { type: 'tool_use', id: `toolu_${turn}`, name: 'Read', input: { file_path: `/w/part-${turn}.ts` } };
    const result = { type: 'tool_result', tool_use_id: `toolu_${turn}`, content: prose(turn + 50, 90) };
    const messages = [
      { role: 'user', content: prose(turn) },
      { role: 'assistant', id: `msg_a${turn}`, type: 'message', content: [call] },
      { role: 'user', content: [result] },
      { role: 'assistant', id: `msg_b${turn}`, type: 'message', content: [{ type: 'text', text: prose(turn + 90) }] },
    ];
    for (const [second, message] of messages.entries()) {
      const at = turn * messages.length + second;
      records.push({
        parentUuid: at === 0 ? null : idOf(at - 1),
        isSidechain: false,
        userType: 'external',
        cwd: '/w',
        sessionId: 'stored-session',
        version: '2.1.197',
        gitBranch: 'main',
        type: message.role,
        message,
        uuid: idOf(at),
        timestamp: timeOf(turn, second),
      });
    }
  }
  return toLines(records);
}

function codexHeader(): string {
  const payload = { id: 'stored-thread', timestamp: timeOf(0, 0), cwd: '/w', originator: 'codex_cli_rs' };
  const version = { cli_version: '0.169.0', source: 'cli', instructions: null };
  return toLines([{ timestamp: timeOf(0, 0), type: 'session_meta', payload: { ...payload, ...version } }]);
}

/** Turns of settings, a prompt, a call, its output and an answer, with the events that mirror them. */
function codexTurns(from: number): string {
  const records: object[] = [];
  for (let turn = from; turn < from + TURNS; turn += 1) {
    const said = (role: string, text: string): object => {
      const type = role === 'assistant' ? 'output_text' : 'input_text';
      return { type: 'message', role, content: [{ type, text }] };
    };
    const callId = `call_${turn}`;
    const call = { type: 'function_call', name: 'shell', call_id: callId, arguments: '{"command":["ls"]}' };
    const rows: readonly (readonly [string, object])[] = [
      ['turn_context', { cwd: '/w', approval_policy: 'never', model: 'm' }],
      ['response_item', said('user', prose(turn))],
      ['event_msg', { type: 'user_message', message: prose(turn), images: [] }],
      ['response_item', call],
      ['response_item', { type: 'function_call_output', call_id: callId, output: prose(turn + 50, 90) }],
      ['response_item', said('assistant', prose(turn + 90))],
      ['event_msg', { type: 'agent_message', message: prose(turn + 90) }],
    ];
    for (const [second, [type, payload]] of rows.entries())
      records.push({ timestamp: timeOf(turn, second), type, payload });
  }
  return toLines(records);
}
