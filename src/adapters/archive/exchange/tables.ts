import type { SchemaElement } from 'hyparquet';
import { z } from 'zod';
import type { ExportKind } from '../../../ports/exchange.ts';
import { SCHEMAS, type Stored } from './records.ts';

/** `json` is text in the table. `bytes` are base64, and a `time` is Unix milliseconds, in the record. A `count` is the length of the record's list of parts. */
type ColumnType = 'text' | 'integer' | 'boolean' | 'time' | 'bytes' | 'json' | 'count';

/** `path`: of the value in the record; null: the value comes from the record that this one is a part of. */
type Column = {
  readonly name: string;
  readonly type: ColumnType;
  readonly path: readonly string[] | null;
  /** The record has no such property where the column is null. */
  readonly isOptional: boolean;
};

/** A record is a row. If it has a list of parts, each of them is a row of another table, in the same order. */
export type Table = { readonly name: string; readonly columns: readonly Column[]; readonly parts: Parts | null };
type Parts = PartsOf & { readonly property: string; readonly count: string; readonly table: Table };

/** `keys`: columns of the record that each part repeats. `position`: the column that says where in the list the part is. */
type PartsOf = { readonly keys: readonly string[]; readonly position: string | null };

/** Lists that are tables of their own. All other lists are JSON. */
const PARTS: Readonly<Record<string, PartsOf & { readonly name: string }>> = {
  cycles: { name: 'cycles', keys: ['compaction'], position: 'cycle' },
  batches: { name: 'summaries', keys: ['compaction', 'cycle'], position: 'summary' },
  states: { name: 'captured-versions', keys: ['path'], position: null },
};

/** The names of tables, and of files of JSON Lines, without their endings. */
export const TABLE_NAMES: { readonly [kind in ExportKind]: string } = {
  receipt: 'receipts',
  erasedState: 'erased-states',
  hold: 'holds',
  choice: 'choices',
  log: 'log',
  compaction: 'compactions',
  line: 'lines',
  capture: 'captures',
  piece: 'captured-lines',
  summary: 'model-answers',
  model: 'vector-model',
  vector: 'vectors',
};

/** Columns that have another name than their property: what the program calls a batch is a summary for its users. */
const COLUMN_NAMES: Readonly<Record<string, string>> = {
  key: 'compaction',
  unit: 'compaction',
  at: 'erased_at',
  batch: 'summary',
  batch_batch: 'summary',
  batch_cycle: 'summary_cycle',
  batches: 'summaries',
  live: 'live_summaries',
  inserted: 'inserted_lines',
  kept: 'kept_lines',
  carried: 'carried_lines',
  states: 'versions',
  parent_unit: 'parent_compaction',
  message_at: 'sent_at',
  message_role: 'role',
  message_name: 'name',
  message_traits: 'traits',
  base64: 'bytes',
  usage_input_tokens: 'input_tokens',
  usage_cached_input_tokens: 'cached_input_tokens',
  usage_output_tokens: 'output_tokens',
};

/** Texts that are not Unicode, as JSON, by column: an archive can have half a character, and Parquet cannot. */
const EXACT: Column = { name: 'exact', type: 'json', path: null, isOptional: false };

/** `inherited`: the columns that each part repeats, and its position. A column of its own with such a name is its number. */
function defineTable(name: string, schema: Schema, inherited: readonly Column[] = []): Table {
  const taken = new Set(inherited.map((column) => column.name));
  const own = columnsOf(schema).map((column) => (taken.has(column.name) ? { ...column, name: 'number' } : column));
  const columns = [...inherited, ...own, EXACT];
  const counted = own.find(({ type }) => type === 'count');
  const [property = ''] = counted?.path ?? [];
  const list = propertiesOf(schema)[property];
  const [part, definition] = [PARTS[property], list && definitionOf(list)];
  if (counted === undefined || part === undefined || definition?.type !== 'array')
    return { name, columns, parts: null };
  const repeated = columns.flatMap((column) => (part.keys.includes(column.name) ? { ...column, path: null } : []));
  const position: Column = { name: part.position ?? '', type: 'integer', path: null, isOptional: false };
  const above = part.position === null ? repeated : [...repeated, position];
  const table = defineTable(part.name, definition.element, above);
  return { name, columns, parts: { ...part, property, count: counted.name, table } };
}

type Schema = z.core.$ZodType;

/** The definition of what is stored, without what says that it may be missing or null. */
function definitionOf(schema: Schema): z.core.$ZodTypes['_zod']['def'] {
  const { def } = (schema as z.core.$ZodTypes)._zod; // the library has no other schemas
  if (def.type === 'pipe') return definitionOf(def.in);
  return def.type === 'nullable' || def.type === 'optional' ? definitionOf(def.innerType) : def;
}

/** The properties of a record: of any of its kinds, if there are several. */
function propertiesOf(schema: Schema): Readonly<Record<string, Schema>> {
  const definition = definitionOf(schema);
  if (definition.type !== 'union') return definition.type === 'object' ? definition.shape : {};
  const kinds = definition.options.map(propertiesOf);
  const isShared = (property: string): boolean => kinds.every((kind) => property in kind);
  return Object.fromEntries(
    kinds.flatMap((kind) =>
      Object.entries(kind).map(([property, value]) => [property, isShared(property) ? value : z.optional(value)]),
    ),
  );
}

function columnsOf(schema: Schema, above: readonly string[] = []): readonly Column[] {
  return Object.entries(propertiesOf(schema)).flatMap(([property, value]): readonly Column[] => {
    const path = [...above, property];
    if (definitionOf(value).type === 'object') return columnsOf(value, path);
    const words = path.join('_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const name = words.replace(/(?<=(?:^|_)at)_ms$/, '').replace(/_ms$/, '_at');
    const isOptional = value instanceof z.ZodOptional;
    return [{ name: COLUMN_NAMES[name] ?? name, type: typeOf(value, property), path, isOptional }];
  });
}

function typeOf(value: Schema, property: string): ColumnType {
  const definition = definitionOf(value);
  switch (definition.type) {
    case 'array':
      return property in PARTS ? 'count' : 'json';
    case 'number':
      return /(?:Ms|At)$/.test(property) ? 'time' : 'integer';
    case 'boolean':
      return 'boolean';
    default:
      return 'format' in definition && definition.format === 'base64' ? 'bytes' : 'text';
  }
}

/** The tables of an export, by kind of record. */
export const TABLES = Object.fromEntries(
  Object.entries(SCHEMAS).map(([kind, schema]) => [kind, defineTable(TABLE_NAMES[kind as ExportKind], schema)]),
) as { readonly [kind in ExportKind]: Table };

/** A value of a row. Text, numbers and flags are those of the record. */
export type Cell = string | number | boolean | Uint8Array | null;
export type Row = Readonly<Record<string, Cell>>;

/** The row of a record, followed by those of its parts. */
export function* toRows(
  table: Table,
  record: Stored,
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
  for (const [at, part] of (record[property] as readonly Stored[]).entries())
    yield* toRows(partTable, part, position === null ? shared : { ...shared, [position]: at });
}

function propertyOf(value: unknown, property: string): unknown {
  return value === null ? null : (value as Stored)[property];
}

function toCell(type: ColumnType, value: unknown): Cell {
  if (value === undefined || value === null) return null;
  if (type === 'json') return JSON.stringify(value);
  if (type === 'count') return (value as readonly unknown[]).length;
  return type === 'bytes' ? Buffer.from(value as string, 'base64') : (value as Cell); // records are of this shape
}

/** The record of a row without its parts. An object is null if all of its columns are. Throws a `SyntaxError` if a column is not JSON. */
export function toRecord({ columns }: Table, row: Row): Stored {
  const record: { [property: string]: unknown } = {};
  const objects = new Map<string, { [property: string]: unknown }>();
  const exact = row['exact'] == null ? {} : (JSON.parse(String(row['exact'])) as Row);
  for (const { name, type, path, isOptional } of columns) {
    const [first, second] = path ?? [];
    if (first === undefined || type === 'count') continue;
    const object = second === undefined ? record : (objects.get(first) ?? {});
    if (second !== undefined) objects.set(first, object);
    const value = fromCell(type, exact[name] ?? row[name] ?? null);
    if (value !== null || !isOptional) object[second ?? first] = value;
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

const PHYSICAL: { readonly [type in ColumnType]: Partial<SchemaElement> } = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  bytes: { type: 'BYTE_ARRAY' },
  integer: { type: 'INT64' },
  count: { type: 'INT64' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  boolean: { type: 'BOOLEAN' },
};

/** The columns as Parquet describes them. */
export function schemaOf({ columns }: Table): SchemaElement[] {
  const elements = columns.map(({ name, type }): SchemaElement => ({
    name,
    repetition_type: 'OPTIONAL',
    ...PHYSICAL[type],
  }));
  return [{ name: 'schema', num_children: columns.length }, ...elements];
}
