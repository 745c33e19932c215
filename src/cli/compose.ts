import { createFileStore } from '../adapters/fs/file-store.ts';
import { createProducerIndexes } from '../adapters/producer-index/producer-indexes.ts';
import type { LoadedRedactors } from '../adapters/redact/load-redactor.ts';
import { createNodeRuntime } from '../adapters/runtime/node.ts';
import { formatRegistry } from '../adapters/transcript/detect.ts';
import type { AppDeps, ArchiveMode, CompactDeps } from '../app/contract/deps.ts';
import type { EmbeddingService } from '../app/search/embeddings/embed-texts.ts';
import type { QueryVectors } from '../app/search/embeddings/query-vectors.ts';
import type { Breaker } from '../app/summarize/limits.ts';
import { DEFAULT_COMPACTION_CONFIG } from '../core/policy.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { Archive, ArchiveFailure } from '../ports/archive.ts';
import type { ModelProvider } from '../ports/model.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { Composition, EmbedderChoice, ModelChoice, UseCases } from './use-cases.ts';

/** The composition root: the one place where ports meet their adapters. What is slow to load is loaded when it is first asked for. */
export function createUseCases(composition: Composition): UseCases {
  const chosen: Chosen = {};
  const archive = createArchiveOpener(composition.archivePath, chosen);
  const deps: AppDeps = {
    files: createFileStore({
      removeAtExit: composition.removeAtExit,
      maxUnpackedBytes: composition.maxUnpackedBytes,
    }),
    formats: formatRegistry,
    runtime: createNodeRuntime(),
    progress: composition.progress,
    signal: composition.signal,
    openArchive: archive.open,
    archivePath: composition.archivePath,
  };
  const writing = {
    ...deps,
    stdout: composition.stdout,
    reached: composition.reached ?? (() => undefined),
    findArchivePlaceProblem: archive.findPlaceProblem,
    producerIndexes: createProducerIndexes(),
  };
  return {
    chooseModel: async (choice) => {
      const model = await loadModel(choice, deps.runtime);
      if (!model.ok) return model;
      chosen.model = model.value.model;
      return ok(model.value.warnings);
    },
    chooseEmbedder: async (choice) => {
      const embedding = await loadEmbedding(choice, deps);
      if (!embedding.ok) return embedding;
      chosen.embedding = embedding.value;
      return ok(embedding.value.warnings);
    },
    chooseMask: async (redactRulesPath) => {
      const redactors = await loadRedactorsFor({ redactsSecrets: true, redactRulesPath });
      if (!redactors.ok) return redactors;
      const redactor = redactors.value?.create();
      if (redactor !== undefined) chosen.mask = redactor.redact;
      return ok(redactors.value?.warnings ?? []);
    },
    compactFile: async (request, progress) => {
      const { createCachedStemmer, createExtractiveProvider } = await import('../adapters/model/extractive.ts');
      const { createBreaker } = await import('../app/summarize/limits.ts');
      const { compactFile } = await import('../app/compact/compact-file.ts');
      const { maxConsecutiveFailures, minRetention } = request.policy.compaction;
      chosen.breaker ??= createBreaker(maxConsecutiveFailures ?? DEFAULT_COMPACTION_CONFIG.maxConsecutiveFailures);
      const offline = { model: createExtractiveProvider() };
      // What the offline summarizer leaves out is only looked for where it matters: that takes time.
      const isAudited = chosen.model !== undefined || minRetention !== undefined;
      const compacting: CompactDeps = {
        ...writing,
        progress,
        ...(chosen.model ?? offline),
        ...(isAudited ? { stem: createCachedStemmer() } : {}),
        breaker: chosen.breaker,
      };
      const done = await compactFile(compacting, request);
      if (!done.ok || chosen.embedding === undefined) return done;
      const { embedCompacted } = await import('../app/search/embeddings/embed-archive.ts');
      return ok(await embedCompacted({ ...deps, ...chosen.embedding, progress }, done.value));
    },
    scoreFile: async (request) => (await import('../app/survey/score-file.ts')).scoreFile(deps, request),
    surveyFile: async (request, progress) =>
      (await import('../app/survey/scan-file.ts')).surveyFile({ ...deps, progress }, request),
    restoreFile: async (request) => (await import('../app/restore/restore-file.ts')).restoreFile(writing, request),
    verifyFile: async (request) => (await import('../app/restore/verify-file.ts')).verifyFile(deps, request),
    searchArchive: async (request) => {
      const { searchArchive } = await import('../app/search/search-archive.ts');
      const { embedding, mask } = chosen;
      return searchArchive({ ...deps, queryVectors: embedding?.queryVectors, mask }, request);
    },
    showArchived: async (request) => {
      const { showArchived } = await import('../app/search/show-archived.ts');
      return showArchived({ ...deps, mask: chosen.mask }, request);
    },
    showOriginals: async (request, onLine) => {
      const { showOriginals } = await import('../app/search/show-archived.ts');
      return showOriginals({ ...deps, mask: chosen.mask }, request, onLine);
    },
    listArchive: async () => (await import('../app/search/list-archive.ts')).listArchive(deps),
    measureArchive: async () => (await import('../app/search/list-archive.ts')).measureArchive(deps),
    checkArchive: async () => (await import('../app/search/check-archive.ts')).checkArchive(deps),
    embedArchive: async () => {
      if (chosen.embedding === undefined) throw new Error('no embedder was chosen');
      const { embedArchive } = await import('../app/search/embeddings/embed-archive.ts');
      return embedArchive({ ...deps, service: chosen.embedding.service });
    },
    listFormats: () => deps.formats.list(),
    close: archive.close,
  };
}

type Chosen = { breaker?: Breaker; model?: ChosenModel; embedding?: ChosenEmbedding; mask?: (text: string) => string };

type ChosenModel = Pick<CompactDeps, 'model' | 'service' | 'fallback'>;

/** A vendor's library takes a tenth of a second to load and more: only the one that was chosen is. */
async function loadModel(
  choice: ModelChoice,
  runtime: Runtime,
): Promise<Result<{ readonly model: ChosenModel; readonly warnings: readonly string[] }, string>> {
  const { provider, redactsSecrets, redactRulesPath, limits, fallsBack, notice } = choice;
  const redactors = await loadRedactorsFor({ redactsSecrets, redactRulesPath });
  if (!redactors.ok) return redactors;
  const { createRateLimiter } = await import('../app/summarize/limits.ts');
  const { createExtractiveProvider } = await import('../adapters/model/extractive.ts');
  const service = {
    paidAs: { provider, scope: redactsSecrets ? 'masked' : 'plain' },
    underWay: new Map(),
    limiter: createRateLimiter(runtime, limits),
    createRedactor: redactors.value?.create ?? null,
    notice,
  };
  const fallback = fallsBack ? { fallback: createExtractiveProvider() } : {};
  // No vendor's library is loaded for a plan: it asks nobody.
  const model = choice.isDryRun ? createExtractiveProvider() : await createModel(choice, runtime);
  return ok({
    model: { model, service, ...fallback },
    warnings: redactors.value?.warnings ?? [],
  });
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

type ChosenEmbedding = {
  readonly service: EmbeddingService;
  readonly queryVectors: QueryVectors;
  readonly vectorExtension: string;
  readonly run: { hasFailed: boolean };
  readonly warnings: readonly string[];
};

async function loadEmbedding(
  choice: EmbedderChoice,
  { runtime, signal }: Pick<AppDeps, 'runtime' | 'signal'>,
): Promise<Result<ChosenEmbedding, string>> {
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
  return ok({
    service,
    queryVectors: createQueryVectors({ service, runtime, signal, outage: choice.outage }),
    vectorExtension: extension.value,
    run: { hasFailed: false },
    warnings: redactors.value?.warnings ?? [],
  });
}

/** Opens the archive once, whoever asks at the same time; a missing one only when it is to be created. */
function createArchiveOpener(
  path: string,
  chosen: Pick<Chosen, 'embedding'>,
): {
  readonly open: (mode: ArchiveMode) => Promise<Result<Archive | null, ArchiveFailure>>;
  readonly findPlaceProblem: CompactDeps['findArchivePlaceProblem'];
  readonly close: () => void;
} {
  const opened: Archive[] = [];
  return {
    findPlaceProblem: async (options) => {
      const { findPlaceProblem } = await import('../adapters/archive/file.ts');
      return opened.length > 0 ? null : findPlaceProblem(path, options);
    },
    open: async (mode) => {
      const { archiveExists } = await import('../adapters/archive/file.ts');
      if (mode === 'existing' && opened.length === 0 && !archiveExists(path)) return ok(null);
      const { openArchive } = await import('../adapters/archive/sqlite.ts');
      // Asked only now that nothing is waited for any more: somebody else may have opened it meanwhile.
      const known = opened[0];
      if (known !== undefined) return ok(known);
      const extension = chosen.embedding?.vectorExtension;
      const archive = openArchive({
        path,
        create: mode === 'create',
        ...(extension === undefined ? {} : { vectorExtension: extension }),
      });
      if (!archive.ok) return err(archive.error);
      opened.push(archive.value);
      return archive;
    },
    close: () => {
      for (const archive of opened.splice(0)) archive.close();
    },
  };
}
