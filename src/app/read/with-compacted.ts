import { err, type Result } from '../../core/result.ts';
import type { Archive } from '../../ports/archive.ts';
import type { SourceFile } from '../../ports/files.ts';
import { toFailure } from '../contract/archive-failure.ts';
import type { AppDeps } from '../contract/deps.ts';
import type { Failure } from '../contract/failure.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { openSettled } from '../write/settle.ts';
import { notFound, readStage, type Stage } from './locate.ts';
import { openTranscript } from './open-transcript.ts';
import { readRecords } from './records.ts';
import { RestoreError } from './restored-lines.ts';

export type OpenCompacted = { readonly stage: Stage; readonly archive: Archive; readonly source: SourceFile };

/** Opens a file that may have been compacted, reads it through, and works on it with the archive beside it. */
export async function withCompacted<T>(
  deps: AppDeps,
  input: TranscriptInput,
  work: (opened: OpenCompacted) => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  try {
    const archive = await openSettled(deps, 'existing');
    if (!archive.ok) return archive;
    const cleared = await deps.files.clearLeftovers(input.path);
    if (!cleared.ok) return err({ kind: 'file', failure: cleared.error });
    const opened = await openTranscript(input, deps);
    if (!opened.ok) return opened;
    const { source, codec } = opened.value;
    try {
      const lines = function* (): Generator<Uint8Array> {
        for (const raw of readRecords(source, codec)) yield raw.bytes;
      };
      const stage = await readStage(deps, {
        lines,
        hasBom: source.bomLength > 0,
        ownBytes: source.sizeBytes,
        codec,
        name: input.name,
      });
      if (!stage.ok) return stage;
      if (archive.value === null) return notFound(deps, { stage: stage.value, file: input.name, archive: null });
      return await work({ stage: stage.value, archive: archive.value, source });
    } finally {
      source.close();
    }
  } catch (error) {
    if (error instanceof RestoreError) {
      return err({ kind: 'altered', file: input.name, line: error.line, problem: error.message });
    }
    return err(toFailure(error, input.name));
  } finally {
    deps.progress.finish();
  }
}
