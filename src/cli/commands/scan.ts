import type { ScanFileRequest, ScanReport } from '../../app/survey/scan-file.ts';
import { resolveModelAccess } from '../../config/access.ts';
import { parseBytes } from '../../config/quantity.ts';
import { toModel } from '../../config/resolve.ts';
import { assertNever } from '../../core/result.ts';
import { findScanned, type Scanned } from '../inputs/gather.ts';
import { defineCommand } from '../line/command.ts';
import {
  JOBS_FLAG,
  MAX_UNPACKED_FLAG,
  OLDER_THAN_FLAG,
  OUTPUT_FLAGS,
  readTime,
  SELECTION_FLAGS,
  SETTINGS_FLAGS,
} from '../line/flags.ts';
import { workOnFiles } from '../pool/work-on-files.ts';
import { renderFailure } from '../../messages/failure.ts';
import { countOf } from '../../messages/quantities.ts';
import { reportJson, safeText } from '../../messages/text.ts';
import { policyOf } from '../runs/compact.ts';
import { createOutcomes } from '../runs/outcomes.ts';
import type { Session } from '../session.ts';
import { EXIT_CODES, interruptionCode } from '../terminal/exit-codes.ts';

const SCAN_ORDERS = ['saving', 'size', 'age', 'tokens', 'path'] as const;

/** Only reads. A file that cannot be read is reported, and the scan goes on. */
export const command = defineCommand({
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
      choices: SCAN_ORDERS,
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
  findConflict: ({ operands }) =>
    operands.includes('-') ? 'a scan looks into folders, not into standard input (-)' : null,
  session: { needs: ['selection', 'model', 'archive'], endsWithStdout: true },
  run: async (session, line) => {
    const { reporter, terminal } = session;
    const { operands, options, outputOptions } = line;
    const scanned = await findScanned(session, line);
    if (typeof scanned === 'number') return scanned;
    const nowMs = Date.now();
    const isTable = !outputOptions.json && options.null !== true;
    const request = {
      policy: policyOf(session, options),
      ...toModel(session.settings),
      ...maskingOf(session),
      only: {
        format: options.format ?? null,
        largerThanBytes: options.largerThan ?? null,
        before: readTime(options.olderThan),
      },
    };
    // One row per transcript, never its content.
    const found: ScanReport[] = [];
    let skippedCount = 0;
    const outcomes = createOutcomes(session, {
      isSkipShown: ({ kind }) => kind === 'bad-line' || outputOptions.verbosity === 'verbose',
    });
    const archiveErrors = new Set<string>();
    await workOnFiles(session, {
      items: scanned.files,
      jobs: options.jobs ?? null,
      work: ({ path, name, refusesLinks }, useCases, progress) =>
        useCases.scanFile({ ...request, input: { path, name, format: null, refusesLinks } }, progress),
      report: (done, file) => {
        if (done.ok) {
          if (done.value === null) return;
          // A person types the id, and `compact ID` looks for it in paths.
          const id = file.sessionId ?? (isTable ? null : done.value.id);
          found.push({ ...done.value, id, project: done.value.project ?? file.project });
          return;
        }
        const { error } = done;
        const message = error.kind === 'archive' ? renderFailure(error) : '';
        // All transcripts share the archive, so what is wrong with it is printed once.
        if (archiveErrors.has(message)) outcomes.counts.failed += 1;
        else outcomes.add(error, file);
        if (error.kind === 'archive') archiveErrors.add(message);
      },
    });
    if (terminal.signal.aborted) return interruptionCode(terminal.signal);
    for (const count of outcomes.counts.skipped.values()) skippedCount += count;
    const failedCount = outcomes.counts.failed + scanned.failedCount;
    const rows = sortRows(found, options.sort ?? 'saving');
    if (options.null === true) for (const { file } of rows) reporter.answerPiece(`${file}\0`);
    else if (outputOptions.json) for (const row of rows) reporter.answerPiece(reportJson(row));
    else if (rows.length > 0) await answerTable(session, { rows, nowMs, isNamed: operands.length > 0 });
    // After a failure, the user already knows why nothing was found.
    if (rows.length + failedCount === 0) reporter.report(nothingFound(scanned));
    if (skippedCount > 0 && outputOptions.verbosity === 'normal') {
      const them = skippedCount === 1 ? 'it' : 'them';
      reporter.report([`${countOf(skippedCount, 'file')} skipped that cannot be compacted; -v names ${them}.`]);
    }
    return failedCount > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
  },
});

/** Whether secrets are masked, which is part of the settings that identify a compaction. A scan ignores a model that cannot be called. */
function maskingOf({ settings, config, terminal, asked }: Session): Pick<ScanFileRequest, 'isMasked'> {
  const { environment } = terminal.host;
  const access = resolveModelAccess({ settings, config, flags: asked.settings.flags, environment, isDryRun: true });
  return access.ok && access.value !== null ? { isMasked: access.value.redactsSecrets } : {};
}

function sortRows(rows: readonly ScanReport[], order: (typeof SCAN_ORDERS)[number]): readonly ScanReport[] {
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

type Table = { readonly rows: readonly ScanReport[]; readonly nowMs: number; readonly isNamed: boolean };

async function answerTable({ reporter, terminal }: Session, { rows, nowMs, isNamed }: Table): Promise<void> {
  const { renderScan, renderNextStep } = await import('../render/scan.ts');
  reporter.answer(
    renderScan(rows, {
      theme: reporter.answerTheme,
      // A table for another program is as wide as it needs to be: nothing in it is cut.
      widthColumns: terminal.stdout.isTerminal ? reporter.answerWidthColumns : Number.POSITIVE_INFINITY,
      nowMs,
      homeFolder: terminal.host.homeFolder,
      namesFiles: isNamed || rows.some(({ id }) => id === null),
    }),
  );
  reporter.report(renderNextStep(rows, { program: terminal.program(), argv: terminal.argv }));
}

function nothingFound({ files, looked }: Scanned): readonly string[] {
  if (files.length > 0) return [`None of ${countOf(files.length, 'file')} is a transcript that matches.`];
  return ['No transcripts found. Looked in:', ...looked.map((place) => `  ${safeText(place)}`)];
}
