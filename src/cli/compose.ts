import type { Breaker } from '../app/breaker.ts';
import type { AppDeps, ArchiveMode, CompactDeps } from '../app/deps.ts';
import { createNodeRuntime } from '../adapters/runtime/node.ts';
import { createFileStore } from '../adapters/fs/file-store.ts';
import { formatRegistry } from '../adapters/transcript/format-registry.ts';
import { DEFAULT_COMPACTION_CONFIG } from '../core/policy.ts';
import { err, ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import type { Archive, ArchiveFailure } from '../ports/archive.ts';
import type { ModelProvider } from '../ports/model.ts';
import type { Runtime } from '../ports/runtime.ts';
import type { Composition, ModelChoice, UseCases } from './use-cases.ts';

/** The composition root: the one place where ports meet their adapters. What is slow to load is loaded when it is first asked for. */
export function createUseCases(composition: Composition): UseCases {
  const archive = createArchiveOpener(composition.archivePath);
  const deps: AppDeps = {
    files: createFileStore({ removeAtExit: composition.removeAtExit }),
    formats: formatRegistry,
    runtime: createNodeRuntime(),
    progress: composition.progress,
    signal: composition.signal,
    openArchive: archive.open,
    archivePath: composition.archivePath,
  };
  const writing = { ...deps, stdout: composition.stdout, reached: composition.reached ?? (() => undefined) };
  const chosen: { breaker?: Breaker; model?: ChosenModel } = {};
  return {
    chooseModel: async (choice) => {
      const model = await loadModel(choice, deps.runtime);
      if (!model.ok) return model;
      chosen.model = model.value.model;
      return ok(model.value.warnings);
    },
    compactFile: async (request, progress) => {
      const { createCachedStemmer, createExtractiveProvider } = await import('../adapters/model/extractive.ts');
      const { createBreaker } = await import('../app/breaker.ts');
      const { compactFile } = await import('../app/compact-file.ts');
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
      return compactFile(compacting, request);
    },
    scoreFile: async (request) => (await import('../app/score-file.ts')).scoreFile(deps, request),
    surveyFile: async (request, progress) =>
      (await import('../app/survey-file.ts')).surveyFile({ ...deps, progress }, request),
    restoreFile: async (request) => (await import('../app/restore-file.ts')).restoreFile(writing, request),
    verifyFile: async (request) => (await import('../app/verify-file.ts')).verifyFile(deps, request),
    searchArchive: async (request) => (await import('../app/search-archive.ts')).searchArchive(deps, request),
    showArchived: async (request) => (await import('../app/show-archived.ts')).showArchived(deps, request),
    showOriginals: async (request, onLine) =>
      (await import('../app/show-archived.ts')).showOriginals(deps, request, onLine),
    listArchive: async () => (await import('../app/list-archive.ts')).listArchive(deps),
    measureArchive: async () => (await import('../app/list-archive.ts')).measureArchive(deps),
    checkArchive: async () => (await import('../app/check-archive.ts')).checkArchive(deps),
    listFormats: () => deps.formats.list(),
    close: archive.close,
  };
}

type ChosenModel = Pick<CompactDeps, 'model' | 'service' | 'fallback'>;

/** A vendor's library takes a tenth of a second to load and more: only the one that was chosen is. */
async function loadModel(
  choice: ModelChoice,
  runtime: Runtime,
): Promise<Result<{ readonly model: ChosenModel; readonly warnings: readonly string[] }, string>> {
  const { provider, redactsSecrets, redactRulesPath, limits, fallsBack, notice } = choice;
  const { loadRedactors } = await import('../adapters/redact/load-redactor.ts');
  const redactors = redactsSecrets ? await loadRedactors(redactRulesPath) : null;
  if (redactors !== null && !redactors.ok) {
    return err(redactors.error.map(({ path, place, problem }) => `${path}: ${place} ${problem}`).join('; '));
  }
  const { createRateLimiter } = await import('../app/rate-limit.ts');
  const { createExtractiveProvider } = await import('../adapters/model/extractive.ts');
  const service = {
    paidAs: { provider, scope: redactsSecrets ? 'masked' : 'plain' },
    underWay: new Map(),
    limiter: createRateLimiter(runtime, limits),
    createRedactor: redactors?.value.create ?? null,
    notice,
  };
  const fallback = fallsBack ? { fallback: createExtractiveProvider() } : {};
  // No vendor's library is loaded for a plan: it asks nobody.
  const model = choice.isDryRun ? createExtractiveProvider() : await createModel(choice, runtime);
  return ok({
    model: { model, service, ...fallback },
    warnings: redactors?.value.warnings ?? [],
  });
}

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

/** Opens the archive once, whoever asks at the same time; a missing one only when it is to be created. */
function createArchiveOpener(path: string): {
  readonly open: (mode: ArchiveMode) => Promise<Result<Archive | null, ArchiveFailure>>;
  readonly close: () => void;
} {
  const opened: Archive[] = [];
  return {
    open: async (mode) => {
      const { archiveExists } = await import('../adapters/archive/file.ts');
      if (mode === 'existing' && opened.length === 0 && !archiveExists(path)) return ok(null);
      const { openArchive } = await import('../adapters/archive/sqlite.ts');
      // Asked only now that nothing is waited for any more: somebody else may have opened it meanwhile.
      const known = opened[0];
      if (known !== undefined) return ok(known);
      const archive = openArchive({ path, create: mode === 'create' });
      if (!archive.ok) return err(archive.error);
      opened.push(archive.value);
      return archive;
    },
    close: () => {
      for (const archive of opened.splice(0)) archive.close();
    },
  };
}
