import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readOutsideLines } from '../../fs/outside-file.ts';
import { carriedFileFailure } from '../../fs/system.ts';
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

export async function* readJsonl(
  { folder, findFile, limits }: ExportSource,
  kind: keyof Stored,
): AsyncGenerator<FoundRecord> {
  const name = `${FILES[kind]}.jsonl`;
  const path = join(folder, name);
  const listed = findFile(name);
  if (listed === null) refuseExport(path, 'the file is missing in the manifest');
  const { records, sha256 } = listed;
  const digest = createHash('sha256');
  let count = 0;
  try {
    for await (const { line, bytes, eolLength } of readOutsideLines(path, limits)) {
      if (line > records) refuseExport(path, `the file has more lines than were exported (${records})`, line);
      if (eolLength === 0) refuseExport(path, 'the file was cut off in this line', line);
      digest.update(bytes);
      const value = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'));
      yield { line, path, value: value ?? refuseExport(path, 'it is not valid JSON', line) };
      count = line;
    }
  } catch (error) {
    const failure = carriedFileFailure(error);
    if (failure === null) throw error;
    refuseFile(path, failure);
  }
  if (count < records) refuseExport(path, `the file was cut off: it had ${records} lines`, count + 1);
  if (digest.digest('hex') !== sha256) refuseExport(path, 'the file was changed after it was exported');
}
