import type {
  ArchiveListReport,
  ArchiveStatsReport,
  BatchHit,
  BatchShown,
  CompactionShown,
  MessageHit,
  MessageShown,
  SearchReport,
} from '../../src/app/contract/archive-reports.ts';
import type { RestoreFileRequest } from '../../src/app/contract/requests.ts';
import type { ArchiveCheckReport } from '../../src/app/search/check-archive.ts';
import type { ArchiveEmbedReport } from '../../src/app/search/embeddings/embed-archive.ts';

const SHA = 'c'.repeat(64);

export function messageHit(changes: Partial<MessageHit> = {}): MessageHit {
  return {
    kind: 'message',
    show: 'message:7',
    program: 'Chat lines',
    title: 'Paint the boat',
    id: 'm-7',
    label: 'compaction-batch-c1-x',
    conversation: 'c1',
    role: 'user',
    name: 'ada',
    at: '2026-03-02T09:14:30.000Z',
    index: 6,
    line: 8,
    file: '/logs/talk.jsonl',
    score: 2.5,
    text: 'the green boat',
    marks: [{ start: 10, end: 14 }],
    ...changes,
  };
}

export function batchHit(changes: Partial<BatchHit> = {}): BatchHit {
  return {
    kind: 'batch',
    show: 'batch:2',
    program: 'Claude Code',
    title: null,
    id: 'compaction-batch-c1-x',
    label: 'compaction-batch-c1-x',
    conversation: 'c1',
    depth: 1,
    count: 57,
    start: '2026-03-02T09:00:00.000Z',
    at: '2026-03-02T10:00:00.000Z',
    file: '/logs/talk.jsonl',
    score: 2.5,
    text: 'They chose the boat.',
    marks: [{ start: 15, end: 19 }],
    ...changes,
  };
}

export function searchReport(changes: Partial<SearchReport> = {}): SearchReport {
  return {
    schema: 'compact/search@1',
    query: 'boat',
    hits: [messageHit(), batchHit()],
    archive: '/data/archive.db',
    unindexed: null,
    ...changes,
  };
}

export function shownBatch(changes: Partial<BatchShown> = {}): BatchShown {
  return {
    schema: 'compact/show@1',
    kind: 'batch',
    show: 'batch:2',
    label: 'compaction-batch-c1-x',
    conversation: 'c1',
    cycle: 2,
    depth: 0,
    start: '2026-03-02T09:00:00.000Z',
    end: null,
    count: 57,
    indices: { first: 1, last: 57 },
    file: '/logs/talk.jsonl',
    format: 'chat-lines',
    archivedAt: '2026-03-03T00:00:00.000Z',
    isLive: true,
    sources: [],
    replacedBy: [],
    sha256: SHA,
    text: 'They chose\n\tthe boat.',
    ...changes,
  };
}

export function shownMessage(changes: Partial<MessageShown> = {}): MessageShown {
  return {
    schema: 'compact/show@1',
    kind: 'message',
    show: 'message:7',
    id: 'm-7',
    label: 'compaction-batch-c1-x',
    conversation: 'c1',
    role: 'user',
    name: 'ada',
    at: '2026-03-02T09:14:30.000Z',
    index: 6,
    file: '/logs/talk.jsonl',
    format: 'chat-lines',
    line: 8,
    archivedAt: '2026-03-03T00:00:00.000Z',
    sha256: SHA,
    text: 'Which boat?',
    original: { encoding: 'utf-8', data: '{"role":"user","content":"Which boat?"}\n' },
    ...changes,
  };
}

export function shownCompaction(changes: Partial<CompactionShown> = {}): CompactionShown {
  return {
    schema: 'compact/show@1',
    kind: 'compaction',
    show: '0123456789ab',
    file: '/logs/talk.jsonl',
    output: null,
    format: 'chat-lines',
    archivedAt: '2026-03-03T00:00:00.000Z',
    conversations: [{ id: 'c1', cycle: 2 }],
    lines: { archived: 50, total: 57 },
    batches: [{ label: 'first', depth: 1, start: null, end: null, count: 20 }],
    sha256: SHA,
    ...changes,
  };
}

export function listReport(changes: Partial<ArchiveListReport> = {}): ArchiveListReport {
  return {
    schema: 'compact/archive-list@1',
    archive: '/data/archive.db',
    compactions: [
      {
        at: '2026-03-03T00:00:00.000Z',
        file: '/logs/talk.jsonl',
        title: 'Whose turn is it?',
        output: null,
        format: 'chat-lines',
        conversations: [{ id: 'c1', cycle: 2 }],
        lines: { archived: 1200, total: 1225 },
        bytes: { before: 48_000, after: 3000 },
        sha256: SHA,
      },
    ],
    ...changes,
  };
}

export function statsReport(changes: Partial<ArchiveStatsReport> = {}): ArchiveStatsReport {
  return {
    schema: 'compact/archive-stats@1',
    archive: '/data/archive.db',
    compactions: 3,
    prepared: 0,
    conversations: 2,
    batches: 5,
    lines: 1200,
    messages: 1100,
    bytes: { original: 48_000_000, compressed: 9_000_000, file: 16_000_000, share: 1 / 3 },
    index: { bytes: 2_100_000, unindexed: { messages: 0, bytes: 0 } },
    captured: { files: 0, bytes: { original: 0, compressed: 0 } },
    vectors: null,
    oldest: '2026-01-02T00:00:00.000Z',
    newest: '2026-03-03T00:00:00.000Z',
    formats: [{ format: 'chat-lines', compactions: 3, lines: 1200, bytes: 48_000_000 }],
    ...changes,
  };
}

export function checkReport(changes: Partial<ArchiveCheckReport> = {}): ArchiveCheckReport {
  return {
    schema: 'compact/archive-check@1',
    archive: '/data/archive.db',
    result: 'sound',
    compactions: 3,
    batches: 5,
    captured: 0,
    lines: 1200,
    blocks: 12,
    bytes: { original: 48_000_000, compressed: 9_000_000, file: 16_000_000 },
    prepared: [],
    problems: [],
    moreProblems: 0,
    ...changes,
  };
}

export function embedReport(changes: Partial<ArchiveEmbedReport> = {}): ArchiveEmbedReport {
  return {
    schema: 'compact/archive-embed@1',
    archive: '/data/archive.db',
    result: 'complete',
    provider: 'ollama',
    model: 'tiny',
    dimensions: 768,
    embedded: 1100,
    missing: 0,
    dropped: 0,
    ...changes,
  };
}

export function restoreReport({ input, output }: RestoreFileRequest) {
  return {
    schema: 'compact/restore@1',
    file: input.name,
    result: 'restored',
    output: output.kind === 'file' ? output.path : output.kind === 'stdout' ? '-' : input.path,
    cycles: 1,
    bytes: 48_000,
    sha256: 'a'.repeat(64),
    original: { sha256: 'a'.repeat(64), bytes: 48_000 },
    appendedBytes: 0,
  } as const;
}
