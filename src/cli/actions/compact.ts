import type { CompactFileRequest, OutputTarget } from '../../app/requests.ts';
import type { Failure } from '../../app/failure.ts';
import type { CompactReport } from '../../app/reports.ts';
import { defaultArchivePath } from '../../config/find.ts';
import type { Environment } from '../../config/find.ts';
import { toModel, toPolicy } from '../../config/to-policy.ts';
import type { Result } from '../../core/result.ts';
import { EXIT_CODES } from '../exit-codes.ts';
import type { ExitCode } from '../exit-codes.ts';
import { gatherInputs } from '../gather.ts';
import type { ReadyInput } from '../gather.ts';
import type { CompactInvocation } from '../invocation.ts';
import { makeFolderFor, planOutputs } from '../outputs.ts';
import { renderCompactReport, renderTotals, sumTokens } from '../render/compact.ts';
import type { RunTotals } from '../render/compact.ts';
import { renderFailure } from '../render/failure.ts';
import { reportJson } from '../render/json-lines.ts';
import { describeOutputProblem } from '../render/usage.ts';
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
    const totals = await runJobs({ session, invocation, isSeveral: gathered.isSeveral }, jobs);
    return finish(session, { ...totals, failed: totals.failed + gathered.failedCount });
  });
}

type Job = { readonly input: ReadyInput; readonly output: OutputTarget };
type Run = { readonly session: Session; readonly invocation: CompactInvocation; readonly isSeveral: boolean };

async function runJobs(run: Run, jobs: readonly Job[]): Promise<RunTotals> {
  let totals: RunTotals = { compacted: 0, planned: 0, skipped: 0, failed: 0, tokens: { before: 0, after: 0 } };
  for (const job of jobs) {
    if (run.session.terminal.signal.aborted) break;
    const result = await runJob(run, job);
    if (result.ok) {
      tell(run, result.value);
      totals = addReport(totals, result.value);
    } else if (result.error.kind !== 'interrupted') {
      run.session.voice.error(renderFailure(result.error));
      totals = { ...totals, failed: totals.failed + 1 };
    }
  }
  return totals;
}

async function runJob(run: Run, { input, output }: Job): Promise<Result<CompactReport, Failure>> {
  const { session, invocation, isSeveral } = run;
  const isIntoFolder = isSeveral || (invocation.output.kind === 'path' && invocation.output.path.endsWith('/'));
  if (isIntoFolder && !invocation.isDryRun) {
    const made = await makeFolderFor(output);
    if (!made.ok) return { ok: false, error: { kind: 'file', failure: made.error } };
  }
  session.voice.progress.name(input.name);
  return session.useCases.compactFile({
    input: { path: input.path, name: input.name, format: invocation.format },
    output: invocation.isDryRun ? { kind: 'none' } : output,
    policy: toPolicy(session.settings, invocation.policy),
    ...toModel(session.settings),
  } satisfies CompactFileRequest);
}

function tell({ session, invocation }: Run, report: CompactReport): void {
  const { voice } = session;
  if (invocation.manner.json) return voice.answerPiece(reportJson(report));
  voice.report(
    renderCompactReport(report, {
      theme: voice.theme,
      isVerbose: invocation.manner.verbosity === 'verbose',
      archiveFlag: archiveToName(session, invocation),
      program: programName(session.terminal.surroundings.environment),
      isInPlace: invocation.output.kind === 'in-place',
    }),
  );
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

function addReport(totals: RunTotals, report: CompactReport): RunTotals {
  if (report.result === 'skipped') return { ...totals, skipped: totals.skipped + 1 };
  const { before, after } = sumTokens(report);
  const tokens = { before: totals.tokens.before + before, after: totals.tokens.after + after };
  return { ...totals, [report.result]: totals[report.result] + 1, tokens };
}

function finish({ voice, terminal }: Session, totals: RunTotals): ExitCode {
  const { compacted, planned, skipped, failed } = totals;
  if (compacted + planned + skipped + failed > 1) voice.report([renderTotals(totals, voice.theme)]);
  if (terminal.signal.aborted) return EXIT_CODES.interrupted;
  return failed > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}

function offlineOnly(provider: string): string {
  return `the configuration names the provider '${provider}', and this version has the offline provider only: set it to "extractive", or give --provider extractive`;
}
