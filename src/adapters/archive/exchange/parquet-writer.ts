import { hash } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { type ExportFile, type ExportSink, MAX_GROUP_ROWS, type OpenOutput } from './export-manifest.ts';
import { encodeRecord } from './export-records.ts';
import { type Cell, type Row, schemaOf, type Table, TABLES, toRows } from './export-tables.ts';

/** A row group is in memory while it is written or read. */
const MAX_GROUP_BYTES = 8 * 1024 * 1024;

/** A file for each table, also where it is empty, so that queries find the same tables in every export. */
export function createParquetSink(open: OpenOutput): ExportSink {
  const tables = new Map(allTables().map((table) => [table.name, createTableWriter(table, open)]));
  return {
    write: (record) => {
      for (const { table, row } of toRows(TABLES[record.kind], encodeRecord(record)))
        tables.get(table.name)?.write(row);
    },
    finish: () => [...tables.values()].map(({ finish }) => finish()),
  };
}

function allTables(): readonly Table[] {
  const withParts = (table: Table): readonly Table[] => [
    table,
    ...(table.parts === null ? [] : withParts(table.parts.table)),
  ];
  return Object.values(TABLES).flatMap(withParts);
}

type TableWriter = {
  readonly write: (row: Row) => void;
  readonly finish: () => ReturnType<ExportSink['finish']>[number];
};

function createTableWriter(table: Table, open: OpenOutput): TableWriter {
  const name = `${table.name}.parquet`;
  const append = open(name);
  const bytes = new ByteWriter();
  const compressors = { ZSTD: (input: Uint8Array) => zstdCompressSync(input) };
  const parquet = new ParquetWriter({
    writer: bytes,
    schema: schemaOf(table),
    codec: 'ZSTD',
    compressors,
    createdBy: 'compact',
  });
  const sections: NonNullable<ExportFile['sections']> = [];
  let rows: Row[] = [];
  let sizeBytes = 0;
  let written = 0;
  const endSection = (): void => {
    const section = bytes.getBytes();
    append(section);
    sections.push({ records: rows.length, sizeBytes: section.length, sha256: hash('sha256', section) });
    bytes.index = 0; // its buffer is used again
    written += rows.length;
    rows = [];
    sizeBytes = 0;
  };
  const endGroup = (): void => {
    if (rows.length === 0) return;
    const columnData = table.columns.map((column) => ({
      name: column.name,
      data: rows.map((row) => toPhysical(row[column.name] ?? null)),
    }));
    void parquet.write({ columnData, rowGroupSize: rows.length }); // it waits for nothing
    endSection();
  };
  return {
    write: (row) => {
      const size = sizeOf(row);
      if (rows.length >= MAX_GROUP_ROWS || sizeBytes + size > MAX_GROUP_BYTES) endGroup();
      rows.push(row);
      sizeBytes += size;
    },
    finish: () => {
      endGroup();
      void parquet.finish(); // it waits for nothing
      endSection();
      return { name, records: written, sections };
    },
  };
}

function toPhysical(cell: Cell): Cell | bigint {
  return typeof cell === 'number' ? BigInt(cell) : cell;
}

function sizeOf(row: Row): number {
  let size = 0;
  for (const cell of Object.values(row))
    size += typeof cell === 'string' || cell instanceof Uint8Array ? cell.length : 8;
  return size;
}
