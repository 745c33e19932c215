import type { CompactFileRequest, OutputTarget } from '../../app/requests.ts';
import type { Failure } from '../../app/failure.ts';
import type { CompactReport } from '../../app/reports.ts';
import { defaultArchivePath } from '../../config/find.ts';
import type { Environment } from '../../config/find.ts';
import { toModel, toPolicy } from '../../config/to-policy.ts';
import { err } from '../../core/result.ts';
import type { Result } from '../../core/result.ts';
import { EXIT_CODES, interruptionCode } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { gatherInputs } from '../gather.ts';
import type { ReadyInput } from '../gather.ts';
import type { CompactInvocation } from '../invocation.ts';
import { makeFolderFor, planOutputs } from '../outputs.ts';
import { renderBug } from '../render/bug.ts';
import type { CompactRendering } from '../render/compact.ts';
import { failedReport, toFailedReport } from '../render/failed.ts';
import { describeOutputProblem } from '../render/usage.ts';
import { createRunReport } from '../run-report.ts';
import type { RunReport } from '../run-report.ts';
import { inSession } from '../session.ts';
import type { Session, Stage } from '../session.ts';

export async function runCompact(stage: Stage, invocation: CompactInvocation): Promise<ExitCode> {
  return inSession(stage, { ...invocation, command: 'compact' }, async (session) => {
    const { provider } = session.settings.summarization;
    if (provider !== 'extractive') return session.refuse(offlineOnly(provider));
    const gathered = await gatherInputs(session, invocation.operands, { skipsCompacted: true });
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

/** Gives how many an interruption left undone. */
async function runJobs(run: Run, jobs: readonly Job[]): Promise<number> {
  const { terminal, voice } = run.session;
  for (const [index, job] of jobs.entries()) {
    if (terminal.signal.aborted) return jobs.length - index;
    voice.progress.name(job.input.name, { index, count: jobs.length });
    const result = await runJobSafely(run, job);
    if (result === null) continue;
    if (result.ok) run.report.done(result.value);
    else if (result.error.kind === 'interrupted') return jobs.length - index;
    else run.report.failed(toFailedReport(job.input.name, result.error));
  }
  return 0;
}

/** Null: a bug, which is told; it is of this transcript alone, and a run over many goes on. */
async function runJobSafely(run: Run, job: Job): Promise<Result<CompactReport, Failure> | null> {
  try {
    return await runJob(run, job);
  } catch (error) {
    // What an interruption tears down may complain; it was asked for.
    if (run.session.terminal.signal.aborted) return err({ kind: 'interrupted' });
    run.report.failed(failedReport(job.input.name, { kind: 'bug', message: renderBug(error).trimEnd() }));
    return null;
  }
}

async function runJob(run: Run, { input, output }: Job): Promise<Result<CompactReport, Failure>> {
  const { session, invocation, isSeveral } = run;
  const isIntoFolder = isSeveral || (invocation.output.kind === 'path' && invocation.output.path.endsWith('/'));
  if (isIntoFolder && !invocation.isDryRun) {
    const made = await makeFolderFor(output);
    if (!made.ok) return { ok: false, error: { kind: 'file', failure: made.error } };
  }
  return session.useCases.compactFile({
    input: { path: input.path, name: input.name, format: invocation.format },
    output: invocation.isDryRun ? { kind: 'none' } : output,
    policy: toPolicy(session.settings, invocation.policy),
    ...toModel(session.settings),
  } satisfies CompactFileRequest);
}

function renderingOf(session: Session, invocation: CompactInvocation): CompactRendering {
  return {
    theme: session.voice.theme,
    isVerbose: invocation.manner.verbosity === 'verbose',
    archiveFlag: archiveToName(session, invocation),
    program: programName(session.terminal.surroundings.environment),
    isInPlace: invocation.output.kind === 'in-place',
  };
}

/** What a later command has to be told, because this one was told it: by `--archive`, or by a configuration that it was pointed to. */
function archiveToName({ settings, terminal }: Session, { settings: asked }: CompactInvocation): string | null {
  const { path } = settings.archive;
  const isHidden = asked.configFlag !== null && path !== defaultArchivePath(terminal.surroundings);
  return asked.flags.archive?.path ?? (isHidden ? path : null);
}

/** As it can be typed again: npx says that it runs us. */
function programName(environment: Environment): string {
  return environment['npm_command'] === 'exec' ? 'npx compact' : 'compact';
}

function offlineOnly(provider: string): string {
  return `the configuration names the provider '${provider}', and this version has the offline provider only: set it to "extractive", or give --provider extractive`;
}
