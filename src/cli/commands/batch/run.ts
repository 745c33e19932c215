import { addPriced } from '../../../app/summarize/usage.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { policyOf } from '../../runs/compact.ts';
import { chooseModel, findPrice } from '../../runs/services.ts';
import { EXIT_CODES, type ExitCode } from '../../terminal/exit-codes.ts';
import type { PolicyOptions } from '../../line/flags.ts';
import { renderFinished, renderRun } from '../../render/batch.ts';
import { reportJson, safeText } from '../../../messages/text.ts';
import type { BatchRunReport } from '../../reports.ts';
import type { Session } from '../../session.ts';
import type { BatchRun } from '../../../compose/batches.ts';

/** Both providers sell batches at half the price. */
export const BATCH_SHARE = 1 / 2;

type BatchRequest = {
  readonly action: BatchRunReport['action'];
  readonly options?: PolicyOptions;
  readonly isDryRun?: boolean;
};

type Outcome = {
  readonly report: { -readonly [Key in keyof BatchRunReport]: BatchRunReport[Key] };
  readonly run: BatchRun;
};

/** The error is a sentence that says why there can be no batch. */
export function openRun(
  session: Session,
  { action, options = {}, isDryRun = false }: BatchRequest,
): Result<Outcome, string> {
  const model = chooseModel(session, { isDryRun });
  if (!model.ok) return model;
  if (model.value === null || model.value.provider === 'ollama')
    return err('batches need a provider with a batch API: --provider anthropic or openai');
  const { reporter } = session;
  const files: BatchRunReport['files'][number][] = [];
  const warnings: string[] = [];
  const problems: string[] = [];
  const report: Outcome['report'] = {
    schema: 'compact/batch@1',
    action,
    files,
    sent: { batches: 0, requests: 0 },
    unclear: 0,
    running: 0,
    answers: 0,
    unknown: [],
    canceled: 0,
    warnings,
    problems,
  };
  const run: BatchRun = {
    model: model.value,
    compaction: policyOf(session, options).compaction,
    priceOf: (name) => findPrice(session, name, { share: BATCH_SHARE }),
    onFile: (file) => {
      files.push({ file: file.path, state: file.state, note: file.note });
      if (file.wasted !== undefined) report.wasted = addPriced(report.wasted, file.wasted);
      if (file.result?.ok === false) problems.push(`${file.name}: ${file.note ?? 'it could not be compacted'}`);
      if (file.result?.ok === false) reporter.error(renderFinished(file), { file: file.name });
      else reporter.report([renderFinished(file)], { file: file.name });
    },
    onWarning: (sentence) => {
      warnings.push(sentence);
      reporter.report([`warning: ${safeText(sentence)}`]);
    },
    onProblem: (sentence) => {
      problems.push(sentence);
      reporter.error(safeText(sentence));
    },
  };
  return ok({ report, run });
}

/** Prints the report of a run, and gives its exit code. */
export function end({ reporter, asked }: Session, report: BatchRunReport, failures = 0): ExitCode {
  if (asked.outputOptions.json) reporter.answerPiece(reportJson(report));
  else reporter.report(renderRun(report));
  const hasFailed = failures > 0 || report.problems.length > 0 || report.files.some(({ state }) => state === 'failed');
  return hasFailed ? EXIT_CODES.failed : EXIT_CODES.done;
}
