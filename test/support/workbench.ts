import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openSqliteArchive } from '../../src/adapters/archive/sqlite/open.ts';
import { createExtractiveProvider } from '../../src/adapters/model/extractive.ts';
import { createProducerIndexes } from '../../src/adapters/producer-index/producer-indexes.ts';
import { createNodeRuntime } from '../../src/adapters/runtime/node.ts';
import { formatRegistry } from '../../src/adapters/transcript/detect.ts';
import { compactFile } from '../../src/app/compact/compact-file.ts';
import type { Summarizer, WritingDeps } from '../../src/app/contract/deps.ts';
import type { Failure } from '../../src/app/contract/failure.ts';
import type { CompactReport, RestoreReport, VerifyReport } from '../../src/app/contract/reports.ts';
import type { OutputTarget, TranscriptInput } from '../../src/app/contract/requests.ts';
import { restoreFile } from '../../src/app/restore/restore-file.ts';
import { verifyFile } from '../../src/app/restore/verify-file.ts';
import { createBreaker } from '../../src/app/summarize/limits.ts';
import { type CompactionConfig, DEFAULT_COMPACTION_CONFIG, type TranscriptPolicy } from '../../src/core/policy.ts';
import type { Result } from '../../src/core/result.ts';
import type { Archive, OpenArchiveOptions } from '../../src/ports/archive.ts';
import { createQuickStore } from './files.ts';
import { runMark } from './run-mark.ts';

export type BenchSettings = Partial<Omit<TranscriptPolicy, 'compaction'>> & {
  readonly compaction?: Partial<CompactionConfig>;
  readonly output?: OutputTarget;
  readonly format?: string;
  readonly before?: Date;
  readonly minIdleMs?: number;
  readonly planned?: TranscriptInput['planned'];
};

/** What the use cases work with, and what compacting summarizes with. */
export type BenchDeps = WritingDeps & Summarizer;

/** A temp folder with an archive of its own, and the use cases working on files in it through the real adapters. */
export type Workbench = {
  readonly folder: string;
  readonly archivePath: string;
  readonly archive: () => Archive;
  readonly deps: BenchDeps;
  readonly path: (name: string) => string;
  readonly write: (name: string, content: string | Uint8Array) => string;
  readonly read: (name: string) => Buffer;
  readonly compact: (name: string, settings?: BenchSettings) => Promise<Result<CompactReport, Failure>>;
  readonly restore: (name: string, all?: boolean) => Promise<Buffer>;
  readonly verify: (name: string) => Promise<VerifyReport>;
  readonly stdout: () => Buffer;
  readonly remove: () => void;
};

export function policyOf({
  compaction,
  output: _output,
  format: _format,
  before: _before,
  minIdleMs: _minIdleMs,
  planned: _planned,
  ...rest
}: BenchSettings = {}): TranscriptPolicy {
  return {
    chunkOrder: 'chronological',
    keepSystem: true,
    targetTokens: null,
    ifOverTokens: null,
    keepInvalid: false,
    conversation: null,
    ...rest,
    compaction: { ...DEFAULT_COMPACTION_CONFIG, chunkSize: 100, ...compaction },
  };
}

export function createWorkbench(
  overrides: Partial<BenchDeps> = {},
  folder = mkdtempSync(join(tmpdir(), 'compact-bench-')),
  archiveOptions: Pick<OpenArchiveOptions, 'vectorExtension'> = {},
): Workbench {
  const archivePath = join(folder, 'archive.db');
  const open: Archive[] = [];
  const archive = (): Archive => {
    const known = open[0];
    if (known !== undefined) return known;
    const opened = openSqliteArchive({ path: archivePath, ...archiveOptions });
    if (!opened.ok) throw new Error(JSON.stringify(opened.error));
    open.push(opened.value);
    return opened.value;
  };
  const written: Uint8Array[] = [];
  const deps: BenchDeps = {
    files: createQuickStore(),
    formats: formatRegistry,
    runtime: createNodeRuntime(),
    progress: { update: () => undefined, finish: () => undefined },
    signal: new AbortController().signal,
    openArchive: async () => ({ ok: true, value: archive() }),
    archivePath,
    erasures: { hasFailed: false },
    model: createExtractiveProvider(),
    breaker: createBreaker(3),
    stdout: (bytes) => written.push(Uint8Array.from(bytes)),
    reached: () => undefined,
    findArchivePlaceProblem: async () => null,
    producerIndexes: createProducerIndexes({}),
    run: runMark('workbench', new Date('2026-03-01T08:00:00.000Z')),
    ...overrides,
  };
  const path = (name: string): string => join(folder, name);
  const input = (
    name: string,
    format: string | null = null,
  ): { path: string; name: string; format: string | null } => ({ path: path(name), name, format });
  return {
    folder,
    archivePath,
    archive,
    deps,
    path,
    write: (name, content) => {
      writeFileSync(path(name), content);
      return path(name);
    },
    read: (name) => readFileSync(path(name)),
    compact: (name, settings = {}) =>
      compactFile(deps, {
        input: {
          ...input(name, settings.format ?? null),
          ...(settings.planned === undefined ? {} : { planned: settings.planned }),
        },
        output: settings.output ?? { kind: 'in-place' },
        before: settings.before,
        minIdleMs: settings.minIdleMs,
        policy: policyOf(settings),
        summarizer: deps,
        provider: 'extractive',
        modelName: 'extractive',
      }),
    restore: async (name, all = true) => {
      const restored = path(`${name}.restored`);
      const done: Result<RestoreReport, Failure> = await restoreFile(deps, {
        input: input(name),
        output: { kind: 'file', path: restored },
        all,
      });
      if (!done.ok) throw new Error(JSON.stringify(done.error));
      const bytes = readFileSync(restored);
      rmSync(restored);
      return bytes;
    },
    verify: async (name) => {
      const report = await verifyFile(deps, { input: input(name) });
      if (!report.ok) throw new Error(JSON.stringify(report.error));
      return report.value;
    },
    stdout: () => Buffer.concat(written),
    remove: () => {
      for (const one of open.splice(0)) void one.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Another run on the same files and the same archive, with some of its dependencies replaced. */
export function rerun(context: TestContext, bench: Workbench, overrides: Partial<BenchDeps> = {}): Workbench {
  const again = createWorkbench(overrides, bench.folder);
  context.after(again.remove);
  return again;
}

export function benchFor(context: TestContext, overrides: Partial<BenchDeps> = {}): Workbench {
  const bench = createWorkbench(overrides);
  context.after(bench.remove);
  return bench;
}

/** A workbench with this file. */
export function benchWith(
  context: TestContext,
  name: string,
  content: string | Uint8Array,
  overrides: Partial<BenchDeps> = {},
): Workbench {
  const bench = benchFor(context, overrides);
  bench.write(name, content);
  return bench;
}

export function reportOf(result: Result<CompactReport, Failure>): CompactReport {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}
