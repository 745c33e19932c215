import { hash } from 'node:crypto';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type Compressors, parquetMetadata, type ParquetParsers, parquetReadObjects } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { ExportKind, ReadLimits } from '../../../ports/exchange.ts';
import { createLineSource, MAX_OUTSIDE_LINE_BYTES, openOutsideFile } from '../../../system/outside-file.ts';
import { carriedFileFailure } from '../../../system/files.ts';
import {
  type ExportFile,
  type ExportSink,
  type ExportSource,
  type FoundRecord,
  inMebibytes,
  type OpenOutput,
  refuseExport,
  refuseFile,
} from './manifest.ts';
import type { Stored } from './records.ts';
import { type Cell, type Row, schemaOf, type Table, TABLES, toRecord, toRows } from './tables.ts';

/** A row group is in memory while it is written or read. */
const MAX_GROUP_ROWS = 100_000;
const MAX_GROUP_BYTES = 8 * 1024 * 1024;

/** A file for each table, also where it is empty, so that queries find the same tables in every export. */
export function createSink(open: OpenOutput): ExportSink {
  const tables = new Map(allTables().map((table) => [table.name, createTableWriter(table, open)]));
  return {
    write: (kind, record) => {
      for (const { table, row } of toRows(TABLES[kind], record)) tables.get(table.name)?.write(row);
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

function createTableWriter(table: Table, open: OpenOutput) {
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
    const toPhysical = (cell: Cell): Cell | bigint => (typeof cell === 'number' ? BigInt(cell) : cell);
    const columnData = table.columns.map((column) => ({
      name: column.name,
      data: rows.map((row) => toPhysical(row[column.name] ?? null)),
    }));
    void parquet.write({ columnData, rowGroupSize: rows.length }); // it waits for nothing
    endSection();
  };
  return {
    write: (row: Row): void => {
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

function sizeOf(row: Row): number {
  let size = 0;
  for (const cell of Object.values(row))
    size += typeof cell === 'string' || cell instanceof Uint8Array ? cell.length : 8;
  return size;
}

/** The records of a kind before they are checked. */
export function read(source: ExportSource, kind: ExportKind): AsyncGenerator<FoundRecord> {
  return readTable(source, TABLES[kind]);
}

/** The records of a table with their parts, which are read from their own files at the same time. */
async function* readTable(source: ExportSource, table: Table): AsyncGenerator<FoundRecord> {
  const name = `${table.name}.parquet`;
  const path = join(source.folder, name);
  const listed = source.findFile(name);
  if (listed === null) refuseExport(path, 'the file is missing in the manifest');
  const parts = table.parts === null ? null : readTable(source, table.parts.table);
  let line = 0;
  try {
    for await (const row of readRows(path, { table, listed, limits: source.limits })) {
      line += 1;
      const record = parseRow(table, row) ?? refuseExport(path, 'a column is not valid JSON', line);
      if (table.parts === null || parts === null) {
        yield { line, path, value: record };
        continue;
      }
      const { property, count } = table.parts;
      const list: unknown[] = [];
      while (list.length < Number(row[count])) {
        const next = await parts.next();
        if (next.done === true) refuseExport(path, `its ${property} are missing`, line);
        else list.push(next.value.value);
      }
      yield { line, path, value: { ...record, [property]: list } };
    }
    if (parts !== null && (await parts.next()).done !== true)
      refuseExport(path, 'records of other tables belong to none of its rows');
  } finally {
    await parts?.return(undefined);
  }
}

function parseRow(table: Table, row: Row): Stored | null {
  try {
    return toRecord(table, row);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
}

/** The rows of a file. Each part of it is checked against its hash before anything interprets it. */
async function* readRows(
  path: string,
  { table, listed, limits }: { readonly table: Table; readonly listed: ExportFile; readonly limits: ReadLimits },
): AsyncGenerator<Row> {
  const { sections = [] } = listed;
  const maxBytes = limits.maxLineBytes ?? MAX_OUTSIDE_LINE_BYTES;
  const sizeBytes = sections.reduce((sum, section) => sum + section.sizeBytes, 0);
  const footer = sections.at(-1) ?? refuseExport(path, 'the manifest does not describe it');
  for (const { sizeBytes: length, records } of sections)
    if (length > maxBytes || records > MAX_GROUP_ROWS)
      refuseFile(path, { kind: 'too-large', path, limitBytes: maxBytes });
  const opened = openOutsideFile(path, { followsLinks: false });
  const { fd: file, stats } = opened.ok ? opened.value : refuseFile(path, opened.error);
  try {
    const found = Number(stats.size);
    if (found !== sizeBytes)
      refuseExport(path, `the file has ${found} bytes, and had ${sizeBytes} when it was exported`);
    const readSection = ({ sizeBytes: length, sha256 }: typeof footer, start: number, what: string): ArrayBuffer => {
      const bytes = readExactly(path, { file, start, length });
      return hash('sha256', bytes) === sha256
        ? bytes.buffer
        : refuseExport(path, `${what} changed after the export was made`);
    };
    const tail = readSection(footer, sizeBytes - footer.sizeBytes, 'the end of the file was');
    const metadata = await interpret(path, () => parquetMetadata(tail));
    const columnsOf = (schema: ReturnType<typeof schemaOf>): string =>
      schema.map(({ name, type }) => `${name} ${type ?? ''}`).join(', ');
    if (columnsOf(metadata.schema) !== columnsOf(schemaOf(table)))
      refuseExport(path, 'its columns are not those of an export');
    let [start, rowStart] = [0, 0];
    for (const section of sections.slice(0, -1)) {
      await setImmediate();
      limits.signal?.throwIfAborted();
      const rowEnd = rowStart + section.records;
      const sectionStart = start;
      const bytes = readSection(section, start, `rows ${rowStart + 1} to ${rowEnd} were`);
      const slice = (from: number, to = sizeBytes): ArrayBuffer => bytes.slice(from - sectionStart, to - sectionStart);
      const of = { file: { byteLength: sizeBytes, slice }, metadata, rowStart, rowEnd };
      const compressors = createCompressors(maxBytes);
      const rows = await interpret(path, () => parquetReadObjects({ ...of, compressors, parsers, utf8: false }));
      if (rows.length !== section.records) refuseExport(path, `rows ${rowStart + 1} to ${rowEnd} are not all there`);
      for (const row of rows) yield toCells(table, row);
      start += section.sizeBytes;
      rowStart = rowEnd;
    }
  } finally {
    closeSync(file);
  }
}

/** Unpacks the pages of one group of rows, which together are as large as a group may be. */
function createCompressors(maxBytes: number): Compressors {
  let left = maxBytes;
  return {
    ZSTD: (input: Uint8Array, outputBytes: number): Uint8Array => {
      left -= outputBytes;
      if (left < 0) throw new Error(`a group of its rows is larger than ${inMebibytes(maxBytes)}`);
      return zstdDecompressSync(input, { maxOutputLength: Math.max(1, outputBytes) });
    },
  };
}
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const parsers: Partial<ParquetParsers> = {
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && decoder.decode(bytes),
  timestampFromMilliseconds: Number, // a `Date` cannot have every number that an archive can
};

function toCells({ columns }: Table, row: Readonly<Record<string, unknown>>): Row {
  const toCell = (value: unknown): Cell => (typeof value === 'bigint' ? Number(value) : ((value ?? null) as Cell)); // by the schema
  return Object.fromEntries(columns.map(({ name }) => [name, toCell(row[name])]));
}

/** Throws an `ArchiveError` whatever goes wrong: the library throws errors of all kinds at bytes that are no Parquet. */
async function interpret<T>(path: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refuseExport(path, `it cannot be read as Parquet (${reason})`);
  }
}

function readExactly(
  path: string,
  { file, start, length }: { readonly file: number; readonly start: number; readonly length: number },
): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(new ArrayBuffer(length));
  try {
    const count = createLineSource(file, path, start + length).fill(bytes, start);
    if (count < length) refuseExport(path, 'the file was cut off while it was read');
  } catch (error) {
    const failure = carriedFileFailure(error);
    if (failure === null) throw error;
    refuseFile(path, failure);
  }
  return bytes;
}
