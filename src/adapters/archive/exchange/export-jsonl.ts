import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../../core/result.ts';
import {
  type ExportSink,
  type ExportSource,
  type FoundRecord,
  type OpenOutput,
  parseJson,
  refuseExport,
  refuseFile,
} from './export-manifest.ts';
import { encodeRecord, FILES, type Stored } from './export-records.ts';

const MAX_PENDING_CHARS = 1024 * 1024;

/** A file for each kind of record, also where there are none, with one JSON object a line. */
export function createJsonlSink(open: OpenOutput): ExportSink {
  type File = {
    readonly append: ReturnType<OpenOutput>;
    records: number;
    pending: string[];
    pendingChars: number;
  };
  const files = new Map<string, File>(
    Object.values(FILES).map((name) => [
      name,
      { append: open(`${name}.jsonl`), records: 0, pending: [], pendingChars: 0 },
    ]),
  );
  const flush = (file: File): void => {
    file.append(Buffer.from(file.pending.join('')));
    file.pending = [];
    file.pendingChars = 0;
  };
  return {
    write: (record) => {
      const file = files.get(FILES[record.kind]);
      if (file === undefined) throw new Error(`unknown kind of record: ${record.kind}`);
      const line = `${JSON.stringify(encodeRecord(record))}\n`;
      file.pending.push(line);
      file.pendingChars += line.length;
      file.records += 1;
      if (file.pendingChars > MAX_PENDING_CHARS) flush(file);
    },
    finish: () =>
      [...files].map(([name, file]) => {
        flush(file);
        return { name: `${name}.jsonl`, records: file.records };
      }),
  };
}

export async function* readJsonl({ folder, findFile }: ExportSource, kind: keyof Stored): AsyncGenerator<FoundRecord> {
  const name = `${FILES[kind]}.jsonl`;
  const path = join(folder, name);
  const listed = findFile(name);
  if (listed === null) refuseExport(path, 'the file is missing in the manifest');
  const { records, sha256 } = listed;
  const digest = createHash('sha256');
  let line = 0;
  for await (const text of readLines(path, digest)) {
    line += 1;
    if (line > records) refuseExport(path, `the file has more lines than were exported (${records})`, line);
    const whole = text ?? refuseExport(path, 'the file was cut off in this line', line);
    yield { line, path, value: parseJson(whole) ?? refuseExport(path, 'it is not valid JSON', line) };
  }
  if (line < records) refuseExport(path, `the file was cut off: it had ${records} lines`, line + 1);
  if (digest.digest('hex') !== sha256) refuseExport(path, 'the file was changed after it was exported');
}

/** The lines of a file without their endings; null: the last one has none. */
async function* readLines(path: string, digest: ReturnType<typeof createHash>): AsyncGenerator<string | null> {
  let pieces: Buffer[] = [];
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
      digest.update(chunk);
      let from = 0;
      for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
        pieces.push(chunk.subarray(from, end));
        yield Buffer.concat(pieces).toString('utf8');
        pieces = [];
        from = end + 1;
      }
      if (from < chunk.length) pieces.push(chunk.subarray(from));
    }
  } catch (error) {
    if (systemCode(error) === null) throw error;
    refuseFile(path, error);
  }
  if (pieces.length > 0) yield null;
}
