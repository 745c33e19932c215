import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lazily } from '../../../core/lazy.ts';
import { systemCode } from '../../../core/result.ts';
import type { ExportEncoding, ExportFolders, ExportRecord, ExportWriter, ReadLimits } from '../../../ports/export.ts';
import { createArchiveFile } from '../create.ts';
import { archiveError } from '../failure.ts';
import { createJsonlSink, readJsonl } from './export-jsonl.ts';
import {
  type ExportFile,
  type ExportSink,
  type ExportSource,
  type FoundRecord,
  MANIFEST,
  type Manifest,
  type OpenOutput,
  readManifest,
  refuseExport,
} from './export-manifest.ts';
import { decodeRecord, type Stored } from './export-records.ts';
import { openFileTarget } from './open.ts';

/** How records become files. */
type Encoding = {
  readonly createSink: (open: OpenOutput) => ExportSink;
  readonly read: (source: ExportSource, kind: keyof Stored) => AsyncIterable<FoundRecord>;
};
const jsonl: Encoding = { createSink: createJsonlSink, read: readJsonl };
const parquet = lazily(async (): Promise<Encoding> => {
  const { createParquetSink } = await import('./parquet-writer.ts');
  const { readParquet } = await import('./parquet-reader.ts');
  return { createSink: createParquetSink, read: readParquet };
});
const findEncoding = async (name: ExportEncoding): Promise<Encoding> => (name === 'jsonl' ? jsonl : parquet());

/** Reads and writes exports: folders with a manifest. `extension`: of vectors, as for a target. */
export const createExportFolders = (extension: string | null): ExportFolders => ({
  create: async (folder, encoding) => createExport(folder, encoding, (await findEncoding(encoding)).createSink),
  read: readRecords,
  refuseRest: (folder, kind) => refuseExport(folder, `it has records that belong to nothing (${kind})`),
  openScratch: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'compact-import-'));
    const place = join(folder, 'archive.db');
    const remove = (): void => rmSync(folder, { recursive: true, force: true });
    createArchiveFile(place);
    const opened = openFileTarget(place, extension);
    if (!opened.ok) {
      remove();
      throw archiveError(opened.error);
    }
    return { ...opened.value, place, remove };
  },
});

const NEEDS_PERMISSION = 'Check its permissions and its disk, or name another folder.';

type Output = { readonly descriptor: number; readonly hash: ReturnType<typeof createHash> };

function createExport(
  folder: string,
  encoding: ExportEncoding,
  createSink: (open: OpenOutput) => ExportSink,
): ExportWriter {
  const refuse = (reason: string, advice = 'Name a new or an empty folder.'): never => {
    throw archiveError({ kind: 'bad-export', path: folder, line: null, reason, advice });
  };
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
      if (code === 'ENOSPC' || code === 'EDQUOT') throw archiveError({ kind: 'no-space', path: folder });
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
    write: (record) => guarded(() => sink.write(record)),
    commit: () =>
      guarded(() => {
        const files = new Map(sink.finish().map((file) => [file.name, file]));
        const manifest: Manifest = { format: 'compact-export', version: 1, encoding, files: [] };
        for (const [name, { descriptor, hash }] of outputs) {
          fsyncSync(descriptor);
          closeSync(descriptor);
          const { records, sections } = files.get(name) ?? { records: 0 };
          manifest.files.push({ name, records, sha256: hash.digest('hex'), sections });
        }
        for (const name of outputs.keys()) renameSync(temporary(name), join(folder, name));
        // Without it, the folder is not an export.
        writeFileSync(temporary(MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, {
          flag: 'wx',
          mode: 0o600,
          flush: true,
        });
        renameSync(temporary(MANIFEST), join(folder, MANIFEST));
        state.isOver = true;
      }),
    abandon: () => {
      if (state.isOver) return;
      state.isOver = true;
      for (const [name, { descriptor }] of outputs) {
        try {
          closeSync(descriptor);
        } catch (error) {
          if (systemCode(error) === null) throw error; // it was closed before
        }
        rmSync(temporary(name), { force: true });
        rmSync(join(folder, name), { force: true });
      }
      rmSync(temporary(MANIFEST), { force: true });
      if (state.madeFolder) rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function* readRecords<Kind extends ExportRecord['kind']>(
  folder: string,
  kind: Kind,
  limits: ReadLimits = {},
): AsyncGenerator<Extract<ExportRecord, { readonly kind: Kind }>> {
  const { encoding, files } = readManifest(folder);
  const findFile = (name: string): ExportFile | null => files.find((file) => file.name === name) ?? null;
  const { read } = await findEncoding(encoding);
  for await (const { value, path, line } of read({ folder, findFile, limits }, kind)) {
    const record = decodeRecord(kind, value);
    if (typeof record === 'string') refuseExport(path, record, line);
    yield record as Extract<ExportRecord, { readonly kind: Kind }>; // decoded as this kind
  }
}
