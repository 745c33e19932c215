import { createTurns } from '../adapters/archive/sqlite/turns.ts';
import type { ArchiveGrantsReport } from '../app/contract/archive-reports.ts';
import type { AppDeps, ArchiveMode, WritingDeps } from '../app/contract/deps.ts';
import type { OpenedSql } from '../adapters/archive/postgres/exchange.ts';
import type { QueueDeps } from '../app/jobs/work.ts';
import { hidePassword, isArchiveUrl } from '../core/paths.ts';
import { lazily } from '../core/lazy.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { Archive, ArchiveFailure, ArchiveRole } from '../ports/archive.ts';
import type { ArchiveExchange, ExportFolders } from '../ports/exchange.ts';

type OpenArchive = AppDeps['openArchive'];

/** How a use case works with the archive. */
export type ArchiveUse = {
  /** Null: vectors are not used. */
  readonly vectorExtension: string | null;
};

type ArchiveOpener = {
  readonly openWith: (use: ArchiveUse) => OpenArchive;
  readonly findPlaceProblem: WritingDeps['findArchivePlaceProblem'];
  readonly close: () => Promise<void>;
};

type OpenerOptions = {
  /** Tells people that the database server is gone, and that it is back. */
  readonly notice?: ((sentence: string) => void) | undefined;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** Opens the archive at a path or a URL. */
export function createArchiveOpener(place: string, options: OpenerOptions): ArchiveOpener {
  return isArchiveUrl(place) ? createUrlOpener(place, options) : createFileOpener(place);
}

/** Opens the queue of jobs beside an archive, which only a database server can have. */
export function createQueueOpener(
  place: string,
  { notice = () => undefined, sleep }: OpenerOptions,
): QueueDeps['openQueue'] {
  return async (mode, waiting) => {
    const { openPostgresQueue } = await import('../adapters/queue/queue.ts');
    return openPostgresQueue({ url: place, create: mode === 'create', notice, wait: sleep, ...waiting });
  };
}

/** The SQL that lets a role use the archive in a database. It connects to nothing. */
export async function describeGrants(
  url: string,
  role: ArchiveRole,
): Promise<Result<ArchiveGrantsReport, ArchiveFailure>> {
  const { parseTarget } = await import('../adapters/archive/postgres/open.ts');
  const { grantsFor } = await import('../adapters/archive/postgres/grants.ts');
  const target = parseTarget(url);
  if (!target.ok) return target;
  const { place, schema } = target.value;
  return ok({ schema: 'compact/archive-grants@1', database: place.database, role, ...grantsFor(role, schema) });
}

/** A database server needs no threads here, so every use has the same archive. */
function createUrlOpener(url: string, { notice = () => undefined, sleep }: OpenerOptions): ArchiveOpener {
  const opened: { archive: Promise<Result<Archive | null, ArchiveFailure>> | null } = { archive: null };
  const open = async (mode: ArchiveMode): ReturnType<OpenArchive> => {
    const before = await opened.archive;
    if (before?.ok === true && before.value !== null) return before;
    const { openPostgresArchive } = await import('../adapters/archive/postgres/open.ts');
    opened.archive = openPostgresArchive({ url, create: mode === 'create', notice, wait: sleep });
    return opened.archive;
  };
  const takeTurn = createTurns();
  return {
    openWith: () => async (mode) => {
      const release = await takeTurn();
      try {
        return await open(mode);
      } finally {
        release();
      }
    },
    findPlaceProblem: async () => null,
    close: async () => {
      const archive = await opened.archive;
      if (archive?.ok === true) await archive.value?.close();
      opened.archive = null;
    },
  };
}

/** Opens the archive once for each use, however many ask at the same time; creates it only on request. */
function createFileOpener(path: string): ArchiveOpener {
  const opened = new Map<string, Promise<Result<Archive, ArchiveFailure>>>();
  const openNow = async (
    mode: ArchiveMode,
    { vectorExtension }: ArchiveUse,
  ): Promise<Result<Archive, ArchiveFailure>> => {
    const { openArchive } = await import('../adapters/archive/sqlite/open.ts');
    return openArchive({ path, create: mode === 'create', ...(vectorExtension !== null && { vectorExtension }) });
  };
  const open = async (mode: ArchiveMode, use: ArchiveUse): ReturnType<OpenArchive> => {
    const { archiveExists } = await import('../adapters/archive/sqlite/file.ts');
    if (mode === 'existing' && opened.size === 0 && !archiveExists(path)) return ok(null);
    const key = JSON.stringify(use);
    for (let known = opened.get(key); known !== undefined; known = opened.get(key)) {
      const archive = await known;
      if (archive.ok) return archive;
      // Another caller could not open it. This one may be allowed to create it.
      if (opened.get(key) === known) opened.delete(key);
    }
    const opening = openNow(mode, use);
    opened.set(key, opening);
    const archive = await opening;
    if (!archive.ok && opened.get(key) === opening) opened.delete(key);
    return archive;
  };
  return {
    openWith: (use) => (mode) => open(mode, use),
    findPlaceProblem: async (options) => {
      const { findPlaceProblem } = await import('../adapters/archive/sqlite/file.ts');
      return opened.size > 0 ? null : findPlaceProblem(path, options);
    },
    close: async () => {
      for (const opening of opened.values()) {
        const archive = await opening;
        if (archive.ok) await archive.value.close();
      }
      opened.clear();
    },
  };
}

/** Opens archives for merging. */
export function createExchange(
  { vectorExtension }: ArchiveUse,
  { notice = () => undefined, sleep }: Pick<OpenerOptions, 'notice' | 'sleep'>,
): ArchiveExchange {
  const sqlExchange = lazily(() => import('../adapters/archive/postgres/exchange.ts'));
  const files = lazily(() => import('../adapters/archive/exchange/open.ts'));
  const open = async <T>(
    url: string,
    use: (opened: OpenedSql) => Promise<Result<T, ArchiveFailure>>,
  ): Promise<Result<T, ArchiveFailure>> => {
    const { openPostgresFor } = await import('../adapters/archive/postgres/open.ts');
    const opened = await openPostgresFor({ url, create: false, notice, wait: sleep }, use);
    if (!opened.ok) return opened;
    if (opened.value !== null) return ok(opened.value);
    return err({ kind: 'cannot-open', path: hidePassword(url), reason: 'there is no archive in it' });
  };
  return {
    identify: async (place) => {
      if (!isArchiveUrl(place)) return (await files()).identifyFile(place);
      const { identify } = await sqlExchange();
      const found = await open(place, async (opened) => {
        const identity = await identify(opened);
        await opened.sql.close();
        return ok(identity);
      });
      return found.ok ? found.value : null;
    },
    openSource: async (place) =>
      isArchiveUrl(place) ? open(place, (await sqlExchange()).openSqlSource) : (await files()).openFileSource(place),
    openTarget: async (place) =>
      isArchiveUrl(place)
        ? open(place, (await sqlExchange()).openSqlTarget)
        : (await files()).openFileTarget(place, vectorExtension),
  };
}

/** Vectors can be removed only with SQLite's extension for them. */
export async function withVectors(): Promise<ArchiveUse> {
  const extension = await (await import('../adapters/archive/sqlite/extension.ts')).findVectorExtension();
  return { vectorExtension: extension.ok ? extension.value : null };
}

/** Reads and writes exports. */
export async function createFolders({ vectorExtension }: ArchiveUse): Promise<ExportFolders> {
  return (await import('../adapters/archive/exchange/folder.ts')).createExportFolders(vectorExtension);
}
