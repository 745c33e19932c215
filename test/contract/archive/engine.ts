import type { TestContext } from 'node:test';
import { type BenchDeps, benchFor, type Workbench } from '../../support/workbench.ts';
import { collect } from '../../support/collect.ts';
import type { Archive, CompactionDraft, LineDraft, StoredLine } from '../../../src/ports/archive.ts';

/** A database that archives can be in. */
export type Engine = {
  /** How often a property is tried: a slow engine shares its code with a fast one. */
  readonly propertyRuns: number;
  /** An empty archive, whose ids begin with 1. */
  readonly open: (t: TestContext) => Promise<Archive>;
  /** The same archive for another program. */
  readonly openAgain: (t: TestContext, archive: Archive) => Promise<Archive>;
  /** Changes the database behind the archive's back, with statements that every engine understands. */
  readonly execute: (archive: Archive, sql: string) => Promise<void>;
  /** Where the files of the database still have a word, in readable or compressed bytes. */
  readonly findLeftovers: (archive: Archive, word: string) => Promise<readonly string[]>;
};

/** A temp folder whose use cases work with an empty archive of the engine. */
export async function benchOn(engine: Engine, t: TestContext, overrides: Partial<BenchDeps> = {}): Promise<Workbench> {
  const archive = await engine.open(t);
  const openArchive: BenchDeps['openArchive'] = async () => ({ ok: true, value: archive });
  const bench = benchFor(t, { archivePath: archive.path, openArchive, ...overrides });
  return { ...bench, archivePath: archive.path, archive: () => archive };
}

/** Stores a compaction line by line; gives its id. */
export async function stored(archive: Archive, draft: CompactionDraft, lines: Iterable<LineDraft>): Promise<number> {
  const writer = await archive.begin({ batchCounts: draft.cycles.map(({ newBatches }) => newBatches.length) });
  try {
    for (const line of lines) await writer.append([line]);
    return (await writer.commit(draft)).id;
  } finally {
    await writer.abandon();
  }
}

export async function applied(archive: Archive, draft: CompactionDraft, lines: Iterable<LineDraft>): Promise<number> {
  const id = await stored(archive, draft, lines);
  await archive.markApplied(id);
  return id;
}

export async function linesOf(archive: Archive, compactionId: number): Promise<readonly StoredLine[]> {
  return (await collect(archive.readLines(compactionId))).flat();
}

export async function problemsOf(archive: Archive): Promise<readonly string[]> {
  const steps = await collect(archive.check());
  return steps.flatMap((step) => (step.kind === 'damage' ? [step.damage.message] : []));
}
