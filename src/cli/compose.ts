import type { Breaker } from '../app/breaker.ts';
import type { AppDeps, ArchiveMode, CompactDeps } from '../app/deps.ts';
import { createNodeRuntime } from '../adapters/runtime/node.ts';
import { createFileStore } from '../adapters/fs/file-store.ts';
import { formatRegistry } from '../adapters/transcript/format-registry.ts';
import { DEFAULT_COMPACTION_CONFIG } from '../core/policy.ts';
import { err, ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import type { Archive, ArchiveFailure } from '../ports/archive.ts';
import type { Composition, UseCases } from './use-cases.ts';

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
  const breakers: Breaker[] = [];
  return {
    compactFile: async (request) => {
      const { createExtractiveProvider } = await import('../adapters/model/extractive.ts');
      const { createBreaker } = await import('../app/breaker.ts');
      const { compactFile } = await import('../app/compact-file.ts');
      const breaker =
        breakers[0] ??
        createBreaker(
          request.policy.compaction.maxConsecutiveFailures ?? DEFAULT_COMPACTION_CONFIG.maxConsecutiveFailures,
        );
      if (breakers.length === 0) breakers.push(breaker);
      const compacting: CompactDeps = { ...writing, breaker, model: createExtractiveProvider() };
      return compactFile(compacting, request);
    },
    scoreFile: async (request) => (await import('../app/score-file.ts')).scoreFile(deps, request),
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

/** Opens the archive once; a missing one only when it is to be created. */
function createArchiveOpener(path: string): {
  readonly open: (mode: ArchiveMode) => Promise<Result<Archive | null, ArchiveFailure>>;
  readonly close: () => void;
} {
  const opened: Archive[] = [];
  return {
    open: async (mode) => {
      const known = opened[0];
      if (known !== undefined) return ok(known);
      const { archiveExists } = await import('../adapters/archive/file.ts');
      if (mode === 'existing' && !archiveExists(path)) return ok(null);
      const { openArchive } = await import('../adapters/archive/sqlite.ts');
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
