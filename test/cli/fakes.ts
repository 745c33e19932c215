import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import type { Summarizer } from '../../src/app/contract/deps.ts';
import { createBreaker } from '../../src/app/summarize/limits.ts';
import { EXIT_CODES, type ProgramCode } from '../../src/cli/terminal/exit-codes.ts';
import type { Channel, Launch, Terminal } from '../../src/cli/terminal/terminal.ts';
import type { Embeddings } from '../../src/compose/services.ts';
import type { Composition, CreateUseCases, UseCases } from '../../src/compose/use-cases.ts';
import type { Environment } from '../../src/config/find.ts';
import { ok } from '../../src/core/result.ts';
import type { StoredRun } from '../../src/ports/archive.ts';
import type { Format } from '../../src/ports/codec.ts';
import { USER_ID } from '../config/fakes.ts';
import { fileReport } from '../support/file-reports.ts';
import {
  checkReport,
  embedReport,
  listReport,
  restoreReport,
  searchReport,
  shownBatch,
  statsReport,
} from './archive-reports.ts';
import { compactReport, scoreReport, verifyReport } from './fake-reports.ts';
import { runMark } from '../support/run-mark.ts';

export const CHAT_FORMAT: Format = {
  name: 'chat-lines',
  title: 'Chat lines',
  summary: 'one message a line',
  checked: 'read back by nobody',
  layout: { kind: 'lines', links: 'order', summaryPlace: 'before-kept' },
};

/** How a program ends that a fake terminal becomes. */
export const EXITED = 7 as ProgramCode;

export type FakeTerminal = Terminal & {
  readonly out: () => string;
  readonly errors: () => string;
  readonly interrupt: () => void;
  /** As SIGTERM does to work that ends gently. */
  readonly stop: () => void;
  /** Those that would be killed at the end. */
  readonly children: ReadonlySet<Pick<ChildProcess, 'kill'>>;
  /** The programs that it was to become. */
  readonly started: readonly Launch[];
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
  readonly heightRows?: number;
  /** The reader of stdout goes away after so many writes. */
  readonly closesAfter?: number;
  /** And what is then wrong with it. */
  readonly failsWith?: string;
};

/** A terminal whose output is kept. */
export function createFakeTerminal(argv: readonly string[], options: TerminalOptions = {}): FakeTerminal {
  const folder = options.workingFolder ?? '/nowhere';
  const interruption = new AbortController();
  const stopping = new AbortController();
  const stdout = createFakeChannel(options, options.closesAfter ?? Number.POSITIVE_INFINITY);
  const stderr = createFakeChannel(options, Number.POSITIVE_INFINITY);
  const detached: (readonly string[])[] = [];
  const started: Launch[] = [];
  const children = new Set<Pick<ChildProcess, 'kill'>>();
  return {
    argv,
    nodeFlags: process.execArgv,
    saveMemory: () => undefined,
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
    dialog: () => ({ input: Readable.from([]), output: new PassThrough() }),
    stderr: stderr.channel,
    signal: interruption.signal,
    stopGently: () => AbortSignal.any([stopping.signal, interruption.signal]),
    removeAtExit: (path) => () => rmSync(path, { recursive: true, force: true }),
    become: async (launch) => {
      started.push(launch);
      return EXITED;
    },
    started,
    forgetAtExit: () => undefined,
    killAtExit: (child) => {
      children.add(child);
      return () => void children.delete(child);
    },
    children,
    out: stdout.text,
    errors: stderr.text,
    interrupt: () => interruption.abort(),
    stop: () => stopping.abort(EXIT_CODES.terminated),
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
      heightRows: options.heightRows ?? Number.POSITIVE_INFINITY,
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

const unanswered = (): Promise<never> => Promise.reject(new Error('this test answers no such call'));
const answering = (value: unknown) => (): Promise<unknown> => Promise.resolve(ok(value));

type Answer = (...asked: readonly never[]) => unknown;

/** Under which name a call is kept (null: it is not), and what it gives if the test says nothing else. */
const ANSWERS: { readonly [name in keyof UseCases]?: readonly [called: string | null, answer: Answer] } = {
  createSummarizer: ['create-summarizer', answering({ value: SUMMARIZER, warnings: [] })],
  createMask: ['create-mask', answering({ value: (text: string) => text, warnings: [] })],
  createEmbeddings: ['create-embeddings', answering({ value: EMBEDDINGS, warnings: [] })],
  compactFile: ['compact', async ({ input }: FileRequest) => ok(compactReport({ file: input.name }))],
  workJobs: [null, unanswered],
  addJobs: ['add-jobs', answering(0)],
  retryJobs: [null, unanswered],
  readQueue: [null, unanswered],
  scoreFile: ['score', async ({ input }: FileRequest) => ok(scoreReport({ file: input.name }))],
  listRules: ['list-rules', unanswered],
  scanFile: ['survey', answering(null)],
  reportFile: ['report', async () => ok(fileReport())],
  writePage: ['write-page', answering(undefined)],
  captureFile: ['capture', unanswered],
  recordGone: ['record-gone', answering([])],
  findUncaptured: [null, async () => ok([])],
  listCaptured: ['list-captured', answering([])],
  restoreCaptured: ['restore-captured', unanswered],
  restoreFile: ['restore', async (request: Parameters<typeof restoreReport>[0]) => ok(restoreReport(request))],
  listRuns: ['list-runs', answering({ archive: '/data/archive.db', runs: [] })],
  findRunToUndo: [null, async (runs: readonly StoredRun[]) => runs.find(({ undoneAt }) => undoneAt === null) ?? null],
  undoFile: ['undo', answering({ result: 'restored', bytes: 48_000, appendedBytes: 0 })],
  endUndo: ['end-undo', answering(null)],
  verifyFile: ['verify', async ({ input }: FileRequest) => ok(verifyReport({ file: input.name }))],
  searchArchive: ['search', async ({ query }: Query) => ok(searchReport({ query }))],
  showArchived: ['show', async () => ok(shownBatch())],
  showOriginals: ['originals', answering(0)],
  listArchive: ['list', async () => ok(listReport())],
  gaugeArchive: ['gauge', async () => ok(null)],
  measureArchive: ['stats', async () => ok(statsReport())],
  indexArchive: [
    'index',
    answering({
      schema: 'compact/archive-index@1',
      archive: '/data/archive.db',
      indexed: { messages: 1234, bytes: 5_600_000 },
      left: { messages: 0, bytes: 0 },
    }),
  ],
  checkArchive: ['check', async () => ok(checkReport())],
  changeHolds: ['hold', unanswered],
  eraseArchived: ['erase', unanswered],
  pruneArchive: ['prune', unanswered],
  exportArchive: ['export', unanswered],
  importArchive: ['import', unanswered],
  mergeArchives: ['merge', unanswered],
  listReceipts: ['receipts', unanswered],
  logDeed: ['log', async () => ok(null)],
  embedArchive: ['embed', async () => ok(embedReport())],
};

type FileRequest = { readonly input: { readonly name: string } };
type Query = { readonly query: string };

/** Use cases that answer with these results and keep what they were asked. */
export function createFakeUseCases(answers: Partial<UseCases> = {}): FakeUseCases {
  const calls: Call[] = [];
  const compositions: Composition[] = [];
  const given: Readonly<Record<string, unknown>> = answers;
  const fakes = Object.entries(ANSWERS).map(([name, [called, standard]]) => {
    const answer = (given[name] ?? standard) as Answer;
    return [
      name,
      async (...asked: readonly never[]) => {
        if (called !== null) calls.push({ name: called, request: asked[0] ?? null });
        return answer(...asked);
      },
    ];
  });
  const createUseCases = (composition: Composition): UseCases => {
    compositions.push(composition);
    return {
      ...(Object.fromEntries(fakes) as UseCases),
      run: runMark('fake'),
      clearLeftovers: async () => undefined,
      listFormats:
        answers.listFormats ?? (() => [CHAT_FORMAT, { ...CHAT_FORMAT, name: 'claude-code', title: 'Claude Code' }]),
      close: async () => void calls.push({ name: 'close', request: null }),
    };
  };
  return { calls, compositions, loadUseCases: () => Promise.resolve(createUseCases) };
}
