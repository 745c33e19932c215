import type { SchemaElement } from 'hyparquet';
import type { Table } from './export-tables.ts';

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
