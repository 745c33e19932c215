import { toPolicy } from '../../../config/resolve.ts';
import { type Job, type JobOptions, runJobs } from '../../compact-jobs.ts';
import { createSummarizer } from '../../create-services.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from '../../exit-codes.ts';
import { gatherInputs } from '../../gather.ts';
import type { CommonRequest } from '../../invocation.ts';
import { countOf } from '../../render/quantities.ts';
import { createRunReport } from '../../run-report.ts';
import type { Session } from '../../session.ts';

type PlanRequest = CommonRequest &
  Omit<JobOptions, 'jobs' | 'before'> & { readonly operands: readonly string[]; readonly filesFrom: string | null };

/** Shows what a batch would send and cost, as a dry run of `compact` does. Nothing is written or sent. `session` has the prices of batches. */
export async function planBatch(session: Session, request: PlanRequest): Promise<ExitCode> {
  const { reporter, terminal } = session;
  const { compaction } = toPolicy(session.settings, request.policy);
  const summarizer = await createSummarizer(session, { ...request, compaction });
  if (!summarizer.ok) return session.refuse(summarizer.error);
  const { operands, filesFrom, outputOptions } = request;
  const gathered = await gatherInputs(session, operands, { skipsCompacted: true, filesFrom });
  if (typeof gathered === 'number') return gathered;
  const { inputs, isSeveral, failures } = gathered;
  const runReport = createRunReport({
    reporter,
    outputOptions,
    terminalColumns: terminal.stderr.isTerminal ? terminal.stderr.widthColumns : null,
    isPlan: true,
    names: inputs.map(({ name }) => name),
    failures,
    rendering: {
      theme: reporter.theme,
      isVerbose: outputOptions.verbosity === 'verbose',
      archiveFlag: null,
      program: terminal.program(),
      isInPlace: request.output.kind === 'in-place',
      widthColumns: terminal.stderr.widthColumns,
    },
  });
  const sum = { requests: 0, cost: 0, isPriced: false };
  const report: typeof runReport = {
    ...runReport,
    done: (one) => {
      sum.requests += one.plan?.requests ?? 0;
      sum.cost += one.plan?.cost ?? 0;
      sum.isPriced ||= typeof one.plan?.cost === 'number';
      runReport.done(one);
    },
  };
  const jobs = inputs.map((input): Job => ({ input, output: { kind: 'none' } }));
  const options = { ...request, jobs: null, before: null };
  const run = { session, options, isSeveral, report, summarizer: summarizer.value, embeddings: null };
  const { failed } = report.end(await runJobs(run, jobs));
  const price = sum.isPriced
    ? `about ${sum.cost.toFixed(2)}, half the live price of ${(2 * sum.cost).toFixed(2)}`
    : 'half the live price (add this model to [prices] to see the cost)';
  reporter.report([
    `batch: ${countOf(sum.requests, 'request')} at ${price}; merging summaries may take a second round`,
  ]);
  if (terminal.signal.aborted) return interruptionCode(terminal.signal);
  return failed > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}
