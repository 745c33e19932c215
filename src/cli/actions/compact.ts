import type { Failure } from '../../app/contract/failure.ts';
import type { CompactReport } from '../../app/contract/reports.ts';
import type { CompactFileRequest, OutputTarget } from '../../app/contract/requests.ts';
import type { SettingsUse } from '../../config/depend.ts';
import { toModel, toPolicy } from '../../config/resolve.ts';
import type { Result } from '../../core/result.ts';
import type { Progress } from '../../ports/runtime.ts';
import { archiveToName } from '../archive-flag.ts';
import { chooseEmbeddingIfAny } from '../choose-embedding.ts';
import { chooseModel } from '../choose-model.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from '../exit-codes.ts';
import { gatherInputs, type ReadyInput } from '../gather.ts';
import type { CompactInvocation } from '../invocation.ts';
import { makeFolderFor, planOutputs } from '../outputs.ts';
import { passedOver } from '../passed-over.ts';
import { priceOf } from '../price.ts';
import type { Place } from '../progress.ts';
import { renderBug } from '../render/bug.ts';
import type { CompactRendering } from '../render/compact.ts';
import { failedReport, toFailedReport } from '../render/failed.ts';
import { describeOutputProblem } from '../render/usage.ts';
import { createRunReport, type RunReport } from '../run-report.ts';
import { inSession, type Session, type Stage } from '../session.ts';

export async function runCompact(stage: Stage, invocation: CompactInvocation): Promise<ExitCode> {
  const isArchiving = !invocation.isDryRun && invocation.output.kind !== 'preview';
  const needs: readonly SettingsUse[] = [
    'selection',
    'model',
    'archive',
    ...(isArchiving ? (['embedding'] as const) : []),
  ];
  return inSession(stage, { ...invocation, command: 'compact', needs }, async (session) => {
    const refusal = await chooseModel(session, invocation);
    if (refusal !== null) return refusal;
    if (isArchiving) {
      const instead = 'what is archived gets none';
      await chooseEmbeddingIfAny(session, { instead });
    }
    const gathered = await gatherInputs(session, invocation.operands, {
      skipsCompacted: true,
      filesFrom: invocation.filesFrom,
      isStdinImplied: invocation.isStdinImplied,
    });
    if (typeof gathered === 'number') return gathered;
    const outputs = await planOutputs({
      files: gathered.inputs,
      isSeveral: gathered.isSeveral,
      choice: invocation.output,
    });
    if (!outputs.ok) return session.refuse(describeOutputProblem(outputs.error));
    const jobs = gathered.inputs.map((input, index): Job => ({
      input,
      output: outputs.value[index] ?? { kind: 'none' },
    }));
    const report = createRunReport({
      voice: session.voice,
      manner: invocation.manner,
      terminalColumns: session.terminal.stderr.widthColumns,
      names: gathered.inputs.map(({ name }) => name),
      failures: gathered.failures,
      rendering: renderingOf(session, invocation),
    });
    const leftCount = await runJobs({ session, invocation, isSeveral: gathered.isSeveral, report }, jobs);
    const { failed } = report.end(leftCount);
    if (session.terminal.signal.aborted) return interruptionCode(session.terminal.signal);
    return failed > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
  });
}

type Job = { readonly input: ReadyInput; readonly output: OutputTarget };
type Run = {
  readonly session: Session;
  readonly invocation: CompactInvocation;
  readonly isSeveral: boolean;
  readonly report: RunReport;
};

/** As many at a time as was asked for; each is told as it is done. Gives how many an interruption left undone. */
async function runJobs(run: Run, jobs: readonly Job[]): Promise<number> {
  const { signal } = run.session.terminal;
  const waiting = jobs.entries();
  const counts = { told: 0, isOver: false };
  const work = async (): Promise<void> => {
    for (const [index, job] of waiting) {
      if (signal.aborted || counts.isOver) return;
      if (await tellJob(run, job, { index, count: jobs.length })) counts.told += 1;
      else counts.isOver = true;
    }
  };
  await Promise.all(Array.from({ length: Math.min(run.invocation.jobs, jobs.length) }, work));
  return jobs.length - counts.told;
}

/** Does one and tells of it; false: it was interrupted, and there is nothing to tell. */
async function tellJob(run: Run, job: Job, place: Place): Promise<boolean> {
  const { name } = job.input;
  try {
    const result = await runJob(run, job, run.session.voice.progress.of(name, place));
    if (result.ok) run.report.done(result.value);
    else if (result.error.kind === 'interrupted') return false;
    else tellFailure(run, job.input, result.error);
  } catch (error) {
    // What an interruption tears down may complain; it was asked for.
    if (run.session.terminal.signal.aborted) return false;
    // A bug is of this transcript alone, and a run over many goes on.
    run.report.failed(failedReport(name, { kind: 'bug', message: renderBug(error).trimEnd() }));
  }
  return true;
}

function tellFailure(
  { report, session }: Run,
  input: ReadyInput,
  failure: Exclude<Failure, { readonly kind: 'interrupted' }>,
): void {
  const passed = passedOver(failure, input);
  if (passed === null) report.failed(toFailedReport(input.name, failure));
  else report.passed(passed);
  session.explain(failure);
}

async function runJob(run: Run, { input, output }: Job, progress: Progress): Promise<Result<CompactReport, Failure>> {
  const { session, invocation, isSeveral } = run;
  const isIntoFolder = isSeveral || (invocation.output.kind === 'path' && invocation.output.path.endsWith('/'));
  if (isIntoFolder && !invocation.isDryRun) {
    const made = await makeFolderFor(output);
    if (!made.ok) return { ok: false, error: { kind: 'file', failure: made.error } };
  }
  const request: CompactFileRequest = {
    input: { path: input.path, name: input.name, format: invocation.format },
    output: invocation.isDryRun ? { kind: 'none' } : output,
    policy: toPolicy(session.settings, invocation.policy),
    ...toModel(session.settings),
    ...priceOf(session.settings),
  };
  return session.useCases.compactFile(request, progress);
}

function renderingOf(session: Session, invocation: CompactInvocation): CompactRendering {
  return {
    theme: session.voice.theme,
    isVerbose: invocation.manner.verbosity === 'verbose',
    archiveFlag: archiveToName(session, invocation.settings),
    program: session.terminal.program(),
    isInPlace: invocation.output.kind === 'in-place',
    widthColumns: session.terminal.stderr.widthColumns,
  };
}
