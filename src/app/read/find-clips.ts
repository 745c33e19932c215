import { DEFAULT_SCORING_CONFIG } from '../../core/policy.ts';
import { ok, type Result } from '../../core/result.ts';
import type { AppDeps } from '../contract/deps.ts';
import type { Failure } from '../contract/failure.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { asFileSource, scanTranscript } from './index-records.ts';
import { openTranscript } from './open-transcript.ts';

/** The sha256 of every line of a file that looks like a compaction's summary, in file order. */
export async function findClips(
  deps: AppDeps,
  input: TranscriptInput,
): Promise<Result<{ readonly format: string; readonly sha256: readonly string[] }, Failure>> {
  const opened = await openTranscript(input, deps);
  if (!opened.ok) return opened;
  const { source, codec } = opened.value;
  try {
    const scan = await scanTranscript(deps, {
      source: asFileSource(source, codec),
      codec,
      session: codec.open(),
      name: input.name,
      scoring: DEFAULT_SCORING_CONFIG,
      keepInvalid: true,
      isOneFormat: false,
    });
    if (!scan.ok) return scan;
    const sha256 = scan.value.entries.flatMap((entry) => (entry.sha256 === undefined ? [] : [entry.sha256]));
    return ok({ format: codec.format.name, sha256 });
  } finally {
    source.close();
  }
}
