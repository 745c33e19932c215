import { loadPrices } from '../../compose/services.ts';
import { resolveModelAccess } from '../../config/access.ts';
import { parseBytes, parseCount } from '../../config/quantity.ts';
import { toModel } from '../../config/resolve.ts';
import { findScanned } from '../inputs/gather.ts';
import { defineCommand, type Session } from '../line/command.ts';
import { JOBS_FLAG, KEEP_FLAGS, OLDER_THAN_FLAG, readTime, UNPACKING_FLAGS } from '../line/flags.ts';
import { workOnFiles } from '../pool/work-on-files.ts';
import { renderFailure } from '../../messages/failure.ts';
import { countOf, sumOf } from '../../messages/quantities.ts';
import type { ScanGroup, ScanRow } from '../reports.ts';
import { renderNextStep, renderScan, renderScanGroups, sumRows } from '../render/scan.ts';
import { safeText } from '../../messages/text.ts';
import { policyOf } from '../runs/compact.ts';
import { costOfReading } from '../runs/services.ts';
import { createOutcomes } from '../runs/outcomes.ts';
import { programOf } from '../../ports/codec.ts';
import { EXIT_CODES, interruptionCode } from '../terminal/exit-codes.ts';

const SCAN_ORDERS = ['saving', 'disk', 'size', 'age', 'tokens', 'path'] as const;
const GROUPINGS = ['project', 'program', 'month'] as const;

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
      description: 'what comes first: most tokens or disk saved, largest, oldest, most tokens',
      choices: SCAN_ORDERS,
      default: 'saving',
    },
    {
      flags: '--by <group>',
      description: 'one line per project, program or month',
      choices: GROUPINGS,
      conflicts: 'null',
    },
    { flags: '--limit <n>', description: 'only the first lines (on a terminal: as many as fit)', parse: parseCount },
    { flags: '-0, --null', description: 'paths alone, each ended by a NUL, for xargs -0', conflicts: 'json' },
    ...KEEP_FLAGS,
    JOBS_FLAG,
    ...UNPACKING_FLAGS,
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
    const found: ScanRow[] = [];
    const findPrice = await loadPrices(session.settings.prices);
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
          const project = done.value.project ?? file.project;
          found.push({ ...done.value, id, project, cost: costOfReading(done.value, findPrice) });
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
    const skippedCount = sumOf(outcomes.counts.skipped.values(), Number);
    const failedCount = outcomes.counts.failed + scanned.failedCount;
    const { by, sort = 'saving' } = options;
    const nameProgram = (format: string): string => programOf(session.useCases.listFormats(), format) ?? format;
    const rows = sortRows(found, sort, ({ file }) => file);
    const groups = by === undefined ? null : sortRows(groupRows(rows, by, nameProgram), sort, ({ name }) => name ?? '');
    const limit =
      options.limit ??
      (isTable ? Math.max(MIN_ROWS, terminal.stdout.heightRows - LINES_BELOW) : Number.POSITIVE_INFINITY);
    const shown = (groups ?? rows).slice(0, limit);
    if (options.null === true) for (const { file } of rows.slice(0, limit)) reporter.answerPiece(`${file}\0`);
    else if (outputOptions.json) for (const row of shown) reporter.answerJson(row);
    else if (rows.length > 0) answerTable(session, { rows, groups, limit, nowMs, isNamed: operands.length > 0 });
    // After a failure, the user already knows why nothing was found.
    if (rows.length + failedCount === 0) {
      const { files, looked } = scanned;
      const none = `None of ${countOf(files.length, 'file')} is a transcript that matches.`;
      const nowhere = ['No transcripts found. Looked in:', ...looked.map((place) => `  ${safeText(place)}`)];
      reporter.report(files.length > 0 ? [none] : nowhere);
    }
    if (skippedCount > 0 && outputOptions.verbosity === 'normal') {
      const them = skippedCount === 1 ? 'it' : 'them';
      reporter.report([`${countOf(skippedCount, 'file')} skipped that cannot be compacted; -v names ${them}.`]);
    }
    return failedCount > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
  },
});

/** Whether secrets are masked, which is part of the settings that identify a compaction. A scan ignores a model that cannot be called. */
function maskingOf({ settings, config, terminal, asked }: Session) {
  const { environment } = terminal.host;
  const access = resolveModelAccess({ settings, config, flags: asked.settings.flags, environment, isDryRun: true });
  return access.ok && access.value !== null ? { isMasked: access.value.redactsSecrets } : {};
}

type Sorted = Pick<ScanGroup, 'saving' | 'netBytes' | 'bytes' | 'tokens'> & {
  readonly at: string | null;
  readonly modified?: string;
};

function sortRows<Row extends Sorted>(
  rows: readonly Row[],
  order: (typeof SCAN_ORDERS)[number],
  nameOf: (row: Row) => string,
): readonly Row[] {
  const byName = (a: Row, b: Row): number => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0);
  const rank = RANKS[order];
  return rows.toSorted((a, b) => rank(b) - rank(a) || byName(a, b));
}

/** The highest comes first. */
const RANKS: { readonly [order in (typeof SCAN_ORDERS)[number]]: (row: Sorted) => number } = {
  saving: ({ saving }) => saving,
  disk: ({ netBytes }) => netBytes,
  size: ({ bytes }) => bytes,
  age: (row) => -Date.parse(timeOf(row)),
  tokens: ({ tokens }) => tokens.before,
  path: () => 0,
};

function timeOf({ at, modified = '' }: Pick<Sorted, 'at' | 'modified'>): string {
  return at ?? modified;
}

function groupRows(
  rows: readonly ScanRow[],
  by: (typeof GROUPINGS)[number],
  nameProgram: (format: string) => string,
): readonly ScanGroup[] {
  const nameOf = {
    project: ({ project }: ScanRow): string | null => project,
    program: ({ format }: ScanRow) => nameProgram(format),
    month: (row: ScanRow) => timeOf(row).slice(0, '2026-03'.length),
  }[by];
  return [...Map.groupBy(rows, nameOf)].map(([name, those]) => ({
    schema: 'compact/scan-by@1',
    name,
    ...sumRows(those),
    at: those.map(timeOf).reduce((latest, time) => (Date.parse(time) > Date.parse(latest) ? time : latest)),
  }));
}

/** Lines of a terminal around the rows of a table: its head, the totals, what to type next, and the prompt. */
const LINES_BELOW = 11;
const MIN_ROWS = 5;

type Table = {
  readonly rows: readonly ScanRow[];
  readonly groups: readonly ScanGroup[] | null;
  readonly limit: number;
  readonly nowMs: number;
  readonly isNamed: boolean;
};

function answerTable({ reporter, terminal }: Session, { rows, groups, limit, nowMs, isNamed }: Table): void {
  const rendering = {
    theme: reporter.answerTheme,
    // A table for another program is as wide as it needs to be: nothing in it is cut.
    widthColumns: terminal.stdout.isTerminal ? reporter.answerWidthColumns : Number.POSITIVE_INFINITY,
    nowMs,
    homeFolder: terminal.host.homeFolder,
    namesFiles: isNamed || rows.some(({ id }) => id === null),
    limit,
  };
  if (groups !== null) return reporter.answer(renderScanGroups(groups, rows, rendering));
  reporter.answer(renderScan(rows, rendering));
  reporter.report(renderNextStep(rows, { program: terminal.program(), argv: terminal.argv }));
}
