import { formatTime } from '../../core/batch.ts';
import { matchesGlob, sessionIdOf } from '../../core/paths.ts';
import { ok, type Result } from '../../core/result.ts';
import type { Archive } from '../../ports/archive.ts';
import type { CapturedFile } from '../../ports/captures.ts';
import type { ErasableCompaction, Hold, HoldScope } from '../../ports/retention.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { ArchiveHoldReport, HoldReport } from '../contract/archive-reports.ts';
import { openSettled, refuseReadOnly } from '../write/settle.ts';

export type HoldRequest =
  | { readonly kind: 'list' }
  | { readonly kind: 'add'; readonly scope: HoldScope; readonly reason: string | null }
  | { readonly kind: 'remove'; readonly scope: HoldScope };

/** Adds, removes or lists holds. A hold may be added before there is anything to protect. */
export async function changeHolds(deps: AppDeps, request: HoldRequest): Promise<Result<ArchiveHoldReport, Failure>> {
  return attempt({ file: deps.archivePath }, async () => {
    const archive = await openSettled(deps, request.kind === 'add' ? 'create' : 'existing');
    if (request.kind !== 'list') refuseReadOnly(archive);
    let protects: ArchiveHoldReport['protects'] = null;
    let result: ArchiveHoldReport['result'] = request.kind === 'remove' ? 'missing' : 'listed';
    if (request.kind === 'add' && archive !== null) {
      const hold = { ...request.scope, reason: request.reason, addedAt: deps.runtime.now() };
      await archive.retention.addHold(hold);
      protects = await countProtected(deps, archive, hold);
      result = 'added';
    }
    if (request.kind === 'remove' && (await archive?.retention.removeHold(request.scope, deps.runtime.now())) === true)
      result = 'removed';
    const holds = (await archive?.retention.listHolds()) ?? [];
    const path = archive === null ? null : deps.archivePath;
    const isPurged = (await archive?.retention.isPurged()) ?? true;
    const schema = 'compact/archive-hold@1' as const;
    return ok({ schema, archive: path, result, holds: holds.map(reportHold), protects, isPurged });
  });
}

async function countProtected(
  deps: AppDeps,
  archive: Archive,
  hold: HoldScope,
): Promise<ArchiveHoldReport['protects']> {
  const held = new Set<string>();
  for await (const batch of archive.retention.listErasable())
    for (const { conversations, paths } of batch.map(scopeOf))
      if (holdsOn([hold], { conversations, paths }).length > 0) for (const id of conversations) held.add(id);
  const files = (await listCaptured(deps, archive)).filter((file) => holdsOn([hold], scopeOfFile(file)).length > 0);
  return { conversations: held.size, capturedFiles: files.length };
}

export function reportHold({ kind, value, reason, addedAt }: Hold): HoldReport {
  return { kind, value, reason, addedAt: formatTime(addedAt) ?? '' };
}

type Protected = { readonly conversations: readonly string[]; readonly paths: readonly string[] };

export function scopeOf({ cycles, paths }: ErasableCompaction): Protected {
  return { conversations: [...new Set(cycles.map(({ conversationId }) => conversationId))], paths };
}

/** A captured file, and where links in its path lead. */
export type LocatedFile = CapturedFile & { readonly realPath: string };

export async function listCaptured({ files }: Pick<AppDeps, 'files'>, { captures }: Archive) {
  return (await captures.list()).map((file): LocatedFile => ({ ...file, realPath: files.realPath(file.path) }));
}

export function scopeOfFile({ sessions, path, realPath }: LocatedFile): Protected {
  return { conversations: sessions, paths: [path, realPath] };
}

/** The holds that protect something. The name of a file may have the id of its conversation. */
export function holdsOn<T extends HoldScope>(holds: readonly T[], { conversations, paths }: Protected): readonly T[] {
  return holds.filter(({ kind, value }) =>
    kind === 'conversation'
      ? conversations.some((id) => id.toLowerCase() === value.toLowerCase()) ||
        paths.some((path) => sessionIdOf(path) === value.toLowerCase())
      : paths.some((path) => isIn(path, value)),
  );
}

/** Whether a path, or a folder above it, matches a glob. */
export function isIn(path: string, glob: string): boolean {
  return matchesGlob(path, glob) || matchesGlob(path, `${glob.replace(/\/+$/, '')}/**`);
}
