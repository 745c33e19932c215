import type { Decoded } from '../../../core/transcript.ts';
import type { Codec, RawRecord, RecordSplitter, Records } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { createUnitSplitter, eolLengthOf, type Unit } from '../json-list/units.ts';
import { type JsonRecord, stringAt } from '../json.ts';
import { typedText } from '../message-parts.ts';
import { say } from '../said.ts';
import { createSession, notOurs } from '../session.ts';

const PROMPT = '#### ';
const REPORT = '> ';
const SESSION = '# aider chat started at ';

/** The key of a block's value that says what it is. */
const KIND_KEY = 'aider';

type BlockKind = 'user' | 'assistant' | 'tool' | 'session';

/** `.aider.chat.history.md`: Markdown, to which aider appends all that is said, session after session. */
export const aider: Codec = {
  format: FORMATS.aider,
  records: createBlockRecords(),
  detect: (sample) =>
    sample.some((value) => stringAt(value, KIND_KEY) !== undefined)
      ? { confidence: 1, reason: 'blocks of a chat history' }
      : notOurs('it does not begin with "# aider chat started at"'),
  open: () =>
    createSession({
      what: 'a block that is',
      read: (block, { line }) => readBlock(block, line),
      renderSummary: () => [], // never asked for, because the format is not compacted
    }),
};

/** A prompt, an answer, or what aider itself reported. */
function readBlock(block: JsonRecord, line: number): Decoded {
  const role = stringAt(block, KIND_KEY);
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') return { kind: 'meta' };
  const text = stringAt(block, 'text') ?? '';
  const said = { line, role, parts: [{ kind: 'text', text }] } as const;
  return role === 'user' ? say({ ...said, typed: typedText([text]) }, { isPrompt: true }) : say(said);
}

/**
 * The blocks of a chat history, by the rules of aider's `split_chat_history_markdown`: lines that begin with `#### ` are
 * a prompt, those with `> ` what aider reported, all others the answer. A blank line ends a prompt or a report. The
 * header of a session, and a blank line between blocks, is a record of its own.
 */
function createBlockRecords(): Records {
  return {
    open: createBlockSplitter,
    trim: (bytes) => bytes.subarray(0, bytes.length - eolLengthOf(bytes)),
    parse: (bytes) => {
      const text = new TextDecoder().decode(bytes);
      const kind = kindOf(text);
      return { ok: true, value: { [KIND_KEY]: kind, text: textOf(text, kind) } };
    },
  };
}

type Block = { readonly kind: BlockKind; readonly start: number; readonly lines: Uint8Array[] };

function createBlockSplitter(from: number): RecordSplitter {
  const units = createUnitSplitter('line', from);
  let line = 0;
  let block: Block | null = null;
  let blanks: { readonly start: number; readonly bytes: Uint8Array }[] = [];

  const toRecord = (start: number, bytes: Uint8Array): RawRecord => {
    line += 1;
    return { line, start, bytes, eolLength: eolLengthOf(bytes) };
  };
  function* finish(): Generator<RawRecord> {
    if (block !== null) yield toRecord(block.start, Buffer.concat(block.lines));
    for (const { start, bytes } of blanks) yield toRecord(start, bytes);
    block = null;
    blanks = [];
  }
  function* take(unit: Unit): Generator<RawRecord> {
    const bytes = Uint8Array.from(unit.bytes);
    const text = Buffer.from(bytes.subarray(0, 64)).toString('latin1');
    if (text.trim() === '' && bytes.length <= 64) {
      blanks.push({ start: unit.start, bytes });
      return;
    }
    const kind = kindOf(text);
    const goesOn = block?.kind === kind && kind !== 'session' && (kind === 'assistant' || blanks.length === 0);
    if (!goesOn) yield* finish();
    block ??= { kind, start: unit.start, lines: [] };
    block.lines.push(...blanks.map((blank) => blank.bytes), bytes);
    blanks = [];
  }
  return {
    add: function* add(piece) {
      for (const unit of units.add(piece)) yield* take(unit);
    },
    end: function* end() {
      for (const unit of units.end()) yield* take(unit);
      yield* finish();
    },
  };
}

function kindOf(line: string): BlockKind {
  if (line.startsWith(SESSION)) return 'session';
  if (line.startsWith(PROMPT)) return 'user';
  return line.startsWith(REPORT) ? 'tool' : 'assistant';
}

/** The text without the marks at the start of its lines, and without the two spaces that end them. */
function textOf(block: string, kind: BlockKind): string {
  const mark = kind === 'user' ? PROMPT : kind === 'tool' ? REPORT : '';
  if (mark === '') return block.trim();
  const lines = block.split('\n').map((line) => (line.startsWith(mark) ? line.slice(mark.length) : line).trimEnd());
  return lines.join('\n').trim();
}
