import { formatTime } from '../../core/batch.ts';
import { ok, type Result, parseJson } from '../../core/result.ts';
import type { ArchiveFigures, IndexBacklog, VectorStore } from '../../ports/archive-lookup.ts';
import type { Archive, Deed } from '../../ports/archive.ts';
import type { ArchiveListReport, ArchiveLogReport, ArchiveStatsReport } from '../contract/archive-reports.ts';
import { type ArchiveGrouping, measureGroups } from '../archive/measure-groups.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import { openUnsettled, refuseReadOnly } from '../write/settle.ts';

type LookDeps = Pick<AppDeps, 'openArchive' | 'archivePath'>;

/** Lists the compactions in an archive; none if there is no archive yet. */
export async function listArchive(deps: LookDeps): Promise<Result<ArchiveListReport, Failure>> {
  return look(deps, async (archive) => ({
    schema: 'compact/archive-list@1',
    archive: archive === null ? null : deps.archivePath,
    compactions: ((await archive?.listCompactions()) ?? []).map((one) => ({
      at: formatTime(one.archivedAt) ?? '',
      file: one.sourcePath,
      title: one.title,
      output: one.outputPath,
      format: one.format,
      conversations: one.conversations,
      lines: one.lines,
      bytes: one.sizeBytes,
      sha256: one.sourceSha256,
    })),
  }));
}

/** Tells who did what to an archive. */
export async function readLog(deps: LookDeps): Promise<Result<ArchiveLogReport, Failure>> {
  return look(deps, async (archive) => ({
    schema: 'compact/archive-log@1',
    archive: archive === null ? null : deps.archivePath,
    entries: ((await archive?.log.list()) ?? []).map(({ doneAt, by, action, details }) => ({
      at: formatTime(doneAt) ?? '',
      by,
      action,
      details: Object(parseJson(details)),
    })),
  }));
}

/** Logs what was done outside of an archive in the one that is used, if there is one. */
export async function logDeed(
  deps: LookDeps & Pick<AppDeps, 'runtime'>,
  deed: Pick<Deed, 'action'> & { readonly details: object },
): Promise<Result<null, Failure>> {
  return attempt({ file: deps.archivePath }, async () => {
    const archive = await openUnsettled(deps);
    refuseReadOnly(archive);
    await archive?.log.add({ ...deed, details: JSON.stringify(deed.details), doneAt: deps.runtime.now() });
    return ok(null);
  });
}

/** Reports how much an archive contains and how large it is. */
export async function measureArchive(
  deps: LookDeps,
  { by = null }: { by?: ArchiveGrouping | null } = {},
): Promise<Result<ArchiveStatsReport, Failure>> {
  return look(deps, async (archive) => {
    const figures = (await archive?.measure()) ?? NOTHING;
    const { bytes, captured } = figures;
    const allBytes = bytes.original + captured.bytes.original;
    return {
      schema: 'compact/archive-stats@1',
      archive: archive === null ? null : deps.archivePath,
      ...figures,
      bytes: { ...bytes, share: allBytes === 0 ? null : bytes.file / allBytes },
      vectors: archive === null ? null : await reportVectors(archive.vectors),
      oldest: formatTime(figures.oldest),
      newest: formatTime(figures.newest),
      ...(archive !== null && by !== null && { groups: await measureGroups(archive, by, figures) }),
    };
  });
}

/** What a growing archive is watched for. */
export async function gaugeArchive(deps: LookDeps): Promise<Result<ArchiveGauges | null, Failure>> {
  return look(deps, async (archive) =>
    archive === null ? null : { bytes: await archive.usedBytes(), backlog: await archive.index.measure() },
  );
}

export type ArchiveGauges = { readonly bytes: number; readonly backlog: IndexBacklog };

const NO_BYTES = { original: 0, compressed: 0 };
const NOTHING: ArchiveFigures = {
  compactions: 0,
  prepared: 0,
  conversations: 0,
  batches: 0,
  lines: 0,
  messages: 0,
  bytes: { ...NO_BYTES, file: 0 },
  index: { bytes: 0, unindexed: { messages: 0, bytes: 0 } },
  captured: { files: 0, bytes: NO_BYTES },
  oldest: null,
  newest: null,
  formats: [],
};

async function reportVectors({ findModel, count }: VectorStore): Promise<ArchiveStatsReport['vectors']> {
  const model = await findModel();
  return model === null ? null : { ...model, ...(await count()) };
}

async function look<T>(deps: LookDeps, work: (archive: Archive | null) => Promise<T>): Promise<Result<T, Failure>> {
  return attempt({ file: deps.archivePath }, async () => ok(await work(await openUnsettled(deps))));
}
