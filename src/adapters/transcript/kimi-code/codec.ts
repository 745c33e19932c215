import { estimateTokens } from '../../../core/tokens.ts';
import type { Codec, CodecSession, Detection, Json, SummaryInput } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { isRecord, textReader } from '../json.ts';
import { createSession as createPlainSession } from '../session.ts';
import { firstText } from '../said.ts';
import { type Context, createFold } from './context.ts';
import { decodeRecord } from './decode.ts';

/** Sessions of Kimi Code, one file per agent: `~/.kimi-code/sessions/<folder>/<session>/agents/<agent>/wire.jsonl`. */
export const kimiCode: Codec = {
  format: FORMATS.kimiCode,
  detect: detectKimiCode,
  readProject: textReader('environmentDisclosure', 'cwd'),
  readModel: textReader('model'),
  open: createSession,
};

/** The log of the same name in `~/.kimi` begins with such a metadata record too; its other records have a payload and no type. */
function detectKimiCode(sample: readonly Json[]): Detection {
  const records = sample.filter(isRecord);
  const own = records.filter(({ type }) => typeof type === 'string' && /^context\.\w+$/.test(type)).length;
  const [first] = records;
  const isHeader = first?.['type'] === 'metadata' && typeof first['protocol_version'] === 'string';
  const flat = records.filter((record) => typeof record['type'] === 'string' && typeof record['time'] === 'number');
  if (isHeader && flat.length > 0 && flat.length >= (records.length - 1) / 2)
    return { confidence: 1, reason: 'the first record names the version of the protocol, with typed records after it' };
  if (own > 0 && own >= records.length / 2)
    return { confidence: 0.9, reason: 'the records change the context of an agent' };
  return { confidence: 0, reason: 'no metadata with a protocol_version stands before typed records' };
}

const CONTEXT: ReadonlySet<string> = new Set(['message', 'instruction', 'summary']);

/** The context is rebuilt while the records are read, as Kimi Code does. */
function createSession(): CodecSession {
  const fold = createFold();
  let known: Context | null = null;
  const context = (): Context => (known ??= fold.finish());
  return createPlainSession({
    what: 'a message that is',
    read: (record, { line, isFirstPass }) => {
      const decoded = decodeRecord(record, line);
      if (isFirstPass && !('problem' in decoded)) fold.read(record, line);
      return decoded;
    },
    readContext: () => {
      const { live, summarized, strays, priorLine, firstOfStep, stepOf } = context();
      return {
        priorLine,
        isStale: ({ kind, line }) => CONTEXT.has(kind) && line !== priorLine && !live.has(line),
        mustDrop: ({ line }) => strays.has(line),
        isInSummary: ({ line }) => summarized.has(line),
        anchorOf: ({ kind, line }) => (kind === 'meta' ? (firstOfStep.get(stepOf.get(line) ?? 0) ?? null) : null),
      };
    },
    legalCuts: () => context().closed,
    renderSummary,
  });
}

/** A compaction like Kimi Code's own: after the header, with nothing before it to keep, it leaves the summary alone. */
function renderSummary(input: SummaryInput): readonly string[] {
  const { text, firstKept, lastDropped, firstDropped, tokensBefore } = input;
  const near = [lastDropped, firstKept, firstDropped ?? null].filter((record) => isRecord(record));
  const time = near.map((record) => record['time']).find((value) => typeof value === 'number');
  const agentId = firstText('agentId', ...near);
  const record = {
    type: 'context.apply_compaction',
    ...(agentId !== undefined && { agentId }),
    summary: text,
    contextSummary: text,
    compactedCount: 0,
    tokensBefore,
    tokensAfter: estimateTokens(text),
    keptUserMessageCount: 0,
    ...(time !== undefined && { time }),
  };
  return [JSON.stringify(record)];
}
