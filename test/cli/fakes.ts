import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { ShowReport } from '../../src/app/contract/archive-reports.ts';
import type { Summarizer } from '../../src/app/contract/deps.ts';
import { createBreaker } from '../../src/app/summarize/limits.ts';
import type { Channel, Terminal } from '../../src/cli/terminal/terminal.ts';
import type { Embeddings } from '../../src/compose/services.ts';
import type { Composition, CreateUseCases, UseCases } from '../../src/compose/use-cases.ts';
import type { Environment } from '../../src/config/find.ts';
import { err, ok, type Result } from '../../src/core/result.ts';
import type { Format } from '../../src/ports/codec.ts';
import { USER_ID } from '../config/fakes.ts';
import { fileReport } from '../support/file-reports.ts';
import {
  checkReport,
  embedReport,
  listReport,
  NO_BATCHES,
  restoreReport,
  searchReport,
  shownBatch,
  statsReport,
} from './archive-reports.ts';
import { compactReport, scoreReport, verifyReport } from './fake-reports.ts';

export const CHAT_FORMAT: Format = {
  name: 'chat-lines',
  title: 'Chat lines',
  summary: 'one message a line',
  checked: 'read back by nobody',
  layout: { kind: 'lines', links: 'order', summaryPlace: 'before-kept' },
};

export type FakeTerminal = Terminal & {
  readonly out: () => string;
  readonly errors: () => string;
  readonly interrupt: () => void;
  /** Those that would be killed at the end. */
  readonly children: ReadonlySet<Pick<ChildProcess, 'kill'>>;
  /** The arguments of the processes that were started. */
  readonly detached: readonly (readonly string[])[];
};

export type TerminalOptions = {
  readonly workingFolder?: string;
  readonly homeFolder?: string;
  /** By default who runs the test, whose own the files of a test are. */
  readonly userId?: number;
  readonly environment?: Environment;
  /** Undefined: a terminal, with nobody at it. */
  readonly stdin?: string;
  readonly isTerminal?: boolean;
  readonly widthColumns?: number;
  /** The reader of stdout goes away after so many writes. */
  readonly closesAfter?: number;
  /** And what is then wrong with it. */
  readonly failsWith?: string;
};

/** A terminal whose output is kept. */
export function createFakeTerminal(argv: readonly string[], options: TerminalOptions = {}): FakeTerminal {
  const folder = options.workingFolder ?? '/nowhere';
  const interruption = new AbortController();
  const stdout = createFakeChannel(options, options.closesAfter ?? Number.POSITIVE_INFINITY);
  const stderr = createFakeChannel(options, Number.POSITIVE_INFINITY);
  const detached: (readonly string[])[] = [];
  const children = new Set<Pick<ChildProcess, 'kill'>>();
  return {
    argv,
    nodeFlags: process.execArgv,
    host: {
      environment: options.environment ?? {},
      workingFolder: folder,
      homeFolder: options.homeFolder ?? '/nowhere/home',
      userId: options.userId ?? USER_ID,
    },
    program: () => 'compact',
    launch: () => ({ command: 'compact', args: [] }),
    readStdin: (maxBytes) => ((options.stdin ?? '').length > maxBytes ? null : (options.stdin ?? '')),
    startDetached: (args) => {
      detached.push(args);
    },
    detached,
    stdin: {
      kind: options.stdin === undefined ? 'terminal' : 'input',
      open: () => Readable.from([Buffer.from(options.stdin ?? '')]),
    },
    stdout: stdout.channel,
    stderr: stderr.channel,
    signal: interruption.signal,
    removeAtExit: (path) => () => rmSync(path, { recursive: true, force: true }),
    forgetAtExit: () => undefined,
    killAtExit: (child) => {
      children.add(child);
      return () => void children.delete(child);
    },
    children,
    out: stdout.text,
    errors: stderr.text,
    interrupt: () => interruption.abort(),
  };
}

function createFakeChannel(
  options: TerminalOptions,
  closesAfter: number,
): { readonly channel: Channel; readonly text: () => string } {
  const pieces: string[] = [];
  return {
    channel: {
      isTerminal: options.isTerminal === true,
      widthColumns: options.widthColumns ?? 80,
      write: (data) => {
        if (pieces.length < closesAfter) pieces.push(typeof data === 'string' ? data : Buffer.from(data).toString());
      },
      isClosed: () => pieces.length >= closesAfter,
      failure: () => (pieces.length >= closesAfter ? (options.failsWith ?? null) : null),
    },
    text: () => pieces.join(''),
  };
}

type Call = { readonly name: string; readonly request: unknown };

export type FakeUseCases = {
  readonly calls: readonly Call[];
  readonly compositions: readonly Composition[];
  readonly loadUseCases: () => Promise<CreateUseCases>;
};

/** Stand-ins that no fake use case calls. */
export const SUMMARIZER: Summarizer = {
  model: { complete: () => Promise.reject(new Error('no model is called')) },
  breaker: createBreaker(1),
};
const EMBEDDINGS: Embeddings = {
  service: {
    embedder: { embed: () => Promise.reject(new Error('no service is called')) },
    provider: 'fake',
    model: 'fake',
    dimensions: null,
    limiter: { take: async () => 0, giveBack: () => undefined },
    createRedactor: null,
    notice: () => undefined,
  },
  queryVectors: { find: async () => null },
  vectorExtension: '/nowhere/vec0',
  run: { hasFailed: false },
};

const unanswered = (): Promise<never> => Promise.reject(notAnswered());
const notAnswered = (): Error => new Error('this test answers no such call');

/** Use cases that answer with these results and keep what they were asked. */
export function createFakeUseCases(answers: Partial<UseCases> = {}): FakeUseCases {
  const calls: Call[] = [];
  const compositions: Composition[] = [];
  const keep = async <R, E>(call: Call, answer: Promise<Result<R, E>>): Promise<Result<R, E>> => {
    calls.push(call);
    return answer;
  };
  const createUseCases: CreateUseCases = (composition) => {
    compositions.push(composition);
    return {
      createSummarizer: (choice) =>
        keep(
          { name: 'create-summarizer', request: choice },
          answers.createSummarizer?.(choice) ?? Promise.resolve(ok({ value: SUMMARIZER, warnings: [] })),
        ),
      createMask: (path) =>
        keep(
          { name: 'create-mask', request: path },
          answers.createMask?.(path) ?? Promise.resolve(ok({ value: (text: string) => text, warnings: [] })),
        ),
      createEmbeddings: (choice) =>
        keep(
          { name: 'create-embeddings', request: choice },
          answers.createEmbeddings?.(choice) ?? Promise.resolve(ok({ value: EMBEDDINGS, warnings: [] })),
        ),
      compactFile: (request, progress) =>
        keep(
          { name: 'compact', request },
          answers.compactFile?.(request, progress) ?? Promise.resolve(ok(compactReport({ file: request.input.name }))),
        ),
      workJobs: (request) => answers.workJobs?.(request) ?? Promise.reject(notAnswered()),
      addJobs: (jobs) => keep({ name: 'add-jobs', request: jobs }, answers.addJobs?.(jobs) ?? Promise.resolve(ok(0))),
      retryJobs: () => answers.retryJobs?.() ?? Promise.reject(notAnswered()),
      readQueue: (nameOf) => answers.readQueue?.(nameOf) ?? Promise.reject(notAnswered()),
      scoreFile: (request) =>
        keep(
          { name: 'score', request },
          answers.scoreFile?.(request) ?? Promise.resolve(ok(scoreReport({ file: request.input.name }))),
        ),
      listRules: (request) =>
        keep({ name: 'list-rules', request }, answers.listRules?.(request) ?? Promise.reject(notAnswered())),
      scanFile: (request, progress) =>
        keep({ name: 'survey', request }, answers.scanFile?.(request, progress) ?? Promise.resolve(ok(null))),
      reportFile: (request, progress) =>
        keep({ name: 'report', request }, answers.reportFile?.(request, progress) ?? Promise.resolve(ok(fileReport()))),
      writePage: (page) =>
        keep({ name: 'write-page', request: page }, answers.writePage?.(page) ?? Promise.resolve(ok(undefined))),
      captureFile: (request, progress) =>
        keep({ name: 'capture', request }, answers.captureFile?.(request, progress) ?? Promise.reject(notAnswered())),
      recordGone: (request) =>
        keep({ name: 'record-gone', request }, answers.recordGone?.(request) ?? Promise.resolve(ok([]))),
      listCaptured: (request) =>
        keep({ name: 'list-captured', request }, answers.listCaptured?.(request) ?? Promise.resolve(ok([]))),
      restoreCaptured: (request, progress) =>
        keep(
          { name: 'restore-captured', request },
          answers.restoreCaptured?.(request, progress) ?? Promise.reject(notAnswered()),
        ),
      restoreFile: (request, progress) =>
        keep(
          { name: 'restore', request },
          answers.restoreFile?.(request, progress) ?? Promise.resolve(ok(restoreReport(request))),
        ),
      diffFile: (request, progress) =>
        keep(
          { name: 'diff', request },
          answers.diffFile?.(request, progress) ??
            Promise.resolve(err({ kind: 'not-compacted', file: request.input.name })),
        ),
      listRuns: () =>
        keep(
          { name: 'list-runs', request: null },
          answers.listRuns?.() ?? Promise.resolve(ok({ archive: '/data/archive.db', runs: [] })),
        ),
      findRunToUndo: async (runs) => runs.find(({ undoneAt }) => undoneAt === null) ?? null,
      undoFile: (request, progress) =>
        keep(
          { name: 'undo', request },
          answers.undoFile?.(request, progress) ??
            Promise.resolve(ok({ result: 'restored', bytes: 48_000, appendedBytes: 0 } as const)),
        ),
      endUndo: (runId) =>
        keep({ name: 'end-undo', request: runId }, answers.endUndo?.(runId) ?? Promise.resolve(ok(null))),
      verifyFile: (request, progress) =>
        keep(
          { name: 'verify', request },
          answers.verifyFile?.(request, progress) ?? Promise.resolve(ok(verifyReport({ file: request.input.name }))),
        ),
      searchArchive: (request) =>
        keep(
          { name: 'search', request },
          answers.searchArchive?.(request) ?? Promise.resolve(ok(searchReport({ query: request.query }))),
        ),
      searchCaptured: (request, progress) =>
        keep(
          { name: 'search-captured', request },
          answers.searchCaptured?.(request, progress) ??
            Promise.resolve(ok({ schema: 'compact/search@1', query: request.query, hits: [], archive: null } as const)),
        ),
      showArchived: (request) =>
        keep(
          { name: 'show', request },
          answers.showArchived?.(request) ?? Promise.resolve(ok<ShowReport>(shownBatch())),
        ),
      showOriginals: (request, onLine) =>
        keep({ name: 'originals', request }, answers.showOriginals?.(request, onLine) ?? Promise.resolve(ok(0))),
      listArchive: () =>
        keep({ name: 'list', request: null }, answers.listArchive?.() ?? Promise.resolve(ok(listReport()))),
      measureArchive: () =>
        keep({ name: 'stats', request: null }, answers.measureArchive?.() ?? Promise.resolve(ok(statsReport()))),
      checkArchive: () =>
        keep({ name: 'check', request: null }, answers.checkArchive?.() ?? Promise.resolve(ok(checkReport()))),
      changeHolds: (request) => keep({ name: 'hold', request }, answers.changeHolds?.(request) ?? unanswered()),
      eraseArchived: (request) => keep({ name: 'erase', request }, answers.eraseArchived?.(request) ?? unanswered()),
      pruneArchive: (request) => keep({ name: 'prune', request }, answers.pruneArchive?.(request) ?? unanswered()),
      exportArchive: (request) => keep({ name: 'export', request }, answers.exportArchive?.(request) ?? unanswered()),
      importArchive: (request) => keep({ name: 'import', request }, answers.importArchive?.(request) ?? unanswered()),
      mergeArchives: (request) => keep({ name: 'merge', request }, answers.mergeArchives?.(request) ?? unanswered()),
      listReceipts: () =>
        keep({ name: 'receipts', request: null }, answers.listReceipts?.() ?? Promise.reject(notAnswered())),
      ...NO_BATCHES,
      embedArchive: (embeddings) =>
        keep(
          { name: 'embed', request: null },
          answers.embedArchive?.(embeddings) ?? Promise.resolve(ok(embedReport())),
        ),
      run: { token: 'fake', begunAt: new Date(0) },
      clearLeftovers: async () => undefined,
      listFormats:
        answers.listFormats ?? (() => [CHAT_FORMAT, { ...CHAT_FORMAT, name: 'claude-code', title: 'Claude Code' }]),
      close: async () => {
        calls.push({ name: 'close', request: null });
      },
    };
  };
  return { calls, compositions, loadUseCases: () => Promise.resolve(createUseCases) };
}
