import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openSqliteArchive } from '../../../src/adapters/archive/sqlite/open.ts';
import { storeLines } from '../../../src/app/compact/archive-lines.ts';
import { readTraits } from '../../../src/core/search/query-hints.ts';
import type {
  Archive,
  ArchiveFailure,
  BatchDraft,
  CompactionDraft,
  CycleDraft,
  LineDraft,
  MessageDraft,
  StoredLine,
} from '../../../src/ports/archive.ts';
import { collect } from '../../support/collect.ts';

export function sha256(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex');
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function tempFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'compact-archive-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An archive that stores a compaction, and reads one, with one call. */
export type TestArchive = Omit<Archive, 'readLines'> & {
  readonly store: (draft: CompactionDraft, lines: Iterable<LineDraft>) => Promise<number>;
  readonly readLines: (compactionId: number) => Promise<readonly StoredLine[]>;
  /** The archive itself. */
  readonly port: Archive;
};

export function toTestArchive(port: Archive): TestArchive {
  return {
    ...port,
    store: async (draft, lines) => (await storeLines(port, draft, lines)).id,
    readLines: async (id) => (await collect(port.readLines(id))).flat(),
    port,
  };
}

export function openAt(path: string, vectorExtension?: string): TestArchive {
  const opened = openSqliteArchive({ path, ...(vectorExtension === undefined ? {} : { vectorExtension }) });
  assert.ok(opened.ok, JSON.stringify(opened));
  return toTestArchive(opened.value);
}

/** An archive in a folder of its own, closed and removed after the test. */
export function tempArchive(t: TestContext, vectorExtension?: string): TestArchive {
  const folder = mkdtempSync(join(tmpdir(), 'compact-archive-'));
  const archive = openAt(join(folder, 'archive.db'), vectorExtension);
  t.after(() => {
    archive.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return archive;
}

export function batchDraft(overrides: Partial<BatchDraft> = {}): BatchDraft {
  return {
    content: 'They chose the green boat.',
    depth: 0,
    startTime: new Date('2026-03-01T08:00:00.000Z'),
    endTime: new Date('2026-03-01T09:30:00.000Z'),
    messageCount: 2,
    firstIndex: 1,
    lastIndex: 2,
    sources: [],
    ...overrides,
  };
}

export function cycleDraft(overrides: Partial<CycleDraft> = {}): CycleDraft {
  return {
    conversationId: 'harbor',
    cycle: 1,
    parentCycleId: null,
    clipSha256: sha256('clip'),
    messagesCompressed: 2,
    newBatches: [batchDraft()],
    live: [{ kind: 'new', position: 0 }],
    title: null,
    ...overrides,
  };
}

/** A message with the text that search is to find. */
export type TextDraft = MessageDraft & { readonly text: string };

export function messageDraft(overrides: Partial<TextDraft> = {}): TextDraft {
  const { text = 'Which boat?' } = overrides;
  return {
    id: 'm1',
    role: 'user',
    name: null,
    at: new Date('2026-03-01T08:00:00.000Z'),
    index: 1,
    text,
    traits: readTraits(text),
    ...overrides,
  };
}

/** The text of a message that has one. */
export function textOf(message: MessageDraft | null | undefined): string | undefined {
  return message && 'text' in message && typeof message.text === 'string' ? message.text : undefined;
}

/** A summarized line of the first batch of the first cycle. */
export function lineDraft(line: number, overrides: Partial<LineDraft> = {}): LineDraft {
  return {
    line,
    bytes: utf8(`${JSON.stringify({ n: line, content: textOf(overrides.message) })}\n`),
    outcome: 'summarized',
    cycle: 0,
    batch: 0,
    message: null,
    ...overrides,
  };
}

/** A compaction of `lineCount` lines none of which is kept. */
export function compactionDraft(lineCount: number, overrides: Partial<CompactionDraft> = {}): CompactionDraft {
  return {
    format: 'chat',
    run: null,
    sourcePath: '/logs/harbor.jsonl',
    outputPath: '/logs/harbor.compact.jsonl',
    source: { sha256: sha256('source'), sizeBytes: 100, lineCount, hasBom: false },
    output: { sha256: sha256('output'), sizeBytes: 50 },
    settingsSha256: sha256('{}'),
    settings: '{}',
    createdAt: new Date('2026-03-02T12:00:00.000Z'),
    processId: 4242,
    cycles: [cycleDraft()],
    inserted: [{ beforeLine: lineCount + 1, bytes: utf8('{"clip":1}\n') }],
    carried: [],
    kept: [],
    ...overrides,
  };
}

/** Stores and applies; gives the compaction's id. */
export async function applied(
  archive: TestArchive,
  draft: CompactionDraft,
  lines: Iterable<LineDraft>,
): Promise<number> {
  const id = await archive.store(draft, lines);
  await archive.port.markApplied(id);
  return id;
}

/** The failure with which a method rejects. */
export async function rejectedFailure(work: () => Promise<unknown>): Promise<ArchiveFailure> {
  const settled = await work().then(
    () => null,
    (error: unknown) => ({ error }),
  );
  return thrownFailure(() => {
    if (settled !== null) throw settled.error;
  });
}

/** The failure that a method throws. */
export function thrownFailure(work: () => unknown): ArchiveFailure {
  try {
    work();
  } catch (error) {
    if (error instanceof Error && 'failure' in error) return (error as Error & { failure: ArchiveFailure }).failure;
    throw error;
  }
  throw new Error('nothing was thrown');
}
