import type { CompactReport, ScoreReport, VerifyReport } from '../../src/app/contract/reports.ts';
import type { ScanRow } from '../../src/cli/reports.ts';

const SHA_A = 'a'.repeat(64);
const SHA_B = 'b'.repeat(64);

export function compactReport(changes: Partial<CompactReport> = {}): CompactReport {
  return {
    schema: 'compact/report@1',
    file: 'talk.jsonl',
    format: 'chat-lines',
    result: 'compacted',
    notes: [],
    output: 'talk.compact.jsonl',
    sha256: { before: SHA_A, after: SHA_B },
    bytes: { before: 48_000, after: 3000 },
    conversations: [
      {
        id: 'c1',
        cycles: 2,
        messages: { before: 1420, after: 26 },
        tokens: { before: 12_000, after: 750, by: 'utf8-bytes/4' },
        batches: [
          { label: 'compaction-batch-c1-x', depth: 1, start: null, end: null, count: 200 },
          {
            label: 'compaction-batch-c1-y',
            depth: 0,
            start: '2026-01-02T10:00:00.000Z',
            end: '2026-01-02T11:00:00.000Z',
            count: 95,
          },
        ],
      },
    ],
    ledger: { kept: 25, summarized: 1390, quoted: 0, other: 5, total: 1420 },
    archive: '/data/archive.db',
    archiveBytes: 12_000,
    netBytes: 33_000,
    ...changes,
  };
}

export function scoreReport(changes: Partial<ScoreReport> = {}): ScoreReport {
  return {
    schema: 'compact/score@1',
    file: 'talk.jsonl',
    format: 'chat-lines',
    messages: [
      {
        index: 0,
        id: 'm-0',
        role: 'user',
        score: 4,
        terms: [
          { name: 'role', value: 1 },
          { name: 'question', value: 2 },
          { name: 'length', value: 1 },
        ],
        outcome: 'summarized',
        because: 'below-target',
        tokens: 120,
        line: 1,
        conversation: 'c1',
      },
      {
        index: 1,
        id: 'm-1',
        role: 'assistant',
        score: 10,
        terms: [
          { name: 'role', value: 3 },
          { name: 'tool call', value: 4 },
          { name: 'keyword:error', value: 1.5 },
          { name: 'keyword:fix', value: 1.5 },
        ],
        outcome: 'quoted',
        because: 'target',
        tokens: 300,
        line: 2,
        conversation: 'c1',
      },
      {
        index: 2,
        id: 'm-2',
        role: 'tool',
        score: 5,
        terms: [{ name: 'role', value: 5 }],
        outcome: 'kept',
        because: 'recent',
        tokens: 40,
        line: 3,
        conversation: 'c1',
      },
    ],
    ...changes,
  };
}

export function scanReport(changes: Partial<ScanRow> = {}): ScanRow {
  return {
    schema: 'compact/scan@1',
    file: '/home/you/.claude/projects/-work-harbor/0f1e2d3c.jsonl',
    format: 'claude-code',
    id: '0f1e2d3c-0000-4000-8000-000000000000',
    title: 'Make the harbor print recipes',
    project: '/work/harbor',
    model: 'claude-sonnet-4-5',
    at: '2026-03-02T09:00:00.000Z',
    modified: '2026-03-02T09:00:01.000Z',
    bytes: 4_200_000,
    bytesAfter: 60_000,
    archiveBytes: 900_000,
    netBytes: 3_241_216,
    conversations: 1,
    messages: 634,
    tokens: { before: 160_000, after: 80_000, by: 'utf8-bytes/4' },
    saving: 80_000,
    cost: { before: 0.48, after: 0.24, listedOn: '2026-09-23' },
    ...changes,
  };
}

export function verifyReport(changes: Partial<VerifyReport> = {}): VerifyReport {
  return {
    schema: 'compact/verify@1',
    file: 'talk.compact.jsonl',
    format: 'chat-lines',
    result: 'verified',
    cycles: 1,
    lines: { kept: 5, archived: 1200, appended: 0 },
    batches: 3,
    original: { sha256: SHA_A, bytes: 48_000 },
    archive: '/data/archive.db',
    problems: [],
    ...changes,
  };
}
