import { formatTime } from '../../core/batch.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Archive } from '../../ports/archive.ts';
import type { CapturedFile, CapturedState } from '../../ports/captures.ts';
import type { SourceFile } from '../../ports/files.ts';
import type { RestoreCapturedReport } from '../contract/reports.ts';
import type { WritingDeps } from '../contract/deps.ts';
import { attempt, type LookupFailure } from '../contract/failure.ts';
import type { RestoreCapturedRequest } from '../contract/requests.ts';
import { withFileLock } from '../write/deliver.ts';
import { openUnsettled } from '../write/settle.ts';
import { writeOutput, writeNew } from '../write/write-output.ts';
import { checkReadable, findByName, hashDisk, notCaptured, readState } from './captured.ts';

type Restored = Result<RestoreCapturedReport, LookupFailure>;

/**
 * Writes a captured version of a file, byte for byte, whether the file and its folder still exist or not. A file that exists is replaced only in place, and
 * only if the archive can give back its present content too.
 */
export async function restoreCaptured(deps: WritingDeps, request: RestoreCapturedRequest): Promise<Restored> {
  return attempt({ file: request.file, progress: deps.progress }, async () => {
    const archive = await openUnsettled(deps);
    if (archive === null) return err(notCaptured(deps, request.file));
    const [file, ...others] = await findByName(deps, archive, request.file);
    if (file === undefined) return err(notCaptured(deps, request.file));
    if (others.length > 0) return err(ambiguous(request.file, [file, ...others]));
    const states = await archive.captures.listStates(file.id);
    const { version, at } = request;
    const asked = states.filter(
      (one) =>
        one.change !== 'gone' && (version === null || one.version === version) && (at === null || one.capturedAt <= at),
    );
    const state = asked.at(-1); // the last one that has content
    return state === undefined
      ? err({ kind: 'no-version', file: file.path })
      : write(deps, request, { archive, file, state, states });
  });
}

const MAX_CANDIDATES = 10;

function ambiguous(name: string, files: readonly CapturedFile[]): LookupFailure {
  const candidates = files.slice(0, MAX_CANDIDATES).map(({ path, last }) => ({
    name: path,
    about: `captured ${formatTime(last.capturedAt) ?? ''}`,
  }));
  return { kind: 'ambiguous', name, candidates, hasMore: files.length > MAX_CANDIDATES };
}

type Chosen = {
  readonly archive: Archive;
  readonly file: CapturedFile;
  readonly state: CapturedState;
  readonly states: readonly CapturedState[];
};

async function write(deps: WritingDeps, { output }: RestoreCapturedRequest, chosen: Chosen): Promise<Restored> {
  const { file, state } = chosen;
  if (output.kind === 'stdout') {
    // Standard output cannot be taken back, so everything is proven before it is written.
    for await (const piece of pieces(deps, chosen)) void piece;
    for await (const piece of pieces(deps, chosen)) deps.stdout(piece);
    return ok(report(chosen, '-'));
  }
  const path = output.kind === 'in-place' ? file.path : output.path;
  return withFileLock<Restored>(
    deps,
    path,
    async (lock) => {
      const existing = await deps.files.open(path);
      if (!existing.ok && existing.error.kind !== 'not-found') return err({ kind: 'file', failure: existing.error });
      const source = existing.ok ? existing.value : null;
      try {
        const present =
          source === null
            ? null
            : { sizeBytes: source.stamp.sizeBytes, sha256: hashDisk(deps.runtime.createHash(), source).digest() };
        if (present !== null && isContentOf(state, present)) return ok(report(chosen, path));
        if (source !== null && output.kind === 'file')
          return err({ kind: 'output-exists', file: file.path, output: path });
        const kept = present === null ? 'yes' : await isKept(deps, chosen, present);
        if (kept !== 'yes') return err({ kind: 'uncaptured', file: path, isDamaged: kept === 'damaged' });
        const content = { lock, pieces: pieces(deps, chosen) };
        const { marks } = state;
        if (source === null) await writeNew({ ...content, file: file.path, target: { path, stamp: null }, marks });
        else await replace(deps, { ...content, file, source, marks, sha256: present?.sha256 ?? '' });
        return ok(report(chosen, path));
      } finally {
        source?.close();
      }
    },
    { makesFolder: output.kind === 'in-place' },
  );
}

type Content = Pick<CapturedState, 'sizeBytes' | 'sha256'>;

function isContentOf(state: CapturedState, { sizeBytes, sha256 }: Content): boolean {
  return state.change !== 'gone' && state.sizeBytes === sizeBytes && state.sha256 === sha256;
}

/** Whether the archive can give back the present content, of which it will have the only copy. */
async function isKept({ runtime }: WritingDeps, { archive, states }: Chosen, present: Content) {
  const same = states.filter((one) => isContentOf(one, present));
  let found: 'no' | 'damaged' = 'no';
  for (const state of same) {
    const readable = await checkReadable(runtime, { archive, state });
    if (readable === 'yes') return 'yes';
    if (readable === 'damaged') found = 'damaged';
  }
  return found;
}

type Replacing = Pick<Parameters<typeof writeOutput>[1], 'lock' | 'pieces' | 'marks'> & {
  readonly file: CapturedFile;
  readonly source: SourceFile;
  readonly sha256: string;
};

/** Replaces the file unless anything is written to it meanwhile. */
async function replace(deps: WritingDeps, { lock, file, source, sha256, pieces, marks }: Replacing) {
  const { stamp, sizeBytes } = source;
  return writeOutput(deps, {
    lock,
    file: file.path,
    format: file.format,
    like: file.path,
    compression: 'none', // what was captured is what was on the disk
    pieces,
    marks,
    source,
    known: { stamp, sizeBytes, sha256, isDocument: true },
    target: { path: file.path, stamp },
    replacesSource: true,
  });
}

/** The proven bytes of the state that is restored. */
async function* pieces(deps: WritingDeps, chosen: Chosen): AsyncGenerator<Uint8Array> {
  let done = 0;
  for await (const piece of readState(deps.runtime, chosen)) {
    done += piece.length;
    deps.progress.update('restoring', done, chosen.state.sizeBytes);
    yield piece;
  }
}

function report({ file, state }: Chosen, output: string): RestoreCapturedReport {
  return {
    schema: 'compact/restore-captured@1',
    file: file.path,
    output,
    version: state.version,
    captured: formatTime(state.capturedAt),
    bytes: state.sizeBytes,
    sha256: state.sha256,
  };
}
