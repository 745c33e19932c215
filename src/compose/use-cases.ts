import { createFileStore } from '../adapters/fs/file-store.ts';
import { programs } from '../adapters/clients/programs.ts';
import { createProducerIndexes } from '../adapters/producer-index/producer-indexes.ts';
import { beginRun, createNodeRuntime } from '../adapters/runtime/node.ts';
import { formatRegistry } from '../adapters/transcript/detect.ts';
import type { ExportDeps } from '../app/archive/export-archive.ts';
import type { MergeDeps } from '../app/archive/merge-archives.ts';
import type { AppDeps, ArchiveMode, WritingDeps } from '../app/contract/deps.ts';
import type { CaptureFileRequest, CompactFileRequest, SearchRequest, ShowRequest } from '../app/contract/requests.ts';
import type { ShownOriginal } from '../app/search/show-archived.ts';
import type { ReportFileRequest } from '../app/survey/report-file.ts';
import { ok, err, type Result } from '../core/result.ts';
import type { ArchiveRole, RunMark, Archive, ArchiveFailure } from '../ports/archive.ts';
import type { RemoveAtExit } from '../ports/files.ts';
import type { Progress, StepListener } from '../ports/runtime.ts';
import { createBatchUseCases } from './batches.ts';
import {
  createEmbeddings,
  createMask,
  createSummarizer,
  type EmbedderChoice,
  type Embeddings,
  type Mask,
  type SummarizerChoice,
} from './services.ts';
import type { ArchiveGrantsReport } from '../app/contract/archive-reports.ts';
import type { OpenedSql } from '../adapters/archive/postgres/exchange.ts';
import type { QueueDeps } from '../app/jobs/work.ts';
import { hidePassword, isArchiveUrl } from '../core/paths.ts';
import { lazily } from '../core/lazy.ts';
import type { ArchiveExchange } from '../ports/exchange.ts';

export type Composition = {
  readonly archivePath: string;
  readonly maxUnpackedBytes?: number | undefined;
  readonly indexing?: AppDeps['indexing'];
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly stdout: (bytes: Uint8Array) => void;
  /** Tells people something that does not concern a single file. */
  readonly notice?: ((sentence: string) => void) | undefined;
  /** Has a file removed when the process ends; returns a function that forgets it. */
  readonly removeAtExit: RemoveAtExit;
  /** What is written belongs to this run; by default to one of its own, which `command` began. */
  readonly run?: RunMark | undefined;
  readonly command?: string | undefined;
  /** Called at each step of a run. */
  readonly reached?: StepListener;
  /** False: another composition of the run does it. */
  readonly finishesErasures?: boolean;
};

/** What the commands can call. */
export type UseCases = ReturnType<typeof createUseCases>;
export type CreateUseCases = typeof createUseCases;

type WithMask = { readonly mask?: Mask };
type WithEmbeddings = { readonly embeddings: Embeddings | null };

/**
 * The composition root: the one place where ports meet their adapters. Nothing is opened before it is needed, and what is slow to load
 * is loaded when it is first called. A use case with a `Progress` of its own may be called several times at once.
 */
export function createUseCases(composition: Composition) {
  const { archivePath, progress, signal, removeAtExit, maxUnpackedBytes } = composition;
  const opening = { ...composition, sleep: createNodeRuntime().sleep };
  const isOnServer = isArchiveUrl(archivePath);
  const engine = isOnServer ? createServerEngine(archivePath, opening) : createFileEngine(archivePath);
  const archive = createArchiveOpener(engine);
  const deps: AppDeps = {
    files: createFileStore({ removeAtExit, maxUnpackedBytes }),
    formats: formatRegistry,
    runtime: createNodeRuntime(),
    progress,
    signal,
    openArchive: archive.openWith(null),
    archivePath,
    indexing: composition.indexing,
    notice: composition.notice,
    erasures: composition.finishesErasures === false ? undefined : { hasFailed: false },
  };
  const writing = {
    ...deps,
    stdout: composition.stdout,
    reached: composition.reached ?? (() => undefined),
    findArchivePlaceProblem: archive.findPlaceProblem,
    producerIndexes: createProducerIndexes(),
    tellFuller: createFullerNotice(composition.notice),
    run: composition.run ?? beginRun(composition.command ?? null),
  };
  /** The queue of jobs beside an archive, which only a database server can have. */
  const openQueue: QueueDeps['openQueue'] = async (mode, waiting) => {
    const { openPostgresQueue } = await import('../adapters/queue/queue.ts');
    const { notice = () => undefined, sleep: wait } = opening;
    return openPostgresQueue({ url: archivePath, create: mode === 'create', notice, wait, ...waiting });
  };
  const queueing = { ...deps, openQueue };
  const locating = { ...deps, programs };
  const exchangeDeps = async (): Promise<MergeDeps & { readonly vectorExtension: string | null }> => {
    const vectorExtension = await findExtension();
    const exchange = createExchange(vectorExtension, { notice: composition.notice, sleep: deps.runtime.sleep });
    return { ...deps, vectorExtension, openArchive: archive.openWith(vectorExtension), exchange };
  };
  const exportDeps = async (): Promise<ExportDeps> => {
    const exchanging = await exchangeDeps();
    const { createExportFolders } = await import('../adapters/archive/exchange/folder.ts');
    return { ...exchanging, folders: createExportFolders(exchanging.vectorExtension) };
  };
  const erasing = async () => ({ ...writing, openArchive: archive.openWith(await findExtension()) });
  /** With `archive.index = "at-once"`, what was stored is searchable when the run ends. */
  const indexed = async <T extends { readonly ok: boolean }>(done: T, isDryRun: boolean): Promise<T> => {
    if (!done.ok || isDryRun || composition.indexing !== 'at-once') return done;
    await (await import('../app/search/update-index.ts')).indexArchive(deps, { maxBytes: null });
    return done;
  };
  return {
    createSummarizer: (choice: SummarizerChoice) => createSummarizer(choice, deps.runtime),
    createEmbeddings: (choice: EmbedderChoice) => createEmbeddings(choice, deps),
    createMask,

    compactFile: async ({ embeddings, ...request }: CompactFileRequest & WithEmbeddings, progress: Progress) => {
      const { compactFile } = await import('../app/compact/compact-file.ts');
      const openArchive = archive.openWith(embeddings?.vectorExtension ?? null);
      const compacting = { ...writing, openArchive, progress };
      const stores = request.output.kind !== 'none' && request.output.kind !== 'preview';
      const done = await indexed(await compactFile(compacting, request), !stores);
      if (!done.ok || embeddings === null) return done;
      const { embedCompacted } = await import('../app/search/embeddings/embed-archive.ts');
      return ok(await embedCompacted({ ...compacting, ...embeddings }, done.value));
    },
    restoreFile: inFile(writing, async () => (await import('../app/restore/restore-file.ts')).restoreFile),
    verifyFile: inFile(deps, async () => (await import('../app/restore/verify-file.ts')).verifyFile),
    scoreFile: later(deps, async () => (await import('../app/survey/score-file.ts')).scoreFile),
    listRules: later(deps, async () => (await import('../app/survey/list-rules.ts')).listRules),
    handOff: inFile(deps, async () => (await import('../app/survey/hand-off.ts')).handOff),
    locateSession: later(locating, async () => (await import('../app/survey/locate-session.ts')).locateSession),
    listPrograms: programs.list,
    scanFile: inFile(deps, async () => (await import('../app/survey/scan-file.ts')).scanFile),
    reportFile: async ({ mask = (text) => text, ...request }: ReportFileRequest & WithMask, progress: Progress) =>
      (await import('../app/survey/report-file.ts')).reportFile({ ...deps, progress, mask }, request),
    writePage: later(deps, async () => (await import('../app/write/write-output.ts')).writePage),

    listRuns: later(deps, async () => (await import('../app/restore/undo.ts')).listRuns),
    findRunToUndo: later(writing, async () => (await import('../app/restore/undo.ts')).findRunToUndo),
    undoFile: inFile(writing, async () => (await import('../app/restore/undo.ts')).undoFile),
    endUndo: later(deps, async () => (await import('../app/restore/undo.ts')).endUndo),

    captureFile: async (request: CaptureFileRequest, progress: Progress) => {
      const { captureFile } = await import('../app/archive/capture-file.ts');
      return indexed(await captureFile({ ...writing, progress }, request), request.isDryRun);
    },
    recordGone: later(deps, async () => (await import('../app/archive/captured.ts')).recordGone),
    findUncaptured: later(deps, async () => (await import('../app/archive/captured.ts')).findUncaptured),
    listCaptured: later(deps, async () => (await import('../app/archive/captured.ts')).listCaptured),
    restoreCaptured: inFile(writing, async () => (await import('../app/archive/restore-captured.ts')).restoreCaptured),

    searchArchive: async ({ embeddings, mask, ...request }: SearchRequest & WithEmbeddings & WithMask) => {
      const { searchArchive } = await import('../app/search/search-archive.ts');
      const { queryVectors, vectorExtension = null } = embeddings ?? {};
      const openArchive = archive.openWith(vectorExtension);
      return searchArchive({ ...deps, openArchive, queryVectors, mask }, request);
    },
    showArchived: async ({ mask, ...request }: ShowRequest & WithMask) =>
      (await import('../app/search/show-archived.ts')).showArchived({ ...deps, mask }, request),
    showOriginals: async (
      { mask, ...request }: ShowRequest & WithMask,
      onLine: (line: ShownOriginal) => boolean | Promise<boolean>,
    ) => (await import('../app/search/show-archived.ts')).showOriginals({ ...deps, mask }, request, onLine),
    listArchive: later(deps, async () => (await import('../app/search/list-archive.ts')).listArchive),
    readLog: later(deps, async () => (await import('../app/search/list-archive.ts')).readLog),
    logDeed: later(deps, async () => (await import('../app/search/list-archive.ts')).logDeed),
    measureArchive: later(deps, async () => (await import('../app/search/list-archive.ts')).measureArchive),
    gaugeArchive: later(deps, async () => (await import('../app/search/list-archive.ts')).gaugeArchive),
    indexArchive: later(deps, async () => (await import('../app/search/update-index.ts')).indexArchive),
    checkArchive: later(deps, async () => (await import('../app/search/check-archive.ts')).checkArchive),
    describeGrants: (role: ArchiveRole) => describeGrants(archivePath, role),
    embedArchive: async ({ service, vectorExtension }: Embeddings) => {
      const { embedArchive } = await import('../app/search/embeddings/embed-archive.ts');
      return embedArchive({ ...deps, openArchive: archive.openWith(vectorExtension), service });
    },

    changeHolds: later(deps, async () => (await import('../app/archive/holds.ts')).changeHolds),
    eraseArchived: later(erasing, async () => (await import('../app/archive/erase-archived.ts')).eraseArchived),
    listReceipts: later(deps, async () => (await import('../app/archive/erase-archived.ts')).listReceipts),
    pruneArchive: later(erasing, async () => (await import('../app/archive/prune-archive.ts')).pruneArchive),
    backUpArchive: later(exchangeDeps, async () => (await import('../app/archive/backup-archive.ts')).backUpArchive),
    exportArchive: later(exportDeps, async () => (await import('../app/archive/export-archive.ts')).exportArchive),
    importArchive: later(exportDeps, async () => (await import('../app/archive/import-archive.ts')).importArchive),
    mergeArchives: later(exchangeDeps, async () => (await import('../app/archive/merge-archives.ts')).mergeArchives),

    ...createBatchUseCases({ ...writing, createSummarizer: (choice) => createSummarizer(choice, deps.runtime) }),
    /** The queue of jobs needs an archive in Postgres. */
    workJobs: later(queueing, async () => (await import('../app/jobs/work.ts')).workJobs),
    addJobs: later(queueing, async () => (await import('../app/jobs/work.ts')).addJobs),
    retryJobs: later(queueing, async () => (await import('../app/jobs/work.ts')).retryJobs),
    readQueue: later(queueing, async () => (await import('../app/jobs/work.ts')).readQueue),

    /** The run that everything written here belongs to. */
    run: writing.run,
    /** Finishes and removes what a run that died left beside a path. */
    clearLeftovers: async (path: string) => void (await deps.files.clearLeftovers(path)),
    listFormats: () => deps.formats.list(),
    findFormat: (name: string) => deps.formats.list().find((format) => format.name === name),
    close: archive.close,
  };
}

/** Nobody misses less. */
const MIN_FULLER_BYTES = 1_000_000;

/** Says it once, before the file with which a run takes more of the disk than `MIN_FULLER_BYTES`. */
export function createFullerNotice(notice: Composition['notice']): (file: string, bytes: number) => void {
  const sum = { bytes: 0 };
  return (file, bytes) => {
    const before = sum.bytes;
    sum.bytes += bytes;
    if (before >= MIN_FULLER_BYTES || sum.bytes < MIN_FULLER_BYTES) return;
    const how = `files like this one make the disk fuller, with their archive, by now about ${Math.ceil(sum.bytes / 1000)} kB`;
    notice?.(`${file}: ${how}. --min-saving 1kB leaves them as they are.`);
  };
}

/** A use case that is loaded when it is first called. `deps`: what it works with, or what makes it at each call. */
function later<Deps extends object, Rest extends readonly unknown[], T>(
  deps: Deps | (() => Promise<Deps>),
  load: () => Promise<(deps: Deps, ...rest: Rest) => Promise<T>>,
) {
  return async (...rest: Rest): Promise<T> => (await load())(typeof deps === 'function' ? await deps() : deps, ...rest);
}

/** The same for a use case that tells each caller of its progress. */
function inFile<Deps extends { readonly progress: Progress }, Request, T>(
  deps: Deps,
  load: () => Promise<(deps: Deps, request: Request) => Promise<T>>,
) {
  return async (request: Request, progress: Progress): Promise<T> => (await load())({ ...deps, progress }, request);
}

type OpenerOptions = {
  /** Tells people that the database server is gone, and that it is back. */
  readonly notice?: ((sentence: string) => void) | undefined;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** The SQL that lets a role use the archive in a database. It connects to nothing. */
async function describeGrants(url: string, role: ArchiveRole): Promise<Result<ArchiveGrantsReport, ArchiveFailure>> {
  const { parseTarget } = await import('../adapters/archive/postgres/open.ts');
  const { grantsFor } = await import('../adapters/archive/postgres/grants.ts');
  const target = parseTarget(url);
  if (!target.ok) return target;
  const { place, schema } = target.value;
  return ok({ schema: 'compact/archive-grants@1', database: place.database, role, ...grantsFor(role, schema) });
}

/** How archives at a place are opened. */
type Engine = {
  readonly exists: () => Promise<boolean>;
  /** `vectorExtension`: SQLite's; null: vectors are not used. */
  readonly open: (mode: ArchiveMode, vectorExtension: string | null) => Promise<Result<Archive | null, ArchiveFailure>>;
  readonly findPlaceProblem: WritingDeps['findArchivePlaceProblem'];
  /** It needs one, so an archive is opened with it, and once more without. */
  readonly needsExtension: boolean;
};

/** On a database server, vectors need no extension of ours. */
function createServerEngine(url: string, { notice = () => undefined, sleep }: OpenerOptions): Engine {
  return {
    exists: async () => true,
    open: async (mode) => {
      const { openPostgresArchive } = await import('../adapters/archive/postgres/open.ts');
      return openPostgresArchive({ url, create: mode === 'create', notice, wait: sleep });
    },
    findPlaceProblem: async () => null,
    needsExtension: false,
  };
}

function createFileEngine(path: string): Engine {
  return {
    exists: async () => (await import('../adapters/archive/sqlite/file.ts')).archiveExists(path),
    open: async (mode, vectorExtension) => {
      const { openArchive } = await import('../adapters/archive/sqlite/open.ts');
      return openArchive({ path, create: mode === 'create', ...(vectorExtension !== null && { vectorExtension }) });
    },
    findPlaceProblem: async (options) =>
      (await import('../adapters/archive/sqlite/file.ts')).findPlaceProblem(path, options),
    needsExtension: true,
  };
}

/** Opens the archive once for each use, however many ask at the same time; creates it only on request. */
function createArchiveOpener(engine: Engine) {
  const opened = new Map<string | null, ReturnType<Engine['open']>>();
  const open = async (mode: ArchiveMode, vectorExtension: string | null): ReturnType<AppDeps['openArchive']> => {
    if (mode === 'existing' && opened.size === 0 && !(await engine.exists())) return ok(null);
    const key = engine.needsExtension ? vectorExtension : null;
    for (let known = opened.get(key); known !== undefined; known = opened.get(key)) {
      const archive = await known;
      if (archive.ok && archive.value !== null) return archive;
      // Another caller could not open it. This one may be allowed to create it.
      if (opened.get(key) === known) opened.delete(key);
    }
    const opening = engine.open(mode, vectorExtension);
    opened.set(key, opening);
    const archive = await opening;
    if ((!archive.ok || archive.value === null) && opened.get(key) === opening) opened.delete(key);
    return archive;
  };
  return {
    openWith: (vectorExtension: string | null) => (mode: ArchiveMode) => open(mode, vectorExtension),
    findPlaceProblem: async (...asked: Parameters<Engine['findPlaceProblem']>) =>
      opened.size > 0 ? null : engine.findPlaceProblem(...asked),
    close: async () => {
      for (const opening of opened.values()) {
        const archive = await opening;
        if (archive.ok) await archive.value?.close();
      }
      opened.clear();
    },
  };
}

/** Opens archives for merging. */
export function createExchange(
  vectorExtension: string | null,
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
async function findExtension(): Promise<string | null> {
  const extension = await (await import('../adapters/archive/sqlite/extension.ts')).findVectorExtension();
  return extension.ok ? extension.value : null;
}
