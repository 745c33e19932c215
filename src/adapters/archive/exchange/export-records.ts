import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { ExportRecord } from '../../../ports/export.ts';
import { CHANGES, LEVELS, OUTCOMES, ROLES } from '../rows.ts';

/** The names of an export's files, without their endings. */
export const FILES = {
  receipt: 'receipts',
  erasedState: 'erased-states',
  hold: 'holds',
  droppedRule: 'dropped-rules',
  compaction: 'compactions',
  line: 'lines',
  capture: 'captures',
  piece: 'captured-lines',
  summary: 'model-answers',
  model: 'vector-model',
  vector: 'vectors',
} as const satisfies { readonly [kind in ExportRecord['kind']]: string };

const count = z.int().min(0);
const ms = z.int().nullable();
const sha256 = z.string().regex(/^[\da-f]{64}$/);
const text = z.string().nullable();
const key = z.string().regex(/^[\da-f]{64}-[\da-f]{64}-[\da-f]{32}$/);
/** Bytes are text if they are valid UTF-8. */
const content = { text: z.string().optional(), base64: z.base64().optional() };
const holdKind = z.enum(['conversation', 'source']);
const batchName = z.strictObject({ unit: key, cycle: count, batch: count });

const SCHEMAS = {
  receipt: z.strictObject({ receipt: z.string().min(1), atMs: z.int(), report: z.string() }),
  erasedState: z.strictObject({ receipt: z.string().min(1), sha256, originSha256: sha256 }),
  hold: z.strictObject({ kind: holdKind, value: z.string(), reason: text, addedAtMs: z.int() }),
  droppedRule: z.strictObject({ conversationId: z.string(), path: z.string(), text: z.string(), droppedAtMs: z.int() }),
  compaction: z.strictObject({
    key,
    format: z.string(),
    sourcePath: z.string(),
    outputPath: text,
    source: z.strictObject({ sha256, sizeBytes: count, lineCount: count, hasBom: z.boolean() }),
    output: z.strictObject({ sha256, sizeBytes: count }),
    settingsSha256: sha256,
    settings: z.string(),
    createdAtMs: z.int(),
    processId: z.int(),
    receipt: text,
    isErased: z.boolean(),
    cycles: z.array(
      z.strictObject({
        conversationId: z.string(),
        cycle: count,
        parent: z.strictObject({ unit: key, cycle: count }).nullable(),
        clipSha256: sha256,
        messagesCompressed: count,
        batches: z.array(
          z.strictObject({
            label: z.string(),
            content: z.string(),
            contentSha256: sha256,
            depth: count,
            startMs: ms,
            endMs: ms,
            messageCount: count,
            firstIndex: ms,
            lastIndex: ms,
            level: z.enum(LEVELS),
            sources: z.array(batchName),
          }),
        ),
        live: z.array(batchName),
      }),
    ),
    inserted: z.array(z.strictObject({ beforeLine: count, erasedSha256: sha256.nullable(), ...content })),
    kept: z.array(
      z.strictObject({ firstLine: count, lineCount: count, sizeBytes: count, lineSha256: z.array(sha256) }),
    ),
    carried: z.array(z.strictObject({ unit: key, cycle: count, batch: count, line: count })),
    files: z.array(
      z.strictObject({
        run: z.strictObject({ token: z.string(), begunAtMs: z.int(), undoneAtMs: ms }).nullable(),
        sourcePath: z.string(),
        outputPath: text,
        undoneAtMs: ms,
      }),
    ),
  }),
  line: z.strictObject({
    unit: key,
    line: count,
    sha256,
    sizeBytes: count,
    receipt: text,
    outcome: z.enum(OUTCOMES),
    cycle: count.nullable(),
    batch: z.strictObject({ cycle: count, batch: count }).nullable(),
    message: z
      .strictObject({ role: z.enum(ROLES), atMs: ms, index: ms, id: text, name: text, traits: z.int().min(0).max(3) })
      .nullable(),
    ...content,
  }),
  capture: z.strictObject({
    path: z.string(),
    format: z.string(),
    sessions: z.array(z.string()),
    stamp: text,
    readAtMs: z.int(),
    states: z.array(
      z.strictObject({ version: count, change: z.enum(CHANGES), sizeBytes: count, sha256, capturedAtMs: z.int() }),
    ),
  }),
  piece: z.strictObject({ path: z.string(), version: count, sha256, sizeBytes: count, receipt: text, ...content }),
  summary: z.strictObject({
    request: sha256,
    provider: z.string(),
    model: z.string(),
    text: z.string(),
    inputTokens: count,
    cachedInputTokens: count,
    outputTokens: count,
    createdAtMs: z.int(),
  }),
  model: z.strictObject({ provider: z.string(), model: z.string(), dimensions: z.int().min(1) }),
  vector: z.union([
    z.strictObject({ kind: z.literal('message'), unit: key, line: count, vector: z.base64().nullable() }),
    z.strictObject({ kind: z.literal('batch'), unit: key, cycle: count, batch: count, vector: z.base64().nullable() }),
  ]),
} as const;

/** Records as JSON values, by kind. */
export type Stored = { readonly [kind in keyof typeof SCHEMAS]: z.infer<(typeof SCHEMAS)[kind]> };

export function encodeRecord(record: ExportRecord): Stored[keyof Stored] {
  switch (record.kind) {
    case 'receipt':
      return { ...record.receipt };
    case 'erasedState':
      return { ...record.state };
    case 'hold':
      return { ...record.hold };
    case 'droppedRule':
      return { ...record.rule };
    case 'compaction': {
      const { inserted, ...unit } = record.unit;
      const lines = inserted.map(({ bytes, ...line }) => ({ ...line, ...encodeBytes(bytes) }));
      // The schema is of the same shape, but not readonly.
      return { ...unit, inserted: lines } as Stored['compaction'];
    }
    case 'line': {
      const { bytes, ...line } = record.line;
      return { unit: record.unit, ...line, ...(line.receipt === null ? encodeBytes(bytes) : {}) };
    }
    case 'capture':
      return { ...record.capture, sessions: [...record.capture.sessions], states: [...record.capture.states] };
    case 'piece': {
      const { bytes, ...piece } = record.piece;
      return { path: record.path, version: record.version, ...piece, ...(bytes === null ? {} : encodeBytes(bytes)) };
    }
    case 'summary': {
      const { usage, createdAt, ...summary } = record.summary;
      return {
        request: record.request,
        ...summary,
        inputTokens: usage.input_tokens,
        cachedInputTokens: usage.cached_input_tokens ?? 0,
        outputTokens: usage.output_tokens,
        createdAtMs: createdAt.getTime(),
      };
    }
    case 'model':
      return { ...record.model };
    default: {
      const { vector, ...place } = record.vector;
      return { ...place, vector: vector === null ? null : Buffer.from(vector).toString('base64') };
    }
  }
}

/** Checks a parsed line and the hash of its bytes; a string says what is wrong. */
export function decodeRecord(kind: ExportRecord['kind'], value: unknown): ExportRecord | string {
  switch (kind) {
    case 'receipt':
      return check(SCHEMAS.receipt, value, (receipt) => ({ kind, receipt }));
    case 'erasedState':
      return check(SCHEMAS.erasedState, value, (state) => ({ kind, state }));
    case 'hold':
      return check(SCHEMAS.hold, value, (hold) => ({ kind, hold }));
    case 'droppedRule':
      return check(SCHEMAS.droppedRule, value, (rule) => ({ kind, rule }));
    case 'compaction':
      return check(SCHEMAS.compaction, value, (unit) => {
        const inserted = unit.inserted.map(({ text: _text, base64: _base64, ...line }, at) => ({
          ...line,
          bytes: decodeBytes(unit.inserted[at] ?? {}) ?? new Uint8Array(),
        }));
        return { kind, unit: { ...unit, inserted } };
      });
    case 'line':
      return check(SCHEMAS.line, value, (stored) => {
        const { unit, text: _text, base64: _base64, ...line } = stored;
        const bytes = decodeBytes(stored);
        if (bytes === null ? line.receipt === null : !isContent(bytes, line)) return DIFFERS;
        return { kind, unit, line: { ...line, bytes: bytes ?? new Uint8Array() } };
      });
    case 'capture':
      return check(SCHEMAS.capture, value, (capture) => ({ kind, capture }));
    case 'piece':
      return check(SCHEMAS.piece, value, (stored) => {
        const { path, version, text: _text, base64: _base64, ...piece } = stored;
        const bytes = decodeBytes(stored);
        if (bytes === null ? piece.receipt === null : !isContent(bytes, piece)) return DIFFERS;
        return { kind, path, version, piece: { ...piece, bytes } };
      });
    case 'summary':
      return check(SCHEMAS.summary, value, (stored) => {
        const { request, inputTokens, cachedInputTokens, outputTokens, createdAtMs, ...summary } = stored;
        const usage = {
          input_tokens: inputTokens,
          cached_input_tokens: cachedInputTokens,
          output_tokens: outputTokens,
        };
        return { kind, request, summary: { ...summary, usage, createdAt: new Date(createdAtMs) } };
      });
    case 'model':
      return check(SCHEMAS.model, value, (model) => ({ kind, model }));
    default:
      return check(SCHEMAS.vector, value, (stored) => {
        const vector = stored.vector === null ? null : new Uint8Array(Buffer.from(stored.vector, 'base64'));
        return { kind, vector: { ...stored, vector } };
      });
  }
}

const DIFFERS = 'its bytes differ from its hash';

function check<T>(
  schema: z.ZodType<T>,
  value: unknown,
  use: (found: T) => ExportRecord | string,
): ExportRecord | string {
  const found = schema.safeParse(value);
  if (found.success) return use(found.data);
  const [issue] = found.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? 'the record' : issue.path.join('.');
  return `${where} is not as it was exported (${issue?.message ?? 'unknown'})`;
}

type Content = { readonly text?: string | undefined; readonly base64?: string | undefined };

function encodeBytes(bytes: Uint8Array): Content {
  const buffer = Buffer.from(bytes);
  return isUtf8(buffer) ? { text: buffer.toString('utf8') } : { base64: buffer.toString('base64') };
}

function decodeBytes({ text: found, base64 }: Content): Uint8Array | null {
  if (found !== undefined) return new TextEncoder().encode(found);
  return base64 === undefined ? null : new Uint8Array(Buffer.from(base64, 'base64'));
}

function isContent(bytes: Uint8Array, of: { readonly sha256: string; readonly sizeBytes: number }): boolean {
  return bytes.length === of.sizeBytes && hash('sha256', bytes) === of.sha256;
}
