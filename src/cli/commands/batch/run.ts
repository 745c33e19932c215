import { addPriced } from '../../../app/summarize/usage.ts';
import type { BatchRun } from '../../../compose/batches.ts';
import { err, ok } from '../../../core/result.ts';
import { noArchive } from '../../../messages/problems.ts';
import { safeText } from '../../../messages/text.ts';
import { defineAction, EXIT_CODES, type ExitCode, type Session } from '../../line/command.ts';
import type { PolicyOptions } from '../../line/flags.ts';
import { renderBatchStatus, renderFinished, renderRun } from '../../render/batch.ts';
import type { BatchRunReport } from '../../reports.ts';
import { policyOf } from '../../runs/compact.ts';
import { chooseModel, findPrice } from '../../runs/services.ts';

/** Without a usable provider, it shows what the archive knows. */
export const statusAction = defineAction({
  summary: 'what is known',
  run: async (session: Session, asked) => {
    const { reporter, settings, useCases } = session;
    const opened = openRun(session, 'collect');
    const found = await useCases.batchStatus(opened.ok ? opened.value.run : null);
    if (!found.ok) return session.fail(found.error);
    if (found.value === null) reporter.report([noArchive(settings.archive.path)]);
    if (asked.outputOptions.json) {
      const none = { schema: 'compact/batch-status@1', batches: [], files: [], warnings: [] } as const;
      reporter.answerJson(found.value ?? none);
    } else if (found.value !== null) {
      reporter.answer(renderBatchStatus(found.value, reporter.answerWidthColumns));
      if (!opened.ok && found.value.batches.length > 0)
        reporter.report([`The provider was not asked, so this may be out of date: ${opened.error}`]);
    }
    const hasProblems = opened.ok && opened.value.report.problems.length > 0;
    const { batches = [], files = [] } = found.value ?? {};
    const hasFailed = batches.some(({ isFailed }) => isFailed) || files.some(({ state }) => state === 'failed');
    return hasProblems || hasFailed ? EXIT_CODES.failed : EXIT_CODES.done;
  },
});

export const collectAction = defineAction({
  summary: 'fetch answers and compact what has them all',
  run: async (session: Session) => {
    const opened = openRun(session, 'collect');
    if (!opened.ok) return session.refuse(opened.error);
    const { run, report } = opened.value;
    const done = await session.useCases.collectBatches(run);
    if (!done.ok) return session.fail(done.error);
    const { batches, requests, unclear, running, answers, usage, unknown } = done.value;
    for (const id of unknown) run.onProblem(`ignored an answer with the unknown id ${id}`);
    return end(session, { ...report, sent: { batches, requests }, unclear, running, answers, usage, unknown });
  },
});

export const cancelAction = defineAction({
  summary: 'stop batches in progress',
  run: async (session: Session) => {
    const opened = openRun(session, 'cancel');
    if (!opened.ok) return session.refuse(opened.error);
    const { run, report } = opened.value;
    const done = await session.useCases.cancelBatches(run);
    return done.ok ? end(session, { ...report, canceled: done.value }) : session.fail(done.error);
  },
});

/** Both providers sell batches at half the price. */
export const BATCH_SHARE = 1 / 2;

/** The error is a sentence that says why there can be no batch. */
export function openRun(
  session: Session,
  action: BatchRunReport['action'],
  { options = {}, isDryRun = false }: { readonly options?: PolicyOptions; readonly isDryRun?: boolean } = {},
) {
  const model = chooseModel(session, { isDryRun });
  if (!model.ok) return model;
  if (model.value === null || model.value.provider === 'ollama')
    return err('batches need a provider with a batch API: --provider anthropic or openai');
  const { reporter } = session;
  const files: BatchRunReport['files'][number][] = [];
  const warnings: string[] = [];
  const problems: string[] = [];
  const report: { -readonly [Key in keyof BatchRunReport]: BatchRunReport[Key] } = {
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
  if (asked.outputOptions.json) reporter.answerJson(report);
  else reporter.report(renderRun(report));
  const hasFailed = failures > 0 || report.problems.length > 0 || report.files.some(({ state }) => state === 'failed');
  return hasFailed ? EXIT_CODES.failed : EXIT_CODES.done;
}
