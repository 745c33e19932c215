import type { SchemaElement } from 'hyparquet';
import type { Stored } from './export-records.ts';

/**
 * Types of columns. A value of `json` is text in the table. `bytes` are base64, and a `time` is Unix milliseconds, in the record. A `count`
 * is the length of the record's list of parts. With a question mark, the record has no such property where the column is null.
 */
type ColumnType =
  | 'text'
  | 'text?'
  | 'integer'
  | 'integer?'
  | 'boolean'
  | 'time'
  | 'bytes'
  | 'bytes?'
  | 'json'
  | 'count';
/** `path`: of the value in the record; null: the value comes from the record that this one is a part of. */
type Column = { readonly name: string; readonly type: ColumnType; readonly path: readonly string[] | null };

/** A record is a row. If it has a list of parts, each of them is a row of another table, in the same order. */
export type Table = { readonly name: string; readonly columns: readonly Column[]; readonly parts: Parts | null };
/** `keys`: columns of the record that each part repeats. `position`: the column that says where in the list the part is. */
type Parts = {
  readonly property: string;
  readonly count: string;
  readonly keys: readonly string[];
  readonly position: string | null;
  readonly table: Table;
};

type ColumnSpec = readonly [name: string, type: ColumnType, path?: string | null];

/** Texts that are not Unicode, as JSON, by column: an archive can have half a character, and Parquet cannot. */
const EXACT: ColumnSpec = ['exact', 'json', null];

function defineTable(name: string, columns: readonly ColumnSpec[], parts: Parts | null = null): Table {
  const toColumn = ([column, type, path = column]: ColumnSpec): Column => ({
    name: column,
    type,
    path: path?.split('.') ?? null,
  });
  return { name, columns: [...columns, EXACT].map(toColumn), parts };
}

const CONTENT = [
  ['sha256', 'text'],
  ['size_bytes', 'integer', 'sizeBytes'],
  ['receipt', 'text'],
  ['text', 'text?'],
  ['bytes', 'bytes?', 'base64'],
] as const satisfies readonly ColumnSpec[];

const SUMMARIES = defineTable('summaries', [
  ['compaction', 'text', null],
  ['cycle', 'integer', null],
  ['summary', 'integer', null],
  ['label', 'text'],
  ['content', 'text'],
  ['content_sha256', 'text', 'contentSha256'],
  ['level', 'text'],
  ['depth', 'integer'],
  ['start_at', 'time', 'startMs'],
  ['end_at', 'time', 'endMs'],
  ['message_count', 'integer', 'messageCount'],
  ['first_index', 'integer', 'firstIndex'],
  ['last_index', 'integer', 'lastIndex'],
  ['sources', 'json'],
]);

const CYCLES = defineTable(
  'cycles',
  [
    ['compaction', 'text', null],
    ['cycle', 'integer', null],
    ['conversation', 'text', 'conversationId'],
    ['number', 'integer', 'cycle'],
    ['parent_compaction', 'text', 'parent.unit'],
    ['parent_cycle', 'integer', 'parent.cycle'],
    ['clip_sha256', 'text', 'clipSha256'],
    ['messages_compressed', 'integer', 'messagesCompressed'],
    ['live_summaries', 'json', 'live'],
    ['summaries', 'count', 'batches'],
  ],
  {
    property: 'batches',
    count: 'summaries',
    keys: ['compaction', 'cycle'],
    position: 'summary',
    table: SUMMARIES,
  },
);

const CAPTURED_VERSIONS = defineTable('captured-versions', [
  ['path', 'text', null],
  ['version', 'integer'],
  ['change', 'text'],
  ['size_bytes', 'integer', 'sizeBytes'],
  ['sha256', 'text'],
  ['captured_at', 'time', 'capturedAtMs'],
]);

/** The tables of an export, by kind of record. */
export const TABLES: { readonly [kind in keyof Stored]: Table } = {
  receipt: defineTable('receipts', [
    ['receipt', 'text'],
    ['erased_at', 'time', 'atMs'],
    ['report', 'text'],
  ]),
  erasedState: defineTable('erased-states', [
    ['receipt', 'text'],
    ['sha256', 'text'],
    ['origin_sha256', 'text', 'originSha256'],
  ]),
  hold: defineTable('holds', [
    ['kind', 'text'],
    ['value', 'text'],
    ['reason', 'text'],
    ['added_at', 'time', 'addedAtMs'],
  ]),
  droppedRule: defineTable('dropped-rules', [
    ['conversation_id', 'text', 'conversationId'],
    ['path', 'text', 'path'],
    ['text', 'text'],
    ['dropped_at', 'time', 'droppedAtMs'],
  ]),
  compaction: defineTable(
    'compactions',
    [
      ['compaction', 'text', 'key'],
      ['format', 'text'],
      ['source_path', 'text', 'sourcePath'],
      ['output_path', 'text', 'outputPath'],
      ['created_at', 'time', 'createdAtMs'],
      ['source_sha256', 'text', 'source.sha256'],
      ['source_size_bytes', 'integer', 'source.sizeBytes'],
      ['source_line_count', 'integer', 'source.lineCount'],
      ['source_has_bom', 'boolean', 'source.hasBom'],
      ['output_sha256', 'text', 'output.sha256'],
      ['output_size_bytes', 'integer', 'output.sizeBytes'],
      ['settings_sha256', 'text', 'settingsSha256'],
      ['settings', 'text'],
      ['process_id', 'integer', 'processId'],
      ['receipt', 'text'],
      ['is_erased', 'boolean', 'isErased'],
      ['inserted_lines', 'json', 'inserted'],
      ['kept_lines', 'json', 'kept'],
      ['carried_lines', 'json', 'carried'],
      ['files', 'json'],
      ['cycles', 'count'],
    ],
    { property: 'cycles', count: 'cycles', keys: ['compaction'], position: 'cycle', table: CYCLES },
  ),
  line: defineTable('lines', [
    ['compaction', 'text', 'unit'],
    ['line', 'integer'],
    ['role', 'text', 'message.role'],
    ['sent_at', 'time', 'message.atMs'],
    ['name', 'text', 'message.name'],
    ['message_id', 'text', 'message.id'],
    ['message_index', 'integer', 'message.index'],
    ['traits', 'integer', 'message.traits'],
    ['outcome', 'text'],
    ['cycle', 'integer'],
    ['summary_cycle', 'integer', 'batch.cycle'],
    ['summary', 'integer', 'batch.batch'],
    ...CONTENT,
  ]),
  capture: defineTable(
    'captures',
    [
      ['path', 'text'],
      ['format', 'text'],
      ['sessions', 'json'],
      ['stamp', 'text'],
      ['read_at', 'time', 'readAtMs'],
      ['versions', 'count', 'states'],
    ],
    { property: 'states', count: 'versions', keys: ['path'], position: null, table: CAPTURED_VERSIONS },
  ),
  piece: defineTable('captured-lines', [['path', 'text'], ['version', 'integer'], ...CONTENT]),
  summary: defineTable('model-answers', [
    ['request', 'text'],
    ['provider', 'text'],
    ['model', 'text'],
    ['text', 'text'],
    ['input_tokens', 'integer', 'inputTokens'],
    ['cached_input_tokens', 'integer', 'cachedInputTokens'],
    ['output_tokens', 'integer', 'outputTokens'],
    ['created_at', 'time', 'createdAtMs'],
  ]),
  model: defineTable('vector-model', [
    ['provider', 'text'],
    ['model', 'text'],
    ['dimensions', 'integer'],
  ]),
  vector: defineTable('vectors', [
    ['kind', 'text'],
    ['compaction', 'text', 'unit'],
    ['line', 'integer?'],
    ['cycle', 'integer?'],
    ['summary', 'integer?', 'batch'],
    ['vector', 'bytes'],
  ]),
};

/** A value of a row. Text, numbers and flags are those of the record. */
export type Cell = string | number | boolean | Uint8Array | null;
export type Row = Readonly<Record<string, Cell>>;
type Value = { readonly [property: string]: unknown };

/** The row of a record, followed by those of its parts. */
export function* toRows(
  table: Table,
  record: Value,
  inherited: Row = {},
): Generator<{ readonly table: Table; readonly row: Row }> {
  const cells: { [column: string]: Cell } = { ...inherited };
  const exact: { [column: string]: string } = {};
  for (const { name, type, path } of table.columns) {
    if (path === null) continue;
    const cell = toCell(type, path.reduce(propertyOf, record));
    const isExact = typeof cell !== 'string' || cell.isWellFormed();
    cells[name] = isExact ? cell : cell.toWellFormed();
    if (!isExact) exact[name] = cell;
  }
  if (Object.keys(exact).length > 0) cells['exact'] = JSON.stringify(exact);
  yield { table, row: cells };
  if (table.parts === null) return;
  const { property, keys, position, table: partTable } = table.parts;
  const shared = Object.fromEntries(keys.map((key) => [key, cells[key] ?? null]));
  for (const [at, part] of (record[property] as readonly Value[]).entries())
    yield* toRows(partTable, part, position === null ? shared : { ...shared, [position]: at });
}

function propertyOf(value: unknown, property: string): unknown {
  return value === null ? null : (value as Value)[property];
}

function toCell(type: ColumnType, value: unknown): Cell {
  if (value === undefined || value === null) return null;
  if (type === 'json') return JSON.stringify(value);
  if (type === 'count') return (value as readonly unknown[]).length;
  return type.startsWith('bytes') ? Buffer.from(value as string, 'base64') : (value as Cell); // records are of this shape
}

/** The record of a row without its parts. An object is null if all of its columns are. Throws a `SyntaxError` if a column is not JSON. */
export function toRecord({ columns }: Table, row: Row): Value {
  const record: { [property: string]: unknown } = {};
  const objects = new Map<string, { [property: string]: unknown }>();
  const exact = row['exact'] == null ? {} : (JSON.parse(String(row['exact'])) as Row);
  for (const { name, type, path } of columns) {
    const value = fromCell(type, exact[name] ?? row[name] ?? null);
    const [first, second] = path ?? [];
    if (first === undefined || type === 'count' || (type.endsWith('?') && value === null)) continue;
    if (second === undefined) record[first] = value;
    else objects.set(first, { ...objects.get(first), [second]: value });
  }
  for (const [property, found] of objects)
    record[property] = Object.values(found).every((value) => value === null) ? null : found;
  return record;
}

function fromCell(type: ColumnType, cell: Cell): unknown {
  if (cell === null) return null;
  if (type === 'json') return JSON.parse(String(cell)) as unknown;
  return cell instanceof Uint8Array ? Buffer.from(cell).toString('base64') : cell;
}

const PHYSICAL = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  bytes: { type: 'BYTE_ARRAY' },
  integer: { type: 'INT64' },
  count: { type: 'INT64' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  boolean: { type: 'BOOLEAN' },
} as const satisfies { readonly [type: string]: Partial<SchemaElement> };

/** The columns as Parquet describes them. */
export function schemaOf({ columns }: Table): SchemaElement[] {
  const elements = columns.map(({ name, type }): SchemaElement => {
    const plain = type.replace('?', '') as keyof typeof PHYSICAL;
    return { name, repetition_type: 'OPTIONAL', ...PHYSICAL[plain] };
  });
  return [{ name: 'schema', num_children: columns.length }, ...elements];
}
