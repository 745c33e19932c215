import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { z } from 'zod';
import { DEEDS } from '../../../ports/archive.ts';
import type { ExportKind, ExportRecords } from '../../../ports/exchange.ts';
import { CHANGES, LEVELS, OUTCOMES, ROLES } from '../rows.ts';

const count = z.int().min(0);
const ms = z.int().nullable();
const MAX_TIME = 8.64e15; // of a `Date`
const date = z
  .int()
  .min(-MAX_TIME)
  .max(MAX_TIME)
  .transform((time) => new Date(time));
const sha256 = z.string().regex(/^[\da-f]{64}$/);
/** Its first half. */
const lineSha256 = z.string().regex(/^[\da-f]{32}$/);
/** An earlier version exported the whole one of a kept line. */
const keptSha256 = z.union([lineSha256, sha256]).transform((hex) => hex.slice(0, 32));
const text = z.string().nullable();
const name = z.string().min(1);
const key = z.string().regex(/^[\da-f]{64}-[\da-f]{64}-[\da-f]{32}$/);
const fromBase64 = (found: string): Uint8Array => new Uint8Array(Buffer.from(found, 'base64'));
/** Bytes are text if they are valid UTF-8. */
const content = { text: z.string().optional(), base64: z.base64().optional() };
type Content = { readonly [property in keyof typeof content]?: string | undefined };
/** `bytes`: null if there are none. */
function withBytes<T extends Content>(stored: T): Omit<T, keyof Content> & { readonly bytes: Uint8Array | null } {
  const { text: found, base64, ...rest } = stored;
  if (found !== undefined) return { ...rest, bytes: new TextEncoder().encode(found) };
  return { ...rest, bytes: base64 === undefined ? null : fromBase64(base64) };
}
function withAllBytes<T extends Content>(stored: T): Omit<T, keyof Content> & { readonly bytes: Uint8Array } {
  const { bytes, ...rest } = withBytes(stored);
  return { ...rest, bytes: bytes ?? new Uint8Array() } as ReturnType<typeof withAllBytes<T>>;
}
const numbers = z.base64().transform(fromBase64);
const batchPlace = { cycle: count, batch: count };
const batchName = z.strictObject({ unit: key, ...batchPlace });
const line = z.strictObject({
  unit: key,
  line: count,
  message: z
    .strictObject({ role: z.enum(ROLES), atMs: ms, index: ms, id: text, name: text, traits: z.int().min(0).max(3) })
    .nullable(),
  outcome: z.enum(OUTCOMES),
  cycle: count.nullable(),
  batch: z.strictObject(batchPlace).nullable(),
  sha256: lineSha256,
  sizeBytes: count,
  receipt: text,
  ...content,
});
const batch = z.strictObject({
  label: z.string(),
  content: z.string(),
  contentSha256: sha256,
  level: z.enum(LEVELS),
  depth: count,
  startMs: ms,
  endMs: ms,
  messageCount: count,
  firstIndex: ms,
  lastIndex: ms,
  sources: z.array(batchName),
});
const cycle = z.strictObject({
  conversationId: z.string(),
  cycle: count,
  parent: z.strictObject({ unit: key, cycle: count }).nullable(),
  clipSha256: sha256,
  messagesCompressed: count,
  title: text,
  live: z.array(batchName),
  batches: z.array(batch),
});
const by = z.strictObject({ user: z.string(), host: z.string(), version: z.string() });
const run = z.strictObject({ token: z.string(), begunAtMs: z.int(), by, command: text, undoneAtMs: ms });

/** What is stored of each kind of record: as JSON, or as columns of a table. */
export const SCHEMAS: { readonly [kind in ExportKind]: z.ZodType<ExportRecords[kind]> } = {
  receipt: z.strictObject({ receipt: name, atMs: z.int(), report: z.string() }),
  erasedState: z.strictObject({ receipt: name, sha256, originSha256: sha256 }),
  hold: z.strictObject({
    kind: z.enum(['conversation', 'source']),
    value: z.string(),
    reason: text,
    addedAt: date,
  }),
  choice: z.strictObject({
    kind: z.enum(['drop-rule', 'pin']),
    conversationId: z.string(),
    path: z.string(),
    text: z.string(),
    chosenAt: date,
  }),
  log: z.strictObject({ token: name, doneAt: date, by, action: z.enum(DEEDS), details: z.string() }),
  compaction: z.strictObject({
    key,
    format: z.string(),
    sourcePath: z.string(),
    outputPath: text,
    createdAtMs: z.int(),
    source: z.strictObject({ sha256, sizeBytes: count, lineCount: count, hasBom: z.boolean() }),
    output: z.strictObject({ sha256, sizeBytes: count }),
    settingsSha256: sha256,
    settings: z.string(),
    processId: z.int(),
    receipt: text,
    isErased: z.boolean(),
    inserted: z.array(
      z.strictObject({ beforeLine: count, erasedSha256: sha256.nullable(), ...content }).transform(withAllBytes),
    ),
    kept: z.array(
      z.strictObject({ firstLine: count, lineCount: count, sizeBytes: count, lineSha256: z.array(keptSha256) }),
    ),
    carried: z.array(z.strictObject({ unit: key, ...batchPlace, line: count })),
    files: z.array(z.strictObject({ run: run.nullable(), sourcePath: z.string(), outputPath: text, undoneAtMs: ms })),
    cycles: z.array(cycle),
  }),
  line: line.transform(withAllBytes),
  capture: z.strictObject({
    path: z.string(),
    format: z.string(),
    sessions: z.array(z.string()),
    stamp: text,
    readAt: date,
    states: z.array(
      z.strictObject({
        version: count,
        change: z.enum(CHANGES),
        sizeBytes: count,
        sha256,
        capturedAt: date,
        marks: z.strictObject({ mtimeNs: z.string(), mode: count }).nullable(),
      }),
    ),
  }),
  piece: line
    .pick({ sha256: true, sizeBytes: true, receipt: true, text: true, base64: true })
    .extend({ path: z.string(), version: count })
    .transform(withBytes),
  summary: z.strictObject({
    request: sha256,
    provider: z.string(),
    model: z.string(),
    text: z.string(),
    usage: z.strictObject({ input_tokens: count, cached_input_tokens: count.optional(), output_tokens: count }),
    createdAt: date,
  }),
  model: z.strictObject({ provider: z.string(), model: z.string(), dimensions: z.int().min(1) }),
  vector: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('message'), unit: key, line: count, vector: numbers.nullable() }),
    z.strictObject({ kind: z.literal('batch'), unit: key, ...batchPlace, vector: numbers.nullable() }),
  ]),
};

/** A record as a JSON value. */
export type Stored = Readonly<Record<string, unknown>>;

export function encodeRecord(record: object): Stored {
  const stored: { [property: string]: unknown } = {};
  for (const property of Object.keys(record)) {
    const value = (record as Stored)[property];
    if (property !== 'bytes') stored[property] = encodeValue(value);
    else if (value instanceof Uint8Array && !('receipt' in record && record.receipt !== null)) {
      const buffer = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      const isText = isUtf8(buffer);
      stored[isText ? 'text' : 'base64'] = buffer.toString(isText ? 'utf8' : 'base64');
    }
  }
  return stored;
}

function encodeValue(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return value.getTime();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return Array.isArray(value) ? value.map(encodeValue) : encodeRecord(value);
}

/** Checks a JSON value and the hash of its bytes; a string says what is wrong. */
export function decodeRecord<Kind extends ExportKind>(kind: Kind, value: unknown): ExportRecords[Kind] | string {
  const found = SCHEMAS[kind].safeParse(value);
  if (found.success)
    return 'bytes' in found.data && !isWhole(found.data) ? 'its bytes differ from its hash' : found.data;
  const [issue] = found.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? 'the record' : issue.path.join('.');
  return `${where} is not as it was exported (${issue?.message ?? 'unknown'})`;
}

/** Whether a line has its bytes, or none because they were erased. */
function isWhole({ bytes: found, receipt, sizeBytes, sha256: known }: ExportRecords['line' | 'piece']): boolean {
  if (receipt !== null && (found === null || found.length === 0)) return true;
  return found !== null && found.length === sizeBytes && hash('sha256', found).startsWith(known);
}
