import { err, ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import type { Archive } from '../ports/archive.ts';
import type { AppDeps, ArchiveMode } from './deps.ts';
import type { Failure } from './failure.ts';
import { hashPrefix } from './hash-prefix.ts';
import type { FileStore } from '../ports/files.ts';
import type { Runtime } from '../ports/runtime.ts';

/** The archive as it is, for what only looks; null: there is none. */
export async function openUnsettled(deps: AppDeps): Promise<Result<Archive | null, Failure>> {
  const archive = await deps.openArchive('existing');
  return archive.ok ? archive : err({ kind: 'archive', failure: archive.error });
}

/** The archive, with what a crash left in it settled; null: there is none. */
export async function openSettled(deps: AppDeps, mode: ArchiveMode): Promise<Result<Archive | null, Failure>> {
  const archive = await deps.openArchive(mode);
  if (!archive.ok) return err({ kind: 'archive', failure: archive.error });
  if (archive.value !== null) await settlePrepared(archive.value, deps);
  return ok(archive.value);
}

/**
 * Settles what a crash left `prepared`: applied where the output stands on disk as it was to be written (lines appended since do not
 * matter), else discarded. A compaction whose process still runs is left to it.
 */
async function settlePrepared(
  archive: Archive,
  { files, runtime }: { readonly files: FileStore; readonly runtime: Runtime },
): Promise<void> {
  for (const prepared of archive.listPrepared()) {
    if (prepared.processId !== runtime.processId && runtime.isProcessAlive(prepared.processId)) continue;
    const path = prepared.outputPath;
    const isThere = path !== null && (await beginsWith({ files, runtime, path, output: prepared.output }));
    if (isThere) archive.markApplied(prepared.id);
    else archive.discard(prepared.id);
  }
}

async function beginsWith({
  files,
  runtime,
  path,
  output,
}: {
  readonly files: FileStore;
  readonly runtime: Runtime;
  readonly path: string;
  readonly output: { readonly sha256: string; readonly sizeBytes: number };
}): Promise<boolean> {
  const opened = await files.open(path);
  if (!opened.ok) return false;
  try {
    return hashPrefix(runtime, opened.value, output.sizeBytes) === output.sha256;
  } finally {
    opened.value.close();
  }
}
