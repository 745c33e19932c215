import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createNodeRuntime } from '../../../../src/adapters/runtime/node.ts';
import { chatLines } from '../../../../src/adapters/transcript/chat-lines/codec.ts';
import { parseJsonLine } from '../../../../src/adapters/transcript/json-lines.ts';
import { createMeasure, createTextSharer, toEntry } from '../../../../src/app/read/index-records.ts';
import type { ConversationMessage } from '../../../../src/core/message.ts';
import { DEFAULT_SCORING_CONFIG } from '../../../../src/core/policy.ts';
import type { Decoded, Entry } from '../../../../src/core/transcript.ts';
import type { CodecSession, Json, SummaryInput } from '../../../../src/ports/codec.ts';

/** A file that a session has read. */
export type ReadFile = {
  readonly session: CodecSession;
  readonly decoded: readonly Decoded[];
  readonly entries: readonly Entry[];
};

export const CLIP = '[Context Summary — 3 messages compressed across 1 compaction cycle]\nThey met.';

/** A value as a line of a file would give it. */
function asJson(value: unknown): Json {
  const read: Json = JSON.parse(JSON.stringify(value));
  return read;
}

export function readRecords(...records: readonly unknown[]): ReadFile {
  const session = chatLines.open();
  const decoded = records.map((record, index) => mustDecode(session, asJson(record), index + 1));
  const readers = {
    share: createTextSharer(),
    measure: createMeasure(createNodeRuntime(), DEFAULT_SCORING_CONFIG),
  };
  const entries = decoded.map((one, index) => toEntry(one, { line: index + 1, start: 0, length: 1 }, readers));
  return { session, decoded, entries };
}

/** The records of a fixture; lines that are blank or no JSON are left out. */
export function fixtureRecords(name: string): readonly Json[] {
  const text = readFileSync(new URL(`../../../../fixtures/transcripts/chat-lines/${name}`, import.meta.url), 'utf8');
  return text.split('\n').flatMap((line) => {
    const parsed = parseJsonLine(Buffer.from(line));
    return parsed.ok ? [parsed.value] : [];
  });
}

export function mustDecode(session: CodecSession, record: Json, line: number): Decoded {
  const decoded = session.observe(record, line);
  assert.ok(!('problem' in decoded), JSON.stringify(decoded));
  return decoded;
}

/** What a single record is. */
export function decodeOne(record: unknown): Decoded {
  return mustDecode(chatLines.open(), asJson(record), 1);
}

export function messageOf(record: unknown): ConversationMessage {
  const { message } = decodeOne(record);
  assert.ok(message !== undefined);
  return message;
}

export function kindsOf(...records: readonly unknown[]): readonly string[] {
  return readRecords(...records).decoded.map(({ kind }) => kind);
}

/** The record of a summary in a file of these records: all go but the last `kept`. */
export function rendered(records: readonly unknown[], said: Partial<SummaryInput> = {}, kept = 1): Json {
  const { session } = readRecords(...records);
  const lines = session.renderSummary({
    text: CLIP,
    conversationId: 'c',
    firstKept: asJson(records.at(-kept) ?? null),
    lastDropped: asJson(records.at(-kept - 1) ?? null),
    lastKeptId: null,
    tokensBefore: 100,
    quotesTools: false,
    uuid: (label) => `uuid of ${label}`,
    ...said,
  });
  assert.equal(lines.length, 1);
  const parsed = parseJsonLine(Buffer.from(lines[0] ?? ''));
  assert.ok(parsed.ok);
  return parsed.value;
}
