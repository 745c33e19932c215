import { countOf } from '../../../core/tokens.ts';
import type { Decoded, Entry } from '../../../core/transcript.ts';
import type {
  Codec,
  CodecSession,
  ContextView,
  Detection,
  Json,
  Place,
  RecordProblem,
  SummaryInput,
} from '../../../ports/codec.ts';
import { createConversationSession } from '../conversations/codec.ts';
import { createListRecords } from '../json-list/records.ts';
import { isList, isRecord, type JsonRecord, readMilliseconds, stringAt } from '../json.ts';
import { leadingSummaryLine, withTyped } from '../message-parts.ts';
import { readRuleText, readTyped } from './decode.ts';

/** Where VS Code and editors made from it keep the data of extensions, on Linux, macOS, Windows and remote machines. */
const EDITORS: readonly Pick<Place, 'variable' | 'base' | 'folder'>[] = [
  { variable: 'XDG_CONFIG_HOME', base: '.config', folder: '*/User/globalStorage' },
  { base: 'Library/Application Support', folder: '*/User/globalStorage' },
  { variable: 'APPDATA', base: 'AppData/Roaming', folder: '*/User/globalStorage' },
  { base: '.vscode-server', folder: 'data/User/globalStorage' },
];
const EXTENSIONS = ['saoudrizwan.claude-dev', 'rooveterinaryinc.roo-cline'];

/** The histories that Cline and Roo Code send to a model: `api_conversation_history.json`, and `*.messages.json` of newer Clines. */
export const cline: Codec = {
  format: {
    name: 'cline',
    title: 'task of Cline or Roo Code',
    summary:
      'tasks of Cline (api_conversation_history.json, *.messages.json in ~/.cline/data/sessions) and Roo Code (api_conversation_history.json)',
    checked:
      'read in tests by the rules with which Roo Code and Cline load a task; the programs themselves need an editor',
    places: [
      ...EDITORS.flatMap(({ folder, ...editor }) =>
        EXTENSIONS.map((extension) => ({
          ...editor,
          folder: `${folder}/${extension}/tasks`,
          file: 'api_conversation_history.json',
        })),
      ),
      { variable: 'CLINE_DATA_DIR', base: '.cline/data', folder: 'tasks', file: 'api_conversation_history.json' },
      { variable: 'CLINE_DATA_DIR', base: '.cline/data', folder: 'sessions', file: '*.messages.json' },
    ],
    // The roles take turns: an older message that survives would break the order, so it is quoted in the summary.
    marksTyped: true,
    layout: { kind: 'document', links: 'parents' },
  },
  records: createListRecords({ unit: 'file', kind: 'list', keys: ['messages'], orItself: true }),
  formsOf,
  detect: ([beginning = null]) => detectCline(beginning),
  open: createSession,
};

/**
 * Roo Code marks messages that a summary or a marker of its own hides. A task that is taken up again goes on in the last message if a person
 * or a tool said it: both programs write that message anew, with its text as a block, a new time, and new details of the environment.
 */
function formsOf(element: Json): readonly Json[] {
  if (!isRecord(element)) return [element];
  const { condenseParent: _condensed, truncationParent: _truncated, ...stored } = element;
  const { ts: _, content = null, ...message } = stored;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (message['role'] !== 'user' || !isList(blocks)) return [stored];
  const lasting = blocks.filter((block) => !isDetails(block));
  return [lasting, ...lasting.slice(1).map((__, at) => lasting.slice(0, -1 - at))].map((first) => ({
    ...message,
    content: first,
  }));
}

function isDetails(block: Json): boolean {
  const text = isRecord(block) && block['type'] === 'text' ? (stringAt(block, 'text') ?? '').trim() : '';
  return text.startsWith('<environment_details>') && text.endsWith('</environment_details>');
}

function detectCline(beginning: Json): Detection {
  const isSession = isRecord(beginning) && typeof beginning['sessionId'] === 'string' && 'agent' in beginning;
  const list = isSession ? beginning['messages'] : beginning;
  const messages = (isList(list) ? list : []).filter(isRecord).filter((record) => 'role' in record);
  const isAnthropics = messages.every(({ role }) => role === 'user' || role === 'assistant');
  if (messages.length === 0 || !isAnthropics)
    return { confidence: 0, reason: 'it is not a list of messages of user and assistant' };
  if (isSession) return { confidence: 0.95, reason: "messages in a session of Cline's" };
  const own = messages.filter(isDistinctive).length;
  if (own === 0) return { confidence: 0.3, reason: 'no message has what Cline or Roo Code adds to it' };
  return { confidence: 0.95, reason: `${countOf(own, 'message')} as Cline and Roo Code write them` };
}

const OWN_KEYS = ['isSummary', 'condenseId', 'condenseParent', 'truncationParent', 'isTruncationMarker'];
const OWN_TEXT = /^\s*<(?:task|user_message|environment_details)>\s|^\[TASK RESUMPTION\]/;

/** Roo's marks, a time in milliseconds beside blocks, or what both programs add to a prompt. */
function isDistinctive(record: JsonRecord): boolean {
  const { content } = record;
  if (OWN_KEYS.some((key) => key in record)) return true;
  if (!isList(content)) return false;
  const isTimed = typeof record['ts'] === 'number';
  return isTimed || content.some((block) => isRecord(block) && OWN_TEXT.test(stringAt(block, 'text') ?? ''));
}

/** What Roo Code notes beside a message. */
type Mark = {
  readonly isSummary: boolean;
  /** The id of a marker that hides messages. */
  readonly marker: string | undefined;
  /** The marker that hides this message, if it is in the file. */
  readonly hiddenBy: string | undefined;
};

function readMark(record: JsonRecord): Mark {
  return {
    isSummary: record['isSummary'] === true,
    marker: record['isTruncationMarker'] === true ? (stringAt(record, 'truncationId') ?? '') : undefined,
    hiddenBy: stringAt(record, 'truncationParent'),
  };
}

/** Messages are read as in other conversations; this adds Roo's own marks, times, and what a person typed. */
function createSession(): CodecSession {
  const inner = createConversationSession();
  const marks = new Map<number, Mark>();
  const seen = { isSession: false };

  const read = (value: Json, inherited: Decoded | RecordProblem): Decoded | RecordProblem => {
    if ('problem' in inherited || inherited.message === undefined || !isRecord(value)) return inherited;
    const { marker, isSummary } = readMark(value);
    if (marker !== undefined) return { kind: 'meta' };
    const {
      isPrompt: _,
      message: { typed: _typed, ...message },
      ...facts
    } = { ...inherited, message: inherited.message };
    const created_at = message.created_at ?? readMilliseconds(value['ts']);
    if (isSummary || inherited.kind === 'summary')
      return { ...facts, kind: 'summary', message: { ...message, created_at, role: 'system' } };
    const typed = message.role === 'user' || message.role === 'tool' ? readTyped(value, seen.isSession) : undefined;
    return {
      ...facts,
      ...(typed !== undefined && message.role === 'user' && { isPrompt: true }),
      message: withTyped(
        { ...message, created_at },
        typed,
        message.role === 'user' ? readRuleText(value, seen.isSession) : undefined,
      ),
    };
  };
  const readContext = (entries: readonly Entry[]): ContextView => {
    const own = entries.findLast(({ line }) => marks.get(line)?.isSummary === true)?.line;
    const priorLine = own ?? leadingSummaryLine(entries);
    const markers = new Set(entries.flatMap(({ line }) => marks.get(line)?.marker ?? []));
    const isHidden = ({ line }: Entry): boolean => markers.has(marks.get(line)?.hiddenBy ?? '');
    return {
      priorLine,
      isStale: (entry) => (own !== undefined && entry.line < own) || isHidden(entry),
      isInSummary: ({ line }) => own !== undefined && line < own,
    };
  };
  return {
    observe: (value, line) => {
      if (isRecord(value)) marks.set(line, readMark(value));
      return read(value, inner.observe(value, line));
    },
    decode: (value, line) => read(value, inner.decode(value, line)),
    openList: (around, line) => {
      const sessionId = isRecord(around) ? stringAt(around, 'sessionId') : undefined;
      seen.isSession = sessionId !== undefined;
      inner.openList?.(around, line);
      return sessionId === undefined ? {} : { conversation: sessionId };
    },
    readContext,
    legalCuts: (entries) => {
      const { isStale } = readContext(entries);
      const answers = entries.filter(
        (entry) => entry.kind === 'message' && entry.role === 'assistant' && !isStale(entry),
      );
      const legal = new Set(answers.map(({ line }) => line));
      return (line) => (legal.has(line) ? null : 'the summary is a user message, so an answer must follow it');
    },
    renderSummary,
  };
}

/** A user's message with the keys that the messages around it have: Cline once sent records as they were stored. */
function renderSummary({ text, firstKept, firstDropped = null, lastDropped, uuid }: SummaryInput): readonly string[] {
  const neighbors = [firstKept, firstDropped, lastDropped].filter((record) => isRecord(record));
  const last = isRecord(lastDropped) ? lastDropped : {};
  const areNamed = neighbors.every((record) => typeof record['id'] === 'string');
  const areTimed = neighbors.every((record) => typeof record['ts'] === 'number');
  const areTexts = neighbors.every(({ content }) => typeof content === 'string');
  const record = {
    ...(areNamed && { id: `msg_${uuid('summary')}` }),
    role: 'user',
    content: areTexts ? text : [{ type: 'text', text }],
    ...(areTimed && last['ts'] !== undefined && { ts: last['ts'] }),
  };
  return [JSON.stringify(record)];
}
