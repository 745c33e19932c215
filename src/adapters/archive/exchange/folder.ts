import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lazily } from '../../../core/lazy.ts';
import { systemCode, parseJson } from '../../../core/result.ts';
import type { ExportEncoding, ExportFolders, ExportKind, ExportWriter } from '../../../ports/exchange.ts';
import { readOutsideLines } from '../../../system/outside-file.ts';
import { carriedFileFailure, isFullDisk, moveFile, tryTo } from '../../../system/files.ts';
import { createArchiveFile } from '../sqlite/create.ts';
import { unfinishedName } from '../sqlite/unfinished.ts';
import { archiveError } from '../failure.ts';
import {
  type ExportFile,
  type ExportSink,
  type ExportSource,
  type FoundRecord,
  MANIFEST,
  type OpenOutput,
  readManifest,
  refuseExport,
  refuseFile,
} from './manifest.ts';
import { openFileTarget } from './open.ts';
import { decodeRecord, encodeRecord } from './records.ts';
import { TABLE_NAMES } from './tables.ts';

/** How records become files. */
type Encoding = {
  readonly createSink: (open: OpenOutput) => ExportSink;
  readonly read: (source: ExportSource, kind: ExportKind) => AsyncIterable<FoundRecord>;
};
const parquet = lazily(() => import('./parquet.ts'));
const findEncoding = async (name: ExportEncoding): Promise<Encoding> => (name === 'jsonl' ? JSONL : parquet());

/** Reads and writes exports: folders with a manifest. `extension`: of vectors, as for a target. */
export const createExportFolders = (extension: string | null): ExportFolders => ({
  create: async (folder, encoding) => createExport(folder, encoding, (await findEncoding(encoding)).createSink),
  async *read(folder, kind, limits = {}) {
    const { encoding, files } = readManifest(folder);
    const findFile = (name: string): ExportFile | null => files.find((file) => file.name === name) ?? null;
    const { read } = await findEncoding(encoding);
    for await (const { value, path, line } of read({ folder, findFile, limits }, kind)) {
      const record = decodeRecord(kind, value);
      yield typeof record === 'string' ? refuseExport(path, record, line) : record;
    }
  },
  refuseRest: (folder, kind) => refuseExport(folder, `it has records that belong to nothing (${kind})`),
  openScratch: async () => {
    const folder = unfinishedName(join(tmpdir(), 'compact-import'));
    const place = join(folder, 'archive.db');
    const remove = (): void => rmSync(folder, { recursive: true, force: true });
    try {
      mkdirSync(folder, { mode: 0o700 });
      createArchiveFile(place);
      const opened = openFileTarget(place, extension);
      if (opened.ok) return { ...opened.value, place, remove };
      throw archiveError(opened.error);
    } catch (error) {
      remove();
      const code = systemCode(error);
      if (code === null) throw error;
      if (isFullDisk(code)) throw archiveError({ kind: 'no-space', path: place });
      const advice = 'Name another folder with TMPDIR.';
      throw archiveError({ kind: 'unsupported', path: folder, reason: `it cannot be created (${code})`, advice });
    }
  },
});

const NEEDS_PERMISSION = 'Check its permissions and its disk, or name another folder.';

type Output = { readonly descriptor: number; readonly hash: ReturnType<typeof createHash> };

function createExport(
  folder: string,
  encoding: ExportEncoding,
  createSink: (open: OpenOutput) => ExportSink,
): ExportWriter {
  const refuse = (reason: string, advice = 'Name a new or an empty folder.'): never =>
    refuseExport(folder, reason, null, advice);
  const state = { madeFolder: false, isOver: false };
  try {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      state.madeFolder = true;
    } else if (stats.isSymbolicLink()) refuse('it is a symbolic link', 'Name the folder itself.');
    else if (!stats.isDirectory()) refuse('it is not a folder');
    else if (readdirSync(folder).length > 0) refuse('it is not empty');
  } catch (error) {
    const code = systemCode(error);
    if (code === null) throw error;
    refuse(`it cannot be created (${code})`, NEEDS_PERMISSION);
  }
  const token = randomUUID();
  const temporary = (name: string): string => join(folder, `.${name}.${token}.part`);
  const outputs = new Map<string, Output>();
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      const code = systemCode(error);
      if (isFullDisk(code)) throw archiveError({ kind: 'no-space', path: folder });
      if (code === null) throw error;
      return refuse(`it cannot be written (${code})`, NEEDS_PERMISSION);
    }
  };
  const open: OpenOutput = (name) => {
    // 'wx' follows no link.
    const output = { descriptor: openSync(temporary(name), 'wx', 0o600), hash: createHash('sha256') };
    outputs.set(name, output);
    return (bytes) => {
      output.hash.update(bytes);
      for (let at = 0; at < bytes.length;) at += writeSync(output.descriptor, bytes, at);
    };
  };
  const sink = guarded(() => createSink(open));
  return {
    write: (kind, record) => guarded(() => sink.write(kind, encodeRecord(record))),
    commit: () =>
      guarded(() => {
        const files = new Map(sink.finish().map((file) => [file.name, file]));
        const listed: ExportFile[] = [];
        for (const [name, { descriptor, hash }] of outputs) {
          fsyncSync(descriptor);
          closeSync(descriptor);
          listed.push({ records: 0, ...files.get(name), name, sha256: hash.digest('hex') });
        }
        const manifest = { format: 'compact-export', version: 1, encoding, files: listed };
        for (const name of outputs.keys()) moveFile(temporary(name), join(folder, name));
        // Without it, the folder is not an export.
        writeFileSync(temporary(MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, {
          flag: 'wx',
          mode: 0o600,
          flush: true,
        });
        moveFile(temporary(MANIFEST), join(folder, MANIFEST));
        state.isOver = true;
      }),
    abandon: () => {
      if (state.isOver) return;
      state.isOver = true;
      for (const [name, { descriptor }] of outputs) {
        // It was closed before.
        tryTo(() => closeSync(descriptor));
        rmSync(temporary(name), { force: true });
        rmSync(join(folder, name), { force: true });
      }
      rmSync(temporary(MANIFEST), { force: true });
      if (state.madeFolder) rmSync(folder, { recursive: true, force: true });
    },
  };
}

const MAX_PENDING_CHARS = 1024 * 1024;

const JSONL: Encoding = {
  /** A file for each kind of record, also where there are none, with one JSON object a line. */
  createSink: (open) => {
    const createFile = (name: string) => ({ name, append: open(name), records: 0, pending: '' });
    const files = new Map(
      Object.entries(TABLE_NAMES).map(([kind, table]) => [kind, createFile(`${table}.jsonl`)] as const),
    );
    const flush = (file: ReturnType<typeof createFile>): void => {
      file.append(Buffer.from(file.pending));
      file.pending = '';
    };
    return {
      write: (kind, record) => {
        const file = files.get(kind);
        if (file === undefined) throw new Error(`unknown kind of record: ${kind}`);
        file.pending += `${JSON.stringify(record)}\n`;
        file.records += 1;
        if (file.pending.length > MAX_PENDING_CHARS) flush(file);
      },
      finish: () => {
        for (const file of files.values()) flush(file);
        return Array.from(files.values(), ({ name, records }) => ({ name, records }));
      },
    };
  },
  async *read({ folder, findFile, limits }, kind) {
    const name = `${TABLE_NAMES[kind]}.jsonl`;
    const path = join(folder, name);
    const { records, sha256 } = findFile(name) ?? refuseExport(path, 'the file is missing in the manifest');
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
  },
};
