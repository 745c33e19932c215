import type { CompactReport, FailedReport, PassedReport } from '../app/contract/reports.ts';
import type { Manner } from './invocation.ts';
import { createPassedRenderer } from './passed-over.ts';
import { createRemarks } from './remarks.ts';
import { layList, renderListHead, renderListLine } from './render/compact-list.ts';
import { type CompactRendering, renderCompactReport, renderTotals, type RunTotals } from './render/compact.ts';
import { renderFailed } from './render/failed.ts';
import { reportJson } from './render/json-lines.ts';
import { renderPreview } from './render/preview.ts';
import { countOf } from './render/quantities.ts';
import { safeText } from './render/safe-text.ts';
import { addSpending, addToTotals, NO_TOTALS } from './run-totals.ts';
import type { Voice } from './voice.ts';

/** Tells of each transcript as it is done, and of the run at its end. Holds nothing that grows with the number of transcripts. */
export type RunReport = {
  readonly done: (report: CompactReport) => void;
  readonly failed: (report: FailedReport) => void;
  readonly passed: (report: PassedReport) => void;
  /** `leftCount`: transcripts that an interruption left alone. */
  readonly end: (leftCount: number) => RunTotals;
};

export type RunReportOptions = {
  readonly voice: Voice;
  readonly manner: Manner;
  readonly terminalColumns: number;
  /** Of all transcripts that the run is about. */
  readonly names: readonly string[];
  /** Failures that have been told already. */
  readonly failures: readonly FailedReport[];
  readonly rendering: CompactRendering;
};

/** Rows of the smallest usual terminal: what was said so many lines ago has scrolled away. */
const SCREEN_ROWS = 24;
/** Of more failed transcripts than this only the number is told again. */
const MAX_REPEATED = 20;

export function createRunReport(options: RunReportOptions): RunReport {
  const { voice, manner, names, rendering } = options;
  const isSeveral = names.length + options.failures.length > 1;
  const isList = isSeveral && manner.verbosity !== 'verbose';
  const layout = layList(isList ? names : [], options.terminalColumns);
  const remarks = createRemarks();
  const renderPassed = createPassedRenderer();
  const state: { totals: RunTotals; hasHead: boolean; linesSinceFailure: number; archive: string | null } = {
    totals: NO_TOTALS,
    hasHead: false,
    linesSinceFailure: 0,
    archive: null,
  };
  const failures: string[] = []; // names alone: the reason of each has been said

  const say = (lines: readonly string[]): void => {
    voice.report(lines);
    if (failures.length > 0) state.linesSinceFailure += lines.length;
  };
  const tell = (report: CompactReport): void => {
    if (!isList) return say(renderCompactReport(report, rendering));
    if (!state.hasHead) say([renderListHead(layout, rendering.theme)]);
    state.hasHead = true;
    say([renderListLine(report, layout, rendering.theme)]);
    remarks.add(report);
  };
  const countFailure = (report: FailedReport): void => {
    if (manner.json) voice.answerPiece(reportJson(report));
    state.totals = addSpending({ ...state.totals, failed: state.totals.failed + 1 }, report.usage);
    if (failures.length < MAX_REPEATED) failures.push(safeText(report.file));
    state.linesSinceFailure += 1;
  };
  options.failures.forEach(countFailure);
  return {
    done: (report) => {
      if (manner.json) voice.answerPiece(reportJson(report));
      else tell(report);
      if (!manner.json) voice.answer(renderPreview(report, { isSeveral, theme: voice.answerTheme }));
      state.totals = addToTotals(state.totals, report);
      state.archive = report.archive ?? state.archive;
    },
    failed: (report) => {
      voice.error(isSeveral ? renderFailed(report) : report.error.message);
      countFailure(report);
    },
    passed: (report) => {
      if (manner.json) voice.answerPiece(reportJson(report));
      else say([renderPassed(report)]);
      state.totals = addToTotals(state.totals, report);
    },
    end: (leftCount) => {
      const totals: RunTotals = { ...state.totals, left: leftCount };
      if (!isSeveral) return totals;
      voice.report([
        ...remarks.render(rendering.theme),
        ...renderTotals(
          totals,
          manner.json ? { ...rendering, archive: null } : { ...rendering, archive: state.archive },
        ),
      ]);
      const hasScrolled = !manner.json && manner.verbosity !== 'quiet' && state.linesSinceFailure > SCREEN_ROWS;
      if (hasScrolled) voice.report(['Failed, for the reasons above:', ...indented(failures, totals.failed)]);
      return totals;
    },
  };
}

function indented(failures: readonly string[], count: number): readonly string[] {
  const lines = failures.map((failure) => `  ${failure}`);
  return count > failures.length ? [...lines, `  … and ${countOf(count - failures.length, 'more', 'more')}`] : lines;
}
