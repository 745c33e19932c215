import type { Failure } from '../../app/contract/failure.ts';
import type { ScanFileRequest, ScanReport } from '../../app/survey/scan-file.ts';
import { resolveModelAccess } from '../../config/access.ts';
import { parseBytes } from '../../config/quantity.ts';
import { type PolicyRequest, toModel, toPolicy } from '../../config/resolve.ts';
import { assertNever } from '../../core/result.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from '../exit-codes.ts';
import { createSkipRenderer, failedReport, renderFailed, skipUnreadable } from '../failed-and-skipped.ts';
import { findScanned, type Scanned, type ScannedFile } from '../find-scanned.ts';
import type { CommonRequest } from '../invocation.ts';
import { openFilesAtWork } from '../pool/files-at-work.ts';
import { runInOrder } from '../pool/in-order.ts';
import { renderFailure } from '../render/failure.ts';
import { reportJson, safeText } from '../render/text.ts';
import { renderBug } from '../render/problems.ts';
import { countOf } from '../render/quantities.ts';
import type { CliContext, Session } from '../session.ts';
import { defineCommand, inSession } from './command.ts';
import {
  JOBS_FLAG,
  OUTPUT_FLAGS,
  MAX_UNPACKED_FLAG,
  OLDER_THAN_FLAG,
  readOutputOptions,
  readSettings,
  readTime,
  SELECTION_FLAGS,
  SETTINGS_FLAGS,
} from './options.ts';

const SCAN_ORDERS = ['saving', 'size', 'age', 'tokens', 'path'] as const;

export type ScanInvocation = CommonRequest & {
  readonly kind: 'scan';
  /** Empty: look where the known producers keep their transcripts. */
  readonly operands: readonly string[];
  /** Only this format; null: any. */
  readonly format: string | null;
  readonly policy: PolicyRequest;
  readonly largerThanBytes: number | null;
  /** Only transcripts whose last message was earlier; null: any. */
  readonly before: Date | null;
  readonly jobs: number | null;
  readonly sort: (typeof SCAN_ORDERS)[number];
  readonly output: 'table' | 'json' | 'paths';
};

export const scanCommand = defineCommand({
  operands: {
    syntax: '[folder...]',
    description: 'where to look; without any, where the known programs keep their transcripts',
  },
  flags: [
    { flags: '--larger-than <size>', description: 'files over 5MB, 500kB, 1GiB', parse: parseBytes },
    OLDER_THAN_FLAG,
    { flags: '--format <name>', description: 'of this format alone (see --formats)' },
    {
      flags: '--sort <order>',
      description: 'what comes first: most saved, largest, oldest, most tokens',
      choices: [...SCAN_ORDERS],
      default: 'saving',
    },
    { flags: '-0, --null', description: 'paths alone, each ended by a NUL, for xargs -0', conflicts: 'json' },
    ...SELECTION_FLAGS,
    JOBS_FLAG,
    MAX_UNPACKED_FLAG,
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    ['compact scan', 'looks where the known programs keep their transcripts'],
    ['compact scan --larger-than 5MB --older-than 7d logs', 'only large files that have been quiet for a week'],
  ],
  read: ({ options, args }): ScanInvocation => ({
    kind: 'scan',
    operands: args,
    format: options.format ?? null,
    policy: { targetTokens: options.target ?? null, ifOver: null, conversation: options.conversation ?? null },
    largerThanBytes: options.largerThan ?? null,
    before: readTime(options.olderThan),
    jobs: options.jobs ?? null,
    sort: SCAN_ORDERS.find((order) => order === options.sort) ?? 'saving',
    output: options.null === true ? 'paths' : options.json === true ? 'json' : 'table',
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict: ({ operands }) =>
    operands.includes('-') ? 'a scan looks into folders, not into standard input (-)' : null,
  run,
});

/** Only reads. A file that cannot be read is reported, and the scan goes on. */
async function run(context: CliContext, invocation: ScanInvocation): Promise<ExitCode> {
  const needs = ['selection', 'model', 'archive'] as const;
  return inSession(
    context,
    { ...invocation, command: 'compact scan', needs, endsWithStdout: true },
    async (session) => {
      const scanned = await findScanned(session, invocation);
      if (typeof scanned === 'number') return scanned;
      const { signal } = session.terminal;
      const run: Run = {
        session,
        invocation,
        nowMs: Date.now(),
        archiveErrors: new Set(),
        renderSkipped: createSkipRenderer(),
      };
      const found = await surveyAll(run, scanned);
      if (signal.aborted) return interruptionCode(signal);
      const failedCount = found.failedCount + scanned.failedCount;
      await answer(run, sortRows(found.rows, invocation.sort));
      // After a failure, the user already knows why nothing was found.
      if (found.rows.length + failedCount === 0) session.reporter.report(nothingFound(scanned));
      if (found.skippedCount > 0 && invocation.outputOptions.verbosity === 'normal') {
        const them = found.skippedCount === 1 ? 'it' : 'them';
        session.reporter.report([
          `${countOf(found.skippedCount, 'file')} skipped that cannot be compacted; -v names ${them}.`,
        ]);
      }
      return failedCount > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
    },
  );
}

type Run = {
  readonly session: Session;
  readonly invocation: ScanInvocation;
  readonly nowMs: number;
  /** Errors of the archive that were reported: all transcripts share it, so each is printed once. */
  readonly archiveErrors: Set<string>;
  readonly renderSkipped: ReturnType<typeof createSkipRenderer>;
};
type Found = { readonly rows: readonly ScanReport[]; readonly skippedCount: number; readonly failedCount: number };

/** Keeps one row per transcript, never its content. */
async function surveyAll(run: Run, { files }: Scanned): Promise<Found> {
  const { session, invocation } = run;
  const rows: ScanReport[] = [];
  const counts = { skipped: 0, failed: 0 };
  const atWork = await openFilesAtWork(session, { files, jobs: invocation.jobs, isOffline: true });
  await runInOrder<ScannedFile, () => void>({
    items: files,
    jobs: atWork.jobs,
    signal: session.terminal.signal,
    work: async (file, place) => {
      try {
        const progress = session.reporter.progress.of(file.name, place);
        const result = await atWork.useCases.scanFile(requestFor(run, file), progress);
        if (!result.ok) {
          const { error } = result;
          return error.kind === 'interrupted' ? null : () => (counts[reportFailure(run, file, error)] += 1);
        }
        const report = result.value;
        return () => {
          if (report === null) return;
          // A person types the id, and `compact ID` looks for it in paths.
          const id = file.sessionId ?? (invocation.output === 'table' ? null : report.id);
          rows.push({ ...report, id, project: report.project ?? file.project });
        };
      } catch (error) {
        // Errors while aborting are expected.
        if (session.terminal.signal.aborted) return null;
        return () => {
          session.reporter.error(
            renderFailed(failedReport(file.name, { kind: 'bug', message: renderBug(error).trimEnd() })),
          );
          counts.failed += 1;
        };
      }
    },
    report: (report) => report(),
  });
  return { rows, skippedCount: counts.skipped, failedCount: counts.failed };
}

function requestFor({ session, invocation }: Run, { path, name, refusesLinks }: ScannedFile): ScanFileRequest {
  const { format, largerThanBytes, before } = invocation;
  return {
    input: { path, name, format: null, refusesLinks },
    policy: toPolicy(session.settings, invocation.policy),
    ...toModel(session.settings),
    ...maskingOf(session, invocation),
    only: { format, largerThanBytes, before },
  };
}

/** Whether secrets are masked, which is part of the settings that identify a compaction. A scan ignores a model that cannot be called. */
function maskingOf({ settings, config, terminal }: Session, asked: ScanInvocation): Pick<ScanFileRequest, 'isMasked'> {
  const access = resolveModelAccess({
    settings,
    config,
    flags: asked.settings.flags,
    environment: terminal.host.environment,
    isDryRun: true,
  });
  return access.ok && access.value !== null ? { isMasked: access.value.redactsSecrets } : {};
}

/** A file without a conversation is skipped, unless the command line names it. A damaged line is always reported. */
function reportFailure(run: Run, file: ScannedFile, failure: Failure): 'skipped' | 'failed' {
  const { session, invocation, archiveErrors } = run;
  const skipped = skipUnreadable(failure, file);
  if (skipped === null) {
    const message = renderFailure(failure);
    if (!archiveErrors.has(message)) session.reporter.error(message);
    if (failure.kind === 'archive') archiveErrors.add(message);
  } else if (failure.kind === 'bad-line' || invocation.outputOptions.verbosity === 'verbose') {
    session.reporter.report([run.renderSkipped(skipped)]);
  }
  session.explain(failure);
  return skipped === null ? 'failed' : 'skipped';
}

function sortRows(rows: readonly ScanReport[], order: ScanInvocation['sort']): readonly ScanReport[] {
  const byPath = (a: ScanReport, b: ScanReport): number => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0);
  const time = ({ at, modified }: ScanReport): number => Date.parse(at ?? modified);
  const difference = (a: ScanReport, b: ScanReport): number => {
    switch (order) {
      case 'saving':
        return b.saving - a.saving;
      case 'size':
        return b.bytes - a.bytes;
      case 'tokens':
        return b.tokens.before - a.tokens.before;
      case 'age':
        return time(a) - time(b);
      case 'path':
        return 0;
      default:
        return assertNever(order);
    }
  };
  return rows.toSorted((a, b) => difference(a, b) || byPath(a, b));
}

async function answer({ session, invocation, nowMs }: Run, rows: readonly ScanReport[]): Promise<void> {
  const { reporter, terminal } = session;
  if (invocation.output === 'paths') for (const { file } of rows) reporter.answerPiece(`${file}\0`);
  else if (invocation.output === 'json') for (const row of rows) reporter.answerPiece(reportJson(row));
  if (rows.length === 0 || invocation.output !== 'table') return;
  const { renderScan, renderNextStep } = await import('../render/scan.ts');
  const { homeFolder } = terminal.host;
  reporter.answer(
    renderScan(rows, {
      theme: reporter.answerTheme,
      // A table for another program is as wide as it needs to be: nothing in it is cut.
      widthColumns: terminal.stdout.isTerminal ? reporter.answerWidthColumns : Number.POSITIVE_INFINITY,
      nowMs,
      homeFolder,
      namesFiles: invocation.operands.length > 0 || rows.some(({ id }) => id === null),
    }),
  );
  reporter.report(renderNextStep(rows, { program: terminal.program(), argv: terminal.argv }));
}

function nothingFound({ files, looked }: Scanned): readonly string[] {
  if (files.length > 0) return [`None of ${countOf(files.length, 'file')} is a transcript that matches.`];
  return ['No transcripts found. Looked in:', ...looked.map((place) => `  ${safeText(place)}`)];
}
