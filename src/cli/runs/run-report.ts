import type { CompactReport, FailedReport, SkippedFileReport, UsageReport } from '../../app/contract/reports.ts';
import { addPriced } from '../../app/summarize/usage.ts';
import { createSkipRenderer } from './outcomes.ts';
import { renderFailed } from '../../messages/failure.ts';
import { layList, renderListHead, renderListRow, skipWords } from '../render/compact-list.ts';
import {
  type CompactRendering,
  countLevels,
  renderCompactReport,
  renderPreview,
  renderTotals,
  type RunTotals,
  sizesOf,
  spendingOf,
  sumTokens,
} from '../render/compact.ts';
import { indent, safeText } from '../../messages/text.ts';
import { countOf, tally } from '../../messages/quantities.ts';
import type { Theme } from '../render/theme.ts';
import type { Session } from '../session.ts';
import type { About } from '../terminal/log.ts';

/** Reports each transcript when it is done, and the totals of the run. Its memory does not grow with the number of transcripts. */
export type RunReport = {
  readonly done: (report: CompactReport) => void;
  readonly failed: (report: FailedReport) => void;
  readonly skipped: (report: SkippedFileReport) => void;
  /** A transcript was given up before anything of it changed. */
  readonly interrupted: (file: string) => void;
  /** What a transcript cost that is not reported here. */
  readonly spent: (usage: UsageReport | undefined) => void;
  /** So far. */
  readonly totals: () => RunTotals;
  /** `leftCount`: transcripts that were not compacted because the run was interrupted. */
  readonly end: (leftCount: number) => RunTotals;
};

type RunReportOptions = {
  readonly isDryRun: boolean;
  readonly isInPlace: boolean;
  /** The `--archive` that later commands need; null: none. */
  readonly archiveFlag: string | null;
  /** All transcripts of the run; null: they come one after the other from a queue. */
  readonly names: readonly string[] | null;
  /** Failures that were reported before the transcripts. */
  readonly failures: readonly FailedReport[];
};

/** Rows of the smallest usual terminal: a message that many lines up has scrolled away. */
const SCREEN_ROWS = 24;
/** If more transcripts failed than this, the end of the run only gives their number. */
const MAX_REPEATED = 20;

export function createRunReport(
  session: Pick<Session, 'reporter' | 'asked'> & { readonly terminal: Pick<Session['terminal'], 'stderr' | 'program'> },
  options: RunReportOptions,
): RunReport {
  const { reporter, terminal } = session;
  const { names, isDryRun, isInPlace, archiveFlag } = options;
  const { outputOptions } = session.asked;
  const { isTerminal, widthColumns } = terminal.stderr;
  const rendering: CompactRendering = {
    theme: reporter.theme,
    isVerbose: outputOptions.verbosity === 'verbose',
    archiveFlag,
    program: terminal.program(),
    isInPlace,
    widthColumns,
  };
  const isSeveral = names === null || names.length + options.failures.length > 1;
  const isLog = outputOptions.log === 'json';
  const isList = isLog || (isSeveral && outputOptions.verbosity !== 'verbose');
  const layout = layList(isLog ? null : isList ? names : [], {
    isPlan: isDryRun,
    terminalColumns: isTerminal ? widthColumns : null,
  });
  const noteList = createNoteList();
  const renderSkipped = createSkipRenderer();
  const known: { totals: RunTotals; archive: string | null } = { totals: NO_TOTALS, archive: null };
  const state = { ...known, hasHead: false, isOverCost: false, linesSinceFailure: 0 };
  const failures: string[] = []; // names only: the reasons were printed above

  const print = (lines: readonly string[], about?: About): void => {
    reporter.report(lines, about);
    if (failures.length > 0) state.linesSinceFailure += lines.length;
  };
  const printReport = (report: CompactReport): void => {
    if (!isList) return print(renderCompactReport(report, rendering));
    if (!state.hasHead && !isLog) print([renderListHead(layout, rendering.theme)]);
    state.hasHead = true;
    const [line, ...title] = renderListRow(report, layout, rendering.theme);
    // Logs are collected: they name files, and quote nothing that somebody said.
    print(isLog ? [line] : [line, ...title], report);
    noteList.add(report);
  };
  const countFailure = (report: FailedReport): void => {
    if (outputOptions.json) reporter.answerJson(report);
    state.totals = addSpending({ ...state.totals, failed: state.totals.failed + 1 }, report.usage);
    if (failures.length < MAX_REPEATED) failures.push(safeText(report.file));
    state.linesSinceFailure += 1;
  };
  options.failures.forEach(countFailure);
  return {
    done: (report) => {
      if (outputOptions.json) reporter.answerJson(report);
      else printReport(report);
      if (!outputOptions.json) reporter.answer(renderPreview(report, { isSeveral, theme: reporter.answerTheme }));
      state.totals = addToTotals(state.totals, report);
      state.archive = report.archive ?? state.archive;
    },
    failed: (report) => {
      // Of files that were at work at the same time, each has found the limit of the run.
      const isTold = report.error.kind === 'cost-limit' && state.isOverCost;
      state.isOverCost ||= report.error.kind === 'cost-limit';
      if (!isTold) reporter.error(isSeveral ? renderFailed(report) : report.error.message, report);
      countFailure(report);
    },
    skipped: (report) => {
      if (outputOptions.json) reporter.answerJson(report);
      // Transcripts that the user did not ask for are only counted.
      else if (!isList || report.reason !== 'too-recent') print([renderSkipped(report)], report);
      state.totals = addToTotals(state.totals, report);
    },
    interrupted: (file) => {
      if (!isSeveral)
        print([`${safeText(file)}: interrupted; the file is as it was.`], { file, result: 'interrupted' });
    },
    spent: (usage) => {
      state.totals = addSpending(state.totals, usage);
    },
    totals: () => state.totals,
    end: (leftCount) => {
      const totals: RunTotals = { ...state.totals, left: leftCount };
      // A worker may have found nothing to do.
      if (!isSeveral || (names === null && state.totals === NO_TOTALS)) return totals;
      const archive = outputOptions.json ? null : state.archive;
      reporter.report([...noteList.render(rendering.theme), ...renderTotals(totals, { ...rendering, archive })]);
      if (outputOptions.json || state.linesSinceFailure <= SCREEN_ROWS) return totals;
      const left = totals.failed - failures.length;
      const more = left > 0 ? [`  … and ${countOf(left, 'more', 'more')}`] : [];
      reporter.report(['Failed, for the reasons above:', ...indent(failures), ...more]);
      return totals;
    },
  };
}

export const NO_TOTALS: RunTotals = {
  compacted: 0,
  planned: 0,
  skipped: new Map(),
  failed: 0,
  left: 0,
  previewed: 0,
  tokens: { before: 0, after: 0 },
  bytes: { before: 0, after: 0, archive: 0 },
  netBytes: 0,
  facts: { kept: 0, total: 0 },
  levels: { fallback: 0, halved: 0, feedback: 0 },
};

function addToTotals(totals: RunTotals, report: CompactReport | SkippedFileReport): RunTotals {
  if (!('ledger' in report)) return addSkip(totals, report.reason);
  if (report.result === 'skipped') return addSpending(addSkip(totals, report.reason), report.usage);
  const { kept, total } = report.retention ?? NO_TOTALS.facts;
  const added = {
    ...totals,
    [report.result]: totals[report.result] + 1,
    previewed: totals.previewed + (report.preview === undefined ? 0 : 1),
    tokens: addEach(totals.tokens, sumTokens(report)),
    bytes: addEach(totals.bytes, sizesOf(report) ?? NO_TOTALS.bytes),
    netBytes: totals.netBytes + (report.netBytes ?? 0),
    facts: addEach(totals.facts, { kept, total }),
    levels: addEach(totals.levels, countLevels(report)),
  };
  return addSpending(added, spendingOf(report));
}

function addEach<Figures extends Readonly<Record<string, number>>>(sums: Figures, more: Figures): Figures {
  return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum + (more[name] ?? 0)])) as Figures;
}

function addSkip(totals: RunTotals, reason: Parameters<typeof skipWords>[0]): RunTotals {
  const words = skipWords(reason);
  const count = (totals.skipped.get(words) ?? 0) + 1;
  return { ...totals, skipped: new Map(totals.skipped).set(words, count) };
}

/** What a transcript cost, even if nothing came of it. */
function addSpending(totals: RunTotals, usage: UsageReport | undefined): RunTotals {
  return usage === undefined ? totals : { ...totals, usage: addPriced(totals.usage, usage) };
}

/** If there are more notes than this, only their number is printed. */
const MAX_NOTES = 20;

/** The notes on the transcripts of a run: each is printed once, with the number of transcripts that have it. */
function createNoteList() {
  const known = new Map<string, { readonly file: string; count: number }>();
  const state = { unlisted: 0 };
  const addNote = (note: string, file: string): void => {
    const counted = known.get(note);
    if (counted !== undefined) counted.count += 1;
    else if (known.size < MAX_NOTES) known.set(note, { file, count: 1 });
    else state.unlisted += 1;
  };
  return {
    add: ({ result, reason, notes, file }: CompactReport): void => {
      // The notes of a skipped transcript repeat its reason, unless they say by which sign it is in use.
      if (result !== 'skipped' || reason === 'in-use') for (const note of notes) addNote(note, file);
    },
    render: (theme: Theme): readonly string[] => [
      ...[...known].map(([note, { file, count }]) => {
        const others = count === 1 ? '' : ` and ${countOf(count - 1, 'other')}`;
        return theme.warning(`note: ${safeText(file)}${others}: ${safeText(note)}`);
      }),
      ...tally([[state.unlisted, 'more; --json lists them all']]).map((more) => theme.warning(`note: … and ${more}`)),
    ],
  };
}
