import { formatTime } from '../../core/batch.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { hasSessionId, isSessionId } from '../../core/paths.ts';
import type { Archive, ArchiveError, ArchiveFailure } from '../../ports/archive.ts';
import type { CapturedFile, CapturedState } from '../../ports/captures.ts';
import type { SourceFile } from '../../ports/files.ts';
import type { RunningHash, Runtime } from '../../ports/runtime.ts';
import type { CapturedFileReport, CaptureReport } from '../contract/reports.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, carriedFailure, type Failure, type LookupFailure } from '../contract/failure.ts';
import { openUnsettled } from '../write/settle.ts';

/** Records which captured files do not exist any more. What was captured of them stays. `folders`: where to look; null: everywhere. */
export async function recordGone(
  deps: AppDeps,
  { folders, isDryRun }: { folders: readonly string[] | null; isDryRun: boolean },
): Promise<Result<readonly CaptureReport[], Failure>> {
  return attempt({ file: deps.archivePath }, async () => {
    const archive = await openUnsettled(deps);
    if (archive === null || archive.isReadOnly) return ok([]);
    const places = folders?.map((folder) => deps.files.absolute(folder)) ?? null;
    const missing: CaptureReport[] = [];
    for (const { id, path, format, last } of await archive.captures.list()) {
      const isAsked = places === null || places.some((place) => path === place || path.startsWith(`${place}/`));
      if (!isAsked || last.change === 'gone') continue;
      const stamp = await deps.files.stamp(path);
      if (stamp.ok || stamp.error.kind !== 'not-found') continue;
      if (!isDryRun) await archive.captures.markGone(id, { lastStateId: last.id, at: deps.runtime.now() });
      const { version, sha256 } = last;
      const bytes = { size: last.sizeBytes, new: null, stored: null };
      const gone = { result: 'gone', change: 'gone', version, bytes, sha256 } as const;
      missing.push({ schema: 'compact/capture@1', file: path, format, ...gone, netBytes: 0 });
    }
    return ok(missing);
  });
}

/** Those of some files that were never captured. */
export async function findUncaptured(deps: AppDeps, paths: readonly string[]) {
  return attempt({ file: deps.archivePath }, async () => {
    const archive = await openUnsettled(deps);
    const known = new Set(((await archive?.captures.list()) ?? []).map(({ path }) => path));
    return ok(paths.filter((path) => !known.has(path)));
  });
}

/** Lists captured files with their versions: those that a name may mean, or all. */
export async function listCaptured(
  deps: AppDeps,
  { file }: { file: string | null },
): Promise<Result<readonly CapturedFileReport[], LookupFailure>> {
  return attempt({ file: file ?? deps.archivePath }, async () => {
    const archive = await openUnsettled(deps);
    if (archive === null) return file === null ? ok([]) : err(notCaptured(deps, file));
    const { captures } = archive;
    const files = file === null ? await captures.list() : await findByName(deps, archive, file);
    if (file !== null && files.length === 0) return err(notCaptured(deps, file));
    const reports: CapturedFileReport[] = [];
    for (const one of files) reports.push(describeFile(one, await captures.listStates(one.id)));
    return ok(reports);
  });
}

function describeFile({ path, format, sessions }: CapturedFile, states: readonly CapturedState[]): CapturedFileReport {
  const versions = [...Map.groupBy(states, ({ version }) => version)].flatMap(([version, all]) => {
    const [first, last] = [all[0], all.at(-1)];
    if (first === undefined || last === undefined) return [];
    const times = { first: formatTime(first.capturedAt), last: formatTime(last.capturedAt) };
    return { version, change: last.change, ...times, states: all.length, bytes: last.sizeBytes, sha256: last.sha256 };
  });
  return { schema: 'compact/captured@1', file: path, format, sessions, versions };
}

/**
 * The captured files that a name may mean: the path itself; otherwise those whose path ends with it, or whose session's id begins
 * with it. An id in the name counts before those that the records carry, which subagents' files have too.
 */
export async function findByName(
  { files }: Pick<AppDeps, 'files'>,
  { captures }: Pick<Archive, 'captures'>,
  name: string,
): Promise<readonly CapturedFile[]> {
  const exact = await captures.find(files.absolute(name));
  if (exact !== null) return [exact];
  const ending = name.replace(/^(?:\.\/)+/, '');
  const all = await captures.list();
  const ended = all.filter(({ path }) => path.endsWith(`/${ending}`));
  if (ended.length > 0) return ended;
  const named = all.filter(({ path }) => hasSessionId(path, name));
  if (named.length > 0 || !isSessionId(name)) return named;
  return all.filter(({ sessions }) => sessions.some((id) => id.toLowerCase().startsWith(name.toLowerCase())));
}

/** The last state of each version that has content: it contains the others. */
export async function lastStates({ captures }: Archive, { id }: CapturedFile): Promise<readonly CapturedState[]> {
  const states = (await captures.listStates(id)).filter(({ change }) => change !== 'gone');
  return [...new Map(states.map((state) => [state.version, state])).values()];
}

/** The bytes of a captured state. Ends with an error that says `damaged` if they are not what was captured. */
export async function* readState(
  runtime: Pick<Runtime, 'createHash'>,
  { archive, state }: { archive: Archive; state: CapturedState },
): AsyncGenerator<Uint8Array> {
  const hash = runtime.createHash();
  for await (const piece of archive.captures.read(state.id)) {
    hash.update(piece);
    yield piece;
  }
  if (hash.digest() === state.sha256) return;
  const reason = `the captured file, version ${state.version}, differs from its hash`;
  const failure: ArchiveFailure = { kind: 'damaged', path: archive.path, reason };
  throw Object.assign(new Error(reason), { failure }) satisfies ArchiveError;
}

/** Whether the archive can give back a captured state. erased: a line of it was erased on purpose. */
export async function checkReadable(...of: Parameters<typeof readState>): Promise<'yes' | 'damaged' | 'erased'> {
  try {
    for await (const piece of readState(...of)) void piece;
    return 'yes';
  } catch (error) {
    const kind = carriedFailure(error)?.kind;
    if (kind === 'damaged' || kind === 'erased') return kind;
    throw error;
  }
}

export function notCaptured({ archivePath }: Pick<AppDeps, 'archivePath'>, file: string): LookupFailure {
  return { kind: 'not-captured', file, archive: archivePath };
}

/** Hashes the bytes of a file on disk, up to a size. */
export function hashDisk(hash: RunningHash, source: SourceFile, sizeBytes = Number.POSITIVE_INFINITY): RunningHash {
  let left = sizeBytes;
  for (const piece of source.onDisk()) {
    hash.update(piece.subarray(0, left));
    left -= piece.length;
    if (left <= 0) break;
  }
  return hash;
}
