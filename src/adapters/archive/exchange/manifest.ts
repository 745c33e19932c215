import { statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { ExportKind, ReadLimits } from '../../../ports/exchange.ts';
import type { FileFailure } from '../../../ports/files.ts';
import { MAX_OUTSIDE_LINE_BYTES, readOutsideFile } from '../../../system/outside-file.ts';
import { archiveError } from '../failure.ts';
import type { Stored } from './records.ts';
import { parseJson } from '../../../core/result.ts';

export const MANIFEST = 'manifest.json';

const count = z.int().min(0);
const manifestSchema = z.strictObject({
  format: z.literal('compact-export'),
  version: z.literal(1),
  encoding: z.enum(['jsonl', 'parquet']),
  files: z.array(
    z.strictObject({
      name: z.string(),
      records: count,
      sha256: z.string(),
      /** Of a Parquet file: its row groups in order, and the footer. */
      sections: z.array(z.strictObject({ records: count, sizeBytes: count, sha256: z.string() })).optional(),
    }),
  ),
});

export type ExportFile = z.infer<typeof manifestSchema>['files'][number];

/** Writes the records of an export, as JSON values, into files. */
export type ExportSink = {
  readonly write: (kind: ExportKind, record: Stored) => void;
  /** Writes what is left. Gives the files as the manifest lists them, but for the hash of the whole file. */
  readonly finish: () => readonly Omit<ExportFile, 'sha256'>[];
};
/** Opens a file of the export; gives a function that adds bytes to it. */
export type OpenOutput = (name: string) => (bytes: Uint8Array) => void;

/** A record of an export before it is checked. `line`: or row, from 1. */
export type FoundRecord = { readonly line: number; readonly path: string; readonly value: unknown };
export type ExportSource = {
  readonly folder: string;
  readonly findFile: (name: string) => ExportFile | null;
  readonly limits: ReadLimits;
};

const COPY = 'Copy the whole export again, or make a new one.';

/** Throws that an export was changed or is not complete. `line`: or row, from 1. */
export function refuseExport(path: string, reason: string, line: number | null = null, advice = COPY): never {
  throw archiveError({ kind: 'bad-export', path, line, reason, advice });
}

/** Throws an `ArchiveError` if the folder is not a complete export. */
export function readManifest(folder: string): z.infer<typeof manifestSchema> {
  const path = join(folder, MANIFEST);
  const file = readOutsideFile(path, { followsLinks: false, maxBytes: MAX_OUTSIDE_LINE_BYTES });
  if (!file.ok) {
    if (file.error.kind !== 'not-found') return refuseFile(path, file.error);
    if (statSync(folder, { throwIfNoEntry: false })?.isFile() === true)
      return refuseExport(folder, 'it is not a folder', null, 'Name the folder of an export.');
    return refuseExport(path, 'it does not exist, so this is not a complete export');
  }
  const found = manifestSchema.safeParse(parseJson(Buffer.from(file.value.bytes).toString('utf8')));
  if (found.success) return found.data;
  const advice = 'If a newer version made the export, update compact. Otherwise make a new one.';
  return refuseExport(path, 'it is not the manifest of an export that this version can read', null, advice);
}

/** Throws why a file of an export cannot be read. */
export function refuseFile(path: string, failure: FileFailure): never {
  switch (failure.kind) {
    case 'not-found':
      return refuseExport(path, 'the file is missing');
    case 'not-a-file':
      return refuseExport(path, `it is ${failure.is}, and no export has one`);
    case 'line-too-long':
      return refuseExport(
        path,
        `this line is longer than ${inMebibytes(failure.maxLineBytes)}`,
        failure.line,
        ALLOW_MORE,
      );
    case 'too-large':
      return refuseExport(path, `it is larger than ${inMebibytes(failure.limitBytes)}`, null, ALLOW_MORE);
    default: {
      const why = failure.kind === 'denied' ? 'permission denied' : 'code' in failure ? failure.code : failure.kind;
      const advice = 'Check its permissions and its disk, or copy the whole export again.';
      return refuseExport(path, `it cannot be read (${why})`, null, advice);
    }
  }
}

export const inMebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`;
/** Advice for what is longer than usual, which a damaged or hostile export mostly is. */
const ALLOW_MORE = 'If you trust this export, allow more with --max-line SIZE.';
