import { createFileStore } from '../adapters/fs/file-store.ts';
import { createProducerIndexes } from '../adapters/producer-index/producer-indexes.ts';
import type { LoadedRedactors } from '../adapters/redact/load-redactor.ts';
import { beginRun, createNodeRuntime } from '../adapters/runtime/node.ts';
import { formatRegistry } from '../adapters/transcript/detect.ts';
import type { ExportDeps } from '../app/archive/export-archive.ts';
import type { AppDeps, ModelService, Summarizer } from '../app/contract/deps.ts';
import type { EmbeddingService } from '../app/search/embeddings/embed-texts.ts';
import { DEFAULT_COMPACTION_CONFIG } from '../core/policy.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { ModelProvider } from '../ports/model.ts';
import type { Runtime } from '../ports/runtime.ts';
import { createArchiveOpener, createExchange, createFolders, createQueueOpener, withVectors } from './archive.ts';
import { createBatchUseCases } from './batches.ts';
import { estimateBytes } from './transcript-files.ts';
import type {
  Composition,
  Created,
  EmbedderChoice,
  Embeddings,
  ModelChoice,
  SummarizerChoice,
  UseCases,
} from './use-cases.ts';

/** Starting a thread for the archive takes about a tenth of a second, in which this much is stored or restored. */
const MIN_BYTES_FOR_THREAD = 4 * 1024 * 1024;

/** The composition root: the one place where ports meet their adapters. What is slow to load is loaded when it is first asked for. */
export function createUseCases(composition: Composition): UseCases {
  const { archivePath, progress, signal, removeAtExit, maxUnpackedBytes } = composition;
  const isLarge = (bytes: number): boolean => bytes >= (composition.minBytesForArchiveThread ?? MIN_BYTES_FOR_THREAD);
  const opening = { ...composition, sleep: createNodeRuntime().sleep };
  const archive = createArchiveOpener(archivePath, opening);
  const openAside = archive.openWith({ vectorExtension: null, isThreaded: true });
  const deps: AppDeps = {
    files: createFileStore({ removeAtExit, maxUnpackedBytes }),
    formats: formatRegistry,
    runtime: createNodeRuntime(),
    progress,
    signal,
    openArchive: archive.openWith({ vectorExtension: null, isThreaded: false }),
    openArchiveInThread: async (sizeBytes) => (isLarge(sizeBytes) ? openAside('existing') : ok(null)),
    archivePath,
    notice: composition.notice,
    erasures: composition.finishesErasures === false ? undefined : { hasFailed: false },
  };
  const writing = {
    ...deps,
    stdout: composition.stdout,
    reached: composition.reached ?? (() => undefined),
    findArchivePlaceProblem: archive.findPlaceProblem,
    producerIndexes: createProducerIndexes(),
    run: composition.run ?? beginRun(),
  };
  const queueing = { ...deps, openQueue: createQueueOpener(archivePath, opening) };
  const exchangeDeps = async (): Promise<ExportDeps> => {
    const use = await withVectors();
    const exchange = createExchange(use, { notice: composition.notice, sleep: deps.runtime.sleep });
    return { ...deps, openArchive: archive.openWith(use), exchange, folders: await createFolders(use) };
  };
  return {
    createSummarizer: (choice) => createSummarizer(choice, deps.runtime),
    createEmbeddings: (choice) => createEmbeddings(choice, deps),
    createMask: async (redactRulesPath) => {
      const redactors = await loadRedactorsFor({ redactsSecrets: true, redactRulesPath });
      if (!redactors.ok) return redactors;
      const redactor = redactors.value?.create();
      return ok({ value: redactor?.redact ?? ((text) => text), warnings: redactors.value?.warnings ?? [] });
    },
    compactFile: async ({ embeddings, ...request }, progress) => {
      const { compactFile } = await import('../app/compact/compact-file.ts');
      const isThreaded = isLarge(estimateBytes(request.input.path));
      const openArchive = archive.openWith({ vectorExtension: embeddings?.vectorExtension ?? null, isThreaded });
      const compacting = { ...writing, openArchive, progress, storesInThread: isThreaded };
      const done = await compactFile(compacting, request);
      if (!done.ok || embeddings === null) return done;
      const { embedCompacted } = await import('../app/search/embeddings/embed-archive.ts');
      return ok(await embedCompacted({ ...compacting, ...embeddings }, done.value));
    },
    scoreFile: async (request) => (await import('../app/survey/score-file.ts')).scoreFile(deps, request),
    listRules: async (request) => (await import('../app/survey/list-rules.ts')).listRules(deps, request),
    scanFile: async (request, progress) =>
      (await import('../app/survey/scan-file.ts')).scanFile({ ...deps, progress }, request),
    reportFile: async ({ mask = (text) => text, ...request }, progress) =>
      (await import('../app/survey/report-file.ts')).reportFile({ ...deps, progress, mask }, request),
    writePage: async (page) => (await import('../app/write/write-output.ts')).writePage(deps, page),
    captureFile: async (request, progress) =>
      (await import('../app/archive/capture-file.ts')).captureFile({ ...deps, progress }, request),
    recordGone: async (request) => (await import('../app/archive/captured.ts')).recordGone(deps, request),
    listCaptured: async (of) => (await import('../app/archive/captured.ts')).listCaptured(deps, of),
    restoreCaptured: async (request, progress) =>
      (await import('../app/archive/restore-captured.ts')).restoreCaptured({ ...writing, progress }, request),
    restoreFile: async (request, progress) =>
      (await import('../app/restore/restore-file.ts')).restoreFile({ ...writing, progress }, request),
    diffFile: async (request, progress) =>
      (await import('../app/survey/diff-file.ts')).diffFile({ ...deps, progress }, request),
    listRuns: async () => (await import('../app/restore/undo.ts')).listRuns(deps),
    findRunToUndo: async (runs) => (await import('../app/restore/undo.ts')).findRunToUndo(writing, runs),
    undoFile: async (request, progress) =>
      (await import('../app/restore/undo.ts')).undoFile({ ...writing, progress }, request),
    endUndo: async (runId) => (await import('../app/restore/undo.ts')).endUndo(deps, runId),
    verifyFile: async (request, progress) =>
      (await import('../app/restore/verify-file.ts')).verifyFile({ ...deps, progress }, request),
    searchArchive: async ({ embeddings, mask, ...request }) => {
      const { searchArchive } = await import('../app/search/search-archive.ts');
      const { queryVectors, vectorExtension = null } = embeddings ?? {};
      const openArchive = archive.openWith({ vectorExtension, isThreaded: false });
      return searchArchive({ ...deps, openArchive, queryVectors, mask }, request);
    },
    searchCaptured: async (request, progress) =>
      (await import('../app/archive/search-captured.ts')).searchCaptured({ ...deps, progress }, request),
    showArchived: async ({ mask, ...request }) =>
      (await import('../app/search/show-archived.ts')).showArchived({ ...deps, mask }, request),
    showOriginals: async ({ mask, ...request }, onLine) =>
      (await import('../app/search/show-archived.ts')).showOriginals({ ...deps, mask }, request, onLine),
    listArchive: async () => (await import('../app/search/list-archive.ts')).listArchive(deps),
    measureArchive: async () => (await import('../app/search/list-archive.ts')).measureArchive(deps),
    checkArchive: async () => (await import('../app/search/check-archive.ts')).checkArchive(deps),
    changeHolds: async (request) => (await import('../app/archive/holds.ts')).changeHolds(deps, request),
    eraseArchived: async (request) => {
      const openArchive = archive.openWith(await withVectors());
      return (await import('../app/archive/erase-archived.ts')).eraseArchived({ ...writing, openArchive }, request);
    },
    pruneArchive: async (request) => {
      const openArchive = archive.openWith(await withVectors());
      return (await import('../app/archive/prune-archive.ts')).pruneArchive({ ...writing, openArchive }, request);
    },
    exportArchive: async (request) =>
      (await import('../app/archive/export-archive.ts')).exportArchive(await exchangeDeps(), request),
    importArchive: async (request) =>
      (await import('../app/archive/import-archive.ts')).importArchive(await exchangeDeps(), request),
    mergeArchives: async (request) =>
      (await import('../app/archive/merge-archives.ts')).mergeArchives(await exchangeDeps(), request),
    listReceipts: async () => (await import('../app/archive/erase-archived.ts')).listReceipts(deps),
    ...createBatchUseCases({ ...writing, createSummarizer: (choice) => createSummarizer(choice, deps.runtime) }),
    embedArchive: async ({ service, vectorExtension }) => {
      const { embedArchive } = await import('../app/search/embeddings/embed-archive.ts');
      return embedArchive({ ...deps, openArchive: archive.openWith({ vectorExtension, isThreaded: false }), service });
    },
    workJobs: async (request) => (await import('../app/jobs/work.ts')).workJobs(queueing, request),
    addJobs: async (jobs) => (await import('../app/jobs/work.ts')).addJobs(queueing, jobs),
    retryJobs: async () => (await import('../app/jobs/work.ts')).retryJobs(queueing),
    readQueue: async (nameOf) => (await import('../app/jobs/work.ts')).readQueue(queueing, nameOf),
    run: writing.run,
    clearLeftovers: async (path) => void (await deps.files.clearLeftovers(path)),
    listFormats: () => deps.formats.list(),
    close: archive.close,
  };
}

async function createSummarizer(
  { model: choice, compaction }: SummarizerChoice,
  runtime: Runtime,
): Promise<Result<Created<Summarizer>, string>> {
  const { createCachedStemmer, createExtractiveProvider } = await import('../adapters/model/extractive.ts');
  const { createBreaker } = await import('../app/summarize/limits.ts');
  const { maxConsecutiveFailures, minRetention } = compaction;
  const breaker = createBreaker(maxConsecutiveFailures ?? DEFAULT_COMPACTION_CONFIG.maxConsecutiveFailures);
  // Looking for what the offline summarizer leaves out takes time: it is only done where it matters.
  const isAudited = choice !== null || minRetention !== undefined;
  const common = { breaker, ...(isAudited && { stem: createCachedStemmer() }) };
  if (choice === null) return ok({ value: { ...common, model: createExtractiveProvider() }, warnings: [] });
  const service = await createModelService(choice, runtime);
  if (!service.ok) return service;
  // No vendor's library is loaded for a plan: it calls no model.
  const model = choice.isDryRun ? createExtractiveProvider() : (choice.custom ?? (await createModel(choice, runtime)));
  const fallback = choice.fallsBack ? { fallback: createExtractiveProvider() } : {};
  const { value, warnings } = service.value;
  return ok({ value: { ...common, model, service: value, ...fallback }, warnings });
}

async function createModelService(
  choice: ModelChoice,
  runtime: Runtime,
): Promise<Result<Created<ModelService>, string>> {
  const { provider, redactsSecrets, redactRulesPath, limits, notice } = choice;
  const redactors = await loadRedactorsFor({ redactsSecrets, redactRulesPath });
  if (!redactors.ok) return redactors;
  const { createRateLimiter } = await import('../app/summarize/limits.ts');
  const value = {
    paidAs: { provider, scope: redactsSecrets ? 'masked' : 'plain' },
    inFlight: new Map(),
    limiter: createRateLimiter(runtime, limits),
    createRedactor: redactors.value?.create ?? null,
    notice,
  };
  return ok({ value, warnings: redactors.value?.warnings ?? [] });
}

/** Null: secrets are not masked. */
async function loadRedactorsFor({
  redactsSecrets,
  redactRulesPath,
}: Masking): Promise<Result<LoadedRedactors | null, string>> {
  if (!redactsSecrets) return ok(null);
  const { loadRedactors } = await import('../adapters/redact/load-redactor.ts');
  const redactors = await loadRedactors(redactRulesPath);
  if (redactors.ok) return redactors;
  return err(redactors.error.map(({ path, place, problem }) => `${path}: ${place} ${problem}`).join('; '));
}

type Masking = Pick<ModelChoice, 'redactsSecrets' | 'redactRulesPath'>;

/** A vendor's library takes a tenth of a second or more to load: only the chosen one is. */
async function createModel(choice: ModelChoice, { now }: Runtime): Promise<ModelProvider> {
  const { provider, apiKey, baseUrl, maxTokensField, log } = choice;
  const options = { apiKey, baseUrl, now, ...(log === undefined ? {} : { log }) };
  if (provider === 'anthropic') {
    return (await import('../adapters/model/anthropic.ts')).createAnthropicProvider(options);
  }
  const { createOpenAiCompatibleProvider } = await import('../adapters/model/openai-compatible.ts');
  const flavor = provider === 'ollama' ? 'ollama' : 'openai';
  return createOpenAiCompatibleProvider({ ...options, flavor, maxTokensField });
}

async function createEmbeddings(
  choice: EmbedderChoice,
  { runtime, signal }: Pick<AppDeps, 'runtime' | 'signal'>,
): Promise<Result<Created<Embeddings>, string>> {
  const { provider, model, dimensions, apiKey, baseUrl, redactsSecrets, redactRulesPath, limits, notice } = choice;
  const { findVectorExtension } = await import('../adapters/archive/vectors/extension.ts');
  const extension = await findVectorExtension();
  if (!extension.ok) return extension;
  const redactors = await loadRedactorsFor({ redactsSecrets, redactRulesPath });
  if (!redactors.ok) return redactors;
  const { createRateLimiter } = await import('../app/summarize/limits.ts');
  const { createOpenAiEmbedder } = await import('../adapters/model/openai-embedder.ts');
  const { createQueryVectors } = await import('../app/search/embeddings/query-vectors.ts');
  const flavor = provider === 'ollama' ? 'ollama' : 'openai';
  const service: EmbeddingService = {
    embedder: createOpenAiEmbedder({ apiKey, baseUrl, flavor, model, dimensions, now: runtime.now }),
    provider,
    model,
    dimensions,
    limiter: createRateLimiter(runtime, limits),
    createRedactor: redactors.value?.create ?? null,
    notice,
  };
  const value: Embeddings = {
    service,
    queryVectors: createQueryVectors({ service, runtime, signal, outage: choice.outage }),
    vectorExtension: extension.value,
    run: { hasFailed: false },
  };
  return ok({ value, warnings: redactors.value?.warnings ?? [] });
}
