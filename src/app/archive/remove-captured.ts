import { netBytesFreed } from '../../core/disk.ts';
import type { Archive } from '../../ports/archive.ts';
import type { CapturedFile } from '../../ports/captures.ts';
import type { Codec } from '../../ports/codec.ts';
import type { SourceFile } from '../../ports/files.ts';
import type { AppDeps, WritingDeps } from '../contract/deps.ts';
import { mustFile, stop, stoppedBy } from '../contract/failure.ts';
import type { CaptureReport } from '../contract/reports.ts';
import type { CaptureFileRequest, ColdOnly } from '../contract/requests.ts';
import { mayBeOlder, openTranscript } from '../read/open-transcript.ts';
import { lastWrite } from '../read/prepare.ts';
import { withFileLock } from '../write/deliver.ts';
import { openUnsettled, refuseReadOnly } from '../write/settle.ts';
import { removeKept } from '../write/write-output.ts';
import { checkReadable, hashDisk } from './captured.ts';
import { holdsOn, scopeOfFile } from './holds.ts';

type Request = CaptureFileRequest & { readonly remove: ColdOnly };
type Reason = NonNullable<CaptureReport['reason']>;

/**
 * Captures a cold file, proves that the archive gives back what the file is, and only then removes it. A file that is young, open or held is
 * not even captured; one that changes until the last moment stays.
 */
export async function removeCaptured(
  deps: Pick<WritingDeps, keyof AppDeps | 'reached'>,
  request: Request,
  capture: () => Promise<CaptureReport>,
): Promise<CaptureReport> {
  const { input, isDryRun } = request;
  mustFile(await deps.files.clearLeftovers(input.path));
  const warm = await findWarmth(deps, request);
  if (warm !== null) return warm;
  const captured = await capture();
  if (isDryRun) {
    const freed = netBytesFreed({ before: captured.bytes.size, after: 0, archive: 0 });
    return { ...captured, result: 'planned', netBytes: freed + captured.netBytes };
  }
  deps.reached('prepared');
  const path = deps.files.absolute(input.path);
  return withFileLock(deps, path, async (lock) => {
    const archive = await openUnsettled(deps);
    const known = (await archive?.captures.find(path)) ?? null;
    if (archive === null || known === null) return left(captured, 'changed');
    refuseReadOnly(archive);
    const holds = await archive.retention.listHolds();
    const scope = scopeOfFile({ ...known, realPath: deps.files.realPath(path) });
    if (holdsOn(holds, scope).length > 0) return left(captured, 'held');
    const source = mustFile(await deps.files.open(path, { signal: deps.signal, refusesLinks: true }));
    try {
      if (!(await isProven(deps, { archive, known, source }))) return left(captured, 'changed');
      deps.reached('looked');
      const { stamp } = source;
      const codec = await deps.formats.load(known.format);
      const stopIfOpen = async (): Promise<void> => {
        const user = await deps.files.findSessionUser(source.path, codec?.format.openSigns ?? []);
        if (user !== null) stop({ kind: 'in-use', file: input.name, user });
      };
      await stopIfOpen();
      const isRemoved = await removeKept(deps, {
        lock,
        file: input.name,
        path,
        stamp,
        isDocument: codec?.format.layout.kind === 'document',
        isKept: async (at) => {
          await stopIfOpen();
          return isStillAsCaptured(deps, at, known);
        },
      });
      if (!isRemoved) return left(captured, 'changed');
      deps.reached('renamed');
      const removed = { file: path, bytes: known.last.sizeBytes, sha256: known.last.sha256 };
      await archive.captures.markGone(known.id, { lastStateId: known.last.id, at: deps.runtime.now(), removed });
      const freed = stamp.linkCount > 1 ? 0 : netBytesFreed({ before: stamp.sizeBytes, after: 0, archive: 0 });
      return { ...captured, result: 'removed', netBytes: freed + captured.netBytes };
    } catch (error) {
      if (stoppedBy(error)?.kind === 'in-use') return left(captured, 'in-use');
      throw error;
    } finally {
      source.close();
    }
  });
}

function left(report: CaptureReport, reason: Reason): CaptureReport {
  return { ...report, result: 'left', reason };
}

/** Why a file is not cold, before anything is stored; null: it is. */
async function findWarmth(deps: AppDeps, { input, remove }: Request): Promise<CaptureReport | null> {
  const { source, codec } = await openTranscript(input, deps);
  const reason = await findReason(deps, { source, codec }, remove).finally(() => source.close());
  if (reason === null) return null;
  const bytes = { size: source.stamp.sizeBytes, new: null, stored: null };
  const nothing = { change: null, version: null, sha256: null, netBytes: 0 };
  const { name: format } = codec.format;
  return { schema: 'compact/capture@1', file: input.name, format, result: 'left', reason, ...nothing, bytes };
}

async function findReason(
  { files, formats, runtime }: AppDeps,
  transcript: { readonly source: SourceFile; readonly codec: Codec },
  { before, minIdleMs }: ColdOnly,
): Promise<Reason | null> {
  const { source, codec } = transcript;
  const isCold = before === null || (lastWrite(source) < before && mayBeOlder(transcript, formats, before));
  if (!isCold) return 'too-recent';
  const { mtimeNs, changedNs } = source.stamp;
  const changedMs = Number((mtimeNs > changedNs ? mtimeNs : changedNs) / 1_000_000n);
  if (runtime.now().getTime() - changedMs < minIdleMs) return 'in-use';
  const user = await files.findSessionUser(source.path, codec.format.openSigns ?? []);
  return user !== null || (await files.findWriter(source.stamp)) !== null ? 'in-use' : null;
}

/** Whether the file is what was captured last, and the archive can give that back. */
async function isProven(
  deps: AppDeps,
  { archive, known, source }: { archive: Archive; known: CapturedFile; source: SourceFile },
): Promise<boolean> {
  if (known.last.change === 'gone' || !isAsCaptured(deps, source, known)) return false;
  const readable = await checkReadable(deps.runtime, { archive, state: known.last });
  if (readable === 'damaged') {
    const reason = `what was captured of ${known.path} does not come back from it, so the file stays`;
    stop({ kind: 'archive', failure: { kind: 'damaged', path: archive.path, reason } });
  }
  return readable === 'yes';
}

function isAsCaptured({ runtime }: AppDeps, source: SourceFile, { last }: CapturedFile): boolean {
  const { sizeBytes } = source.stamp;
  return sizeBytes === last.sizeBytes && hashDisk(runtime.createHash(), source).digest() === last.sha256;
}

/** The same, read anew: what came to the file since it was opened is no part of that. */
async function isStillAsCaptured(deps: AppDeps, path: string, known: CapturedFile): Promise<boolean> {
  const opened = await deps.files.open(path, { signal: deps.signal, refusesLinks: true });
  if (!opened.ok) return false;
  try {
    return isAsCaptured(deps, opened.value, known);
  } finally {
    opened.value.close();
  }
}
