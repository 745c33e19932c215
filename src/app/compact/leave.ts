import { describeUnder } from '../../core/tokens.ts';
import type { WritingDeps } from '../contract/deps.ts';
import { type Failure, stop, stoppedBy } from '../contract/failure.ts';
import type { CompactReport, SkipReason } from '../contract/reports.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import { isOlder, lastWrite, type Prepared } from '../read/prepare.ts';
import { LF, readPieces } from '../read/records.ts';
import { checkReplaceable, deliver, outputCompression, targetPath, withTargetLock } from '../write/deliver.ts';
import { describeMissing, skippedReport, tokensNow } from './report.ts';

/** Why a run leaves a transcript as it is. `usage`: of summaries that came to nothing. */
type Skip = Pick<CompactReport, 'notes' | 'usage'> & { readonly reason: SkipReason };

/** Ends a run that has nothing to do. `reasonToLeave` finds out why. */
export function leave(skip: Skip): never {
  throw Object.assign(new Error(`left: ${skip.reason}`), { skip });
}

/** Why an error ended a run that leaves its file as it is, which is no failure; null: it is one. */
export function reasonToLeave(error: unknown, request: CompactFileRequest): Skip | null {
  if (error instanceof Error && 'skip' in error) return error.skip as Skip; // only `leave` sets it
  const failure = stoppedBy(error);
  // The next run may find the file free.
  if (failure?.kind === 'in-use' && failure.user !== 'unknown')
    return inUse(`${failure.user.name} (process ${failure.user.processId}) has it open for writing`);
  // An output that was named cannot be written: that is a failure.
  const isHeld = failure?.kind === 'file' && failure.failure.kind === 'held' && explicitPath(request) === null;
  return isHeld ? inUse('another run of compact is working on it') : null;
}

function inUse(note: string): Skip {
  return { reason: 'in-use', notes: [note] };
}

/**
 * Leaves a transcript that is small, that a program may have open, or whose earlier compaction the archive does not have. Gives the producer's
 * process that has a session open which would be replaced, as a sentence; null: none is to be seen.
 */
export async function leaveUnlessDue(deps: WritingDeps, request: CompactFileRequest, transcript: Prepared) {
  const { policy, minIdleMs, input, before } = request;
  const { title, whyReadOnly } = transcript.codec.format;
  if (whyReadOnly !== undefined) stop({ kind: 'read-only-format', file: input.name, title, reason: whyReadOnly });
  if (before !== undefined && !isOlder(transcript, before)) stop({ kind: 'too-recent', file: input.name });
  const sign = await findSessionUser(deps, request, transcript);
  deps.reached('read');
  const tokens = tokensNow(transcript);
  const limit = policy.ifOverTokens;
  if (limit !== null && tokens <= limit)
    leave({ reason: 'under-limit', notes: [describeUnder(tokens, { what: 'limit', limit })] });
  if (isBeingWritten(transcript))
    leave(inUse('its last line is neither ended nor whole, so a program may still be writing it'));
  // Whoever named the file knows what is open.
  if (sign !== null && minIdleMs !== undefined) leave(inUse(sign));
  const recent = findRecentChange(deps, request, transcript);
  if (recent !== null) leave(inUse(recent));
  if (policy.isFresh !== true && transcript.conversations.some((one) => one.isArchiveMissing))
    leave({ reason: 'archive-missing', notes: [describeMissing(deps.archivePath)] });
  return sign;
}

async function findSessionUser(
  { files }: WritingDeps,
  { output, minIdleMs }: CompactFileRequest,
  { source, codec }: Prepared,
): Promise<string | null> {
  if (output.kind !== 'in-place' && minIdleMs === undefined) return null;
  const user = await files.findSessionUser(source.path, codec.format.openSigns ?? []);
  return user === null ? null : `${user.name} (process ${user.processId}) has this session open`;
}

export function breakerOpen(file: string): Failure {
  return {
    kind: 'no-summary',
    file,
    problem: 'too many compactions in a row have failed',
    advice: 'No more calls are made in this run. See the errors above.',
  };
}

/**
 * Whether the last line is half a record of a format with several records in a line: what it will be is known only when it is whole. In other
 * formats half a line can be carried along, and is continued where it stands.
 */
function isBeingWritten({ codec, recordIndex, readLine }: Prepared): boolean {
  if (codec.records === undefined || codec.format.layout.kind === 'document') return false;
  const last = recordIndex.entries.at(-1);
  return last?.kind === 'opaque' && readLine(last).at(-1) !== LF;
}

/** That a file changed lately, so that a program may still have it open; null: it is old enough, or nobody has it open as far as can be seen. */
function findRecentChange(
  { files, runtime }: WritingDeps,
  { minIdleMs = 0, mustBeIdle = false }: CompactFileRequest,
  { source }: Prepared,
): string | null {
  if (minIdleMs === 0 || (!mustBeIdle && files.showsWriters())) return null;
  if (runtime.now().getTime() - lastWrite(source).getTime() >= minIdleMs) return null;
  const changed = `it changed within the last ${describeTime(minIdleMs)}`;
  if (mustBeIdle) return `${changed} (--min-idle)`;
  return `${changed}, and this system does not tell whether a program has it open (--min-idle, min_idle_minutes)`;
}

function describeTime(ms: number): string {
  const [size, noun] = UNITS.find(([one]) => ms % one === 0) ?? UNITS[3];
  return ms === size ? noun : `${ms / size} ${noun}s`;
}

const UNITS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
] as const;

/** Nothing to do: a default output is not created, an explicit one gets the input's bytes. */
export async function leaveUnchanged(
  deps: WritingDeps,
  request: CompactFileRequest,
  { transcript, skip }: { transcript: Prepared; skip: Skip },
): Promise<CompactReport> {
  const { output, input } = request;
  const path = explicitPath(request);
  const untouched = path === null ? targetPath(request) : null;
  if (untouched !== null) await deps.files.clearLeftovers(untouched);
  if (path !== null || output.kind === 'stdout')
    await withTargetLock(deps, path, async (lock) => {
      const replaceable = await checkReplaceable(deps, { request, transcript, archive: null });
      await deliver(deps, { request, transcript, lock, replaceable, ...copyOf(deps, request, transcript) });
    });
  return skippedReport(transcript, input, { ...skip, output: output.kind === 'stdout' ? '-' : path });
}

/** Where the input's bytes go if there is nothing to do; null: nowhere. */
function explicitPath({ output }: CompactFileRequest): string | null {
  return output.kind === 'file' ? output.path : null;
}

/** The bytes on disk if the copy is compressed the same way; otherwise the content, compressed as the copy's name says. */
function copyOf(
  deps: WritingDeps,
  { output }: CompactFileRequest,
  { source }: Prepared,
): Pick<Parameters<typeof deliver>[1], 'pieces' | 'compression'> {
  const isAlike =
    output.kind === 'file' && outputCompression(deps, { source, path: output.path }) === source.compression;
  if (isAlike) return { pieces: source.onDisk(), compression: 'none' };
  return { pieces: readPieces(source, { from: 0, to: source.sizeBytes }) };
}
