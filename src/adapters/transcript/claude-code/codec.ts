import { callsOf } from '../../../core/message.ts';
import { countOf } from '../../../core/tokens.ts';
import type { Codec, CodecSession, Detection, Json, SummaryInput } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { isRecord, type JsonRecord, stringAt, textReader } from '../json.ts';
import { createSession as createPlainSession, notOurs } from '../session.ts';
import { withoutRuleText, withoutTyped } from '../message-parts.ts';
import { isQwenRecord } from '../parents.ts';
import { copyKeys, firstText } from '../said.ts';
import { legalCuts, readContext, listedTitle } from './context.ts';
import { canForgeRejection, canRejectionRule, decodeRecord, type ThreadNote } from './decode.ts';

/** Session files of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`. */
export const claudeCode: Codec = {
  format: FORMATS.claudeCode,
  detect: detectClaudeCode,
  readProject: textReader('cwd'),
  readModel: (record) => {
    const model = stringAt(record, 'message', 'model');
    return model === undefined || model === '<synthetic>' ? null : model; // the client itself says that an answer failed
  },
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
  if (sample.length === 0) return notOurs('there are no records to judge by');
  const records = sample.filter(isRecord);
  const chained = records.filter(isChained).length;
  const loose = records.filter(isLoose).length;
  const share = (chained + loose) / sample.length;
  const reason = `${countOf(chained, 'record')} with the type of a message and a parentUuid`;
  if (chained > 0) return { confidence: share >= 0.5 ? 1 : 0.6, reason };
  if (loose > 0 && share >= 0.5)
    return { confidence: 0.8, reason: `${countOf(loose, 'record')} that Claude Code keeps beside its messages` };
  if (records.some((record) => isMessageType(record) && isRecord(record['message'])))
    return notOurs('there are user and assistant records, but none has a parentUuid');
  return notOurs('no record has type user, assistant or system with a parentUuid');
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

/** Remembers the calls, since the errors of some could pass for a rejection. */
function createSession(): CodecSession {
  const callNames = new Map<string, string>();
  const forgers = new Set<string>();
  return createPlainSession<ThreadNote>({
    what: 'a message that is',
    read: (record, { line, isFirstPass }) => {
      const decoded = decodeRecord(record, line);
      if ('problem' in decoded) return decoded;
      for (const { id, name } of !isFirstPass || decoded.message === undefined ? [] : callsOf(decoded.message)) {
        callNames.set(id, name);
        if (canForgeRejection(record, name)) forgers.add(id);
      }
      if (decoded.results === undefined) return decoded;
      if (decoded.results.some((id) => forgers.has(id))) return withoutTyped(decoded);
      const [id = ''] = decoded.results;
      return canRejectionRule(record, callNames.get(id)) ? decoded : withoutRuleText(decoded);
    },
    readContext,
    legalCuts,
    renderSummary,
  });
}

/** Fields that the client writes on every record of a session; copied if the first kept record has them. */
const SESSION_KEYS = ['isSidechain', 'agentId', 'userType', 'cwd', 'sessionId', 'version', 'gitBranch'];

/**
 * A boundary and a summary, as the client's own /compact writes them. The summary takes the uuid that the first kept
 * record names as its parent, so that the kept lines attach to it unchanged. The preserved segment makes the client
 * ignore the token counts in the kept answers. Before the boundary may come a prompt: the client's list takes it for
 * the first one, and the client sends nothing that is before a boundary.
 */
function renderSummary(input: SummaryInput): readonly string[] {
  const { firstKept, firstDropped, lastDropped, listedAs } = input;
  const headId = firstText('uuid', firstKept);
  const boundaryId = input.uuid('boundary');
  const summaryId = firstText('parentUuid', firstKept) ?? input.uuid('summary');
  const timestamp = firstText('timestamp', lastDropped, firstKept);
  const session = {
    isSidechain: false,
    ...copyKeys(firstKept ?? lastDropped, SESSION_KEYS),
    ...(timestamp !== undefined && { timestamp }),
  };
  const boundary = {
    parentUuid: null,
    ...session,
    type: 'system',
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    isMeta: false,
    uuid: boundaryId,
    level: 'info',
    compactMetadata: {
      trigger: 'manual',
      preTokens: input.tokensBefore,
      ...(headId !== undefined && {
        preservedSegment: { headUuid: headId, anchorUuid: summaryId, tailUuid: input.lastKeptId ?? headId },
      }),
    },
  };
  const summary = {
    parentUuid: boundaryId,
    ...session,
    type: 'user',
    message: { role: 'user', content: input.text },
    isVisibleInTranscriptOnly: true,
    isCompactSummary: true,
    uuid: summaryId,
  };
  const begunAt = firstText('timestamp', firstDropped) ?? timestamp;
  const title = {
    parentUuid: null,
    ...session,
    ...(begunAt !== undefined && { timestamp: begunAt }),
    type: 'user',
    message: { role: 'user', content: listedAs ?? '' },
    uuid: input.uuid('title'),
  };
  const lines = listedAs === undefined ? [boundary, summary] : [title, boundary, summary];
  return lines.map((line) => JSON.stringify(line));
}
