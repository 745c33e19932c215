import { closeSync, openSync, writeSync } from 'node:fs';
import { createWriter, type Writer } from './prose.ts';

const FLUSH_CHARS = 1024 * 1024;
const FLUSH_LINES = 2000;
const START = Date.UTC(2026, 0, 1);

/** How many different results tools give. */
const RESULTS = 600;

/** Writes records, one a line, until the file has this size. */
function writeLines(path: string, sizeBytes: number, records: Iterator<object>): void {
  const fd = openSync(path, 'w');
  let waiting = '';
  for (let written = 0; written < sizeBytes;) {
    waiting += `${JSON.stringify(records.next().value)}\n`;
    if (waiting.length < FLUSH_CHARS && written + waiting.length < sizeBytes) continue;
    written += writeSync(fd, waiting);
    waiting = '';
  }
  closeSync(fd);
}

export type Input = {
  /** A session like one of Claude Code: a prompt, then turns of tool calls with results of 1 to 50 KB, about as often as people type. */
  readonly writeClaudeCode: (path: string, sizeBytes: number) => void;
  /** Chat lines with ids and times; short, so that there are many. */
  readonly writeChat: (path: string, sizeBytes: number) => void;
  /** A file of exactly `count` chat messages. */
  readonly writeMessages: (path: string, count: number) => void;
};

/** Writes made-up transcripts, each different from the ones before; the same seed and calls give the same files. */
export function createInput(seed: number): Input {
  const writer = createWriter(seed);
  // Made once: making a gigabyte of them would take longer than all that is measured.
  const results = Array.from({ length: RESULTS }, () =>
    writer.code(Math.round(1000 * 50 ** (writer.below(1000) / 1000))),
  );
  let sessions = 0;
  return {
    writeClaudeCode(path, sizeBytes) {
      sessions += 1;
      writeLines(path, sizeBytes, claudeCodeRecords({ writer, results, session: sessions }));
    },
    writeChat: (path, sizeBytes) => writeLines(path, sizeBytes, chatRecords(writer)),
    writeMessages: (path, count) => writeMessages(path, count, chatRecords(writer)),
  };
}

function writeMessages(path: string, count: number, records: Iterator<object>): void {
  const fd = openSync(path, 'w');
  for (let left = count; left > 0; left -= FLUSH_LINES) {
    const lines = Array.from({ length: Math.min(left, FLUSH_LINES) }, () => JSON.stringify(records.next().value));
    writeSync(fd, `${lines.join('\n')}\n`);
  }
  closeSync(fd);
}

function* chatRecords(writer: Writer): Generator<object, never> {
  for (let turn = 0; ; turn += 1) {
    const role = turn % 2 === 0 ? 'user' : 'assistant';
    const content = writer.paragraph(1 + writer.below(role === 'user' ? 4 : 12));
    yield { role, content, id: `msg-${turn}`, created_at: new Date(START + turn * 60_000).toISOString() };
  }
}

type Session = { readonly writer: Writer; readonly results: readonly string[]; readonly session: number };

function* claudeCodeRecords({ writer, results, session }: Session): Generator<object, never> {
  const inHex = session.toString(16).padStart(4, '0');
  let serial = 0;
  let parentUuid: string | null = null;
  const envelope = (type: 'user' | 'assistant'): { readonly uuid: string; readonly [key: string]: unknown } => {
    serial += 1;
    const uuid = `${serial.toString(16).padStart(8, '0')}-${inHex}-4d7e-9a51-3c2b1a0f9e8d`;
    const common = { isSidechain: false, userType: 'external', cwd: '/home/ada/work/engine', version: '2.1.40' };
    const rest = { sessionId: `7c1e5b7a-${inHex}-4b53-9b7c-2f6f1f0a1b2c`, gitBranch: 'main' };
    const record = {
      parentUuid,
      ...common,
      ...rest,
      type,
      uuid,
      timestamp: new Date(START + serial * 7000).toISOString(),
    };
    parentUuid = uuid;
    return record;
  };
  const answer = (content: object): object => ({
    ...envelope('assistant'),
    requestId: `req_${serial}`,
    message: {
      id: `msg_${inHex}${serial}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-1',
      content: [content],
      stop_reason: null,
      usage: { input_tokens: 4, cache_read_input_tokens: 91_000 + serial, output_tokens: 210 },
    },
  });
  for (;;) {
    yield { ...envelope('user'), message: { role: 'user', content: writer.paragraph(1 + writer.below(6)) } };
    for (let left = 3 + writer.below(12); left > 0; left -= 1) {
      if (writer.below(2) === 0) yield answer({ type: 'text', text: writer.paragraph(1 + writer.below(5)) });
      if (writer.below(3) === 0) yield answer({ type: 'thinking', thinking: writer.paragraph(8), signature: 'c2ln' });
      const id = `toolu_${inHex}${serial.toString(36).padStart(20, '0')}`;
      const file = writer.path();
      yield answer({ type: 'tool_use', id, name: 'Read', input: { file_path: file, limit: writer.below(2000) } });
      const text = `${file}\n${results[writer.below(RESULTS)] ?? ''}\n${writer.sentence()}`;
      yield {
        ...envelope('user'),
        message: { role: 'user', content: [{ tool_use_id: id, type: 'tool_result', content: text }] },
        toolUseResult: { type: 'text', file: { filePath: file, numLines: writer.below(2000) } },
      };
    }
    yield answer({ type: 'text', text: writer.paragraph(3 + writer.below(8)) });
  }
}
