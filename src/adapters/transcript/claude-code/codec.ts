import { callsOf } from '../../../core/message.ts';
import { countOf } from '../../../core/tokens.ts';
import type { Decoded } from '../../../core/transcript.ts';
import type { Codec, CodecSession, Detection, Json, RecordProblem } from '../../../ports/codec.ts';
import { findWorkingFolder, isRecord, type JsonRecord, stringAt } from '../json.ts';
import { withoutRuleText, withoutTyped } from '../message-parts.ts';
import { createLineNotes, withoutNote } from '../notes.ts';
import { canForgeRejection, canRejectionRule } from './content.ts';
import { legalCuts, readContext } from './context.ts';
import { isQwenRecord } from '../qwen/decode.ts';
import { decodeRecord, type ThreadNote } from './decode.ts';
import { listedTitle } from './listing.ts';
import { renderSummary } from './render.ts';

/** Session files of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`. */
export const claudeCode: Codec = {
  format: {
    name: 'claude-code',
    title: 'Claude Code session',
    summary: 'Claude Code sessions (~/.claude/projects/**/*.jsonl)',
    checked: 'compacted files resumed by Claude Code 2.1.197, up to three compactions with turns in between',
    places: [
      { variable: 'CLAUDE_CONFIG_DIR', base: '.claude', folder: 'projects/*' },
      { variable: 'CLAUDE_CONFIG_DIR', base: '.config/claude', folder: 'projects/*' },
    ],
    // anthropics/claude-code issues 36213 and 95439: after /clear the id may be that of the session before.
    openSigns: [
      {
        program: 'Claude Code',
        // A session's subagents are two folders further down.
        folders: ['../../sessions', '../../../../sessions'],
        file: /^(\d+)\.json$/,
        sessionKey: 'sessionId',
      },
    ],
    marksTyped: true,
    layout: { kind: 'lines', links: 'parents' },
  },
  detect: detectClaudeCode,
  readProject: findWorkingFolder(),
  listedTitle,
  open: createSession,
};

/** Records outside the chain of parents. A file may begin with dozens of them, or hold nothing else. */
const LOOSE_TYPES = new Set([
  'queue-operation',
  'last-prompt',
  'custom-title',
  'ai-title',
  'agent-name',
  'mode',
  'permission-mode',
  'pr-link',
  'frame-link',
  'tag',
]);

/** How sure we are that these are records of a Claude Code session. */
function detectClaudeCode(sample: readonly Json[]): Detection {
  if (sample.length === 0) return { confidence: 0, reason: 'there are no records to judge by' };
  const records = sample.filter(isRecord);
  const chained = records.filter(isChained).length;
  const loose = records.filter(isLoose).length;
  const share = (chained + loose) / sample.length;
  if (chained > 0) {
    const reason = `${countOf(chained, 'record')} with the type of a message and a parentUuid`;
    return { confidence: share >= 0.5 ? 1 : 0.6, reason };
  }
  if (loose > 0 && share >= 0.5) {
    return { confidence: 0.8, reason: `${countOf(loose, 'record')} that Claude Code keeps beside its messages` };
  }
  if (records.some((record) => isMessageType(record) && isRecord(record['message']))) {
    return { confidence: 0, reason: 'there are user and assistant records, but none has a parentUuid' };
  }
  return { confidence: 0, reason: 'no record has type user, assistant or system with a parentUuid' };
}

function isChained(record: JsonRecord): boolean {
  const parent = record['parentUuid'];
  if (parent !== null && typeof parent !== 'string') return false;
  if (isQwenRecord(record)) return false;
  return isMessageType(record) || ['system', 'attachment', 'progress'].includes(stringAt(record, 'type') ?? '');
}

function isMessageType(record: JsonRecord): boolean {
  return record['type'] === 'user' || record['type'] === 'assistant';
}

function isLoose(record: JsonRecord): boolean {
  const type = stringAt(record, 'type') ?? '';
  if (type === 'summary') return typeof record['leafUuid'] === 'string';
  if (type === 'file-history-snapshot') return isRecord(record['snapshot']);
  return LOOSE_TYPES.has(type) && typeof record['sessionId'] === 'string';
}

/** Remembers compactions, places that a person went back to, and the calls whose errors could pass for a rejection. */
function createSession(): CodecSession {
  const callNames = new Map<string, string>();
  const forgers = new Set<string>();

  const notes = createLineNotes<ThreadNote>();

  const withoutForgery = (decoded: Decoded | RecordProblem, value: Json): Decoded | RecordProblem => {
    if ('problem' in decoded || decoded.results === undefined) return decoded;
    if (decoded.results.some((id) => forgers.has(id))) return withoutTyped(decoded);
    const [id = ''] = decoded.results;
    return isRecord(value) && canRejectionRule(value, callNames.get(id)) ? decoded : withoutRuleText(decoded);
  };
  const observe = (value: Json, line: number): Decoded | RecordProblem => {
    const decoded = notes.keep(decodeRecord(value, line), line);
    if ('problem' in decoded || decoded.message === undefined || !isRecord(value)) return decoded;
    for (const { id, name } of callsOf(decoded.message)) {
      callNames.set(id, name);
      if (canForgeRejection(value, name)) forgers.add(id);
    }
    return withoutForgery(decoded, value);
  };
  return {
    observe,
    decode: (value, line) => withoutForgery(withoutNote(decodeRecord(value, line)), value),
    readContext: (entries) => readContext(entries, notes.of),
    legalCuts: (entries) => legalCuts(entries, notes.of),
    renderSummary,
  };
}
