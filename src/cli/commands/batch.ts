import { resolve } from 'node:path';
import { makeFolderFor, type OutputChoice, planOutputs } from '../../compose/outputs.ts';
import { toModel } from '../../config/resolve.ts';
import { ok, type Result } from '../../core/result.ts';
import { describeOutputProblem } from '../../messages/problems.ts';
import { formatCost } from '../../messages/quantities.ts';
import { type Gathered, gatherInputs } from '../inputs/gather.ts';
import {
  defineAction,
  defineActions,
  EXIT_CODES,
  type ExitCode,
  type Flag,
  inSession,
  type OptionsOf,
  type Session,
} from '../line/command.ts';
import {
  COMMON_FLAGS,
  CONDITION_FLAGS,
  FILES_FROM_FLAG,
  FORMAT_FLAG,
  maxCostFlag,
  modelFlags,
  SELECTION_FLAGS,
} from '../line/flags.ts';
import { namesOf } from '../line/line.ts';
import type { RunTotals } from '../render/compact.ts';
import { compactAll, isInFolder, policyOf } from '../runs/compact.ts';
import { createSummarizer } from '../runs/services.ts';
import { BATCH_SHARE, cancelAction, collectAction, end, openRun, statusAction } from './batch/run.ts';

const SUBMIT_FLAGS = [
  { flags: '-o, --output <path>', description: 'a file; a folder for several', conflicts: 'inPlace' },
  { flags: '-i, --in-place', description: 'replace the input when it is collected' },
  {
    flags: '-n, --dry-run',
    description: 'show the plan and its cost; nothing is written or sent',
    conflicts: 'maxCost',
  },
  maxCostFlag('send nothing if all of it could cost more (5.00)'),
  ...CONDITION_FLAGS.filter(({ flags }) => /^--(?:if-over|min-retention)/.test(flags)),
  ...SELECTION_FLAGS,
  FILES_FROM_FLAG,
  FORMAT_FLAG,
] as const satisfies readonly Flag[];

const NEEDS_FILES = 'a batch needs files: answers come hours later, when standard input and output are gone';

const submitAction = defineAction({
  summary: 'plan transcripts and send their requests',
  flags: SUBMIT_FLAGS,
  takes: [{ syntax: '<transcript...>', description: 'files, folders or globs' }],
  refuseOperands: (operands) => (operands.includes('-') ? NEEDS_FILES : null),
  findConflict: ({ operands, options }) => {
    if (options.output === '-') return NEEDS_FILES;
    return operands.length > 0 || options.filesFrom !== undefined
      ? null
      : 'no transcript named: give files, folders or globs';
  },
  run: async (session: Session, line) => {
    const { options } = line;
    const { format = null, dryRun: isDryRun = false, maxCost } = options;
    const opened = openRun(session, 'submit', { options, isDryRun });
    if (!opened.ok) return session.refuse(opened.error);
    const { run, report } = opened.value;
    const gathered = await gatherInputs(session, line, { skipsCompacted: true });
    if (typeof gathered === 'number') return gathered;
    if (isDryRun) return showPlan(session, options, gathered);
    if (maxCost !== undefined) {
      const ignore = (): void => {};
      const quiet = {
        ...session.reporter,
        answer: ignore,
        answerJson: ignore,
        answerPiece: ignore,
        error: ignore,
        report: ignore,
      };
      const plan = await planBatch({ ...session, reporter: quiet }, options, gathered);
      if (!plan.ok) return session.refuse(plan.error);
      const cost = plan.value.usage?.cost ?? 0;
      if (cost > maxCost) {
        const what = `--max-cost ${formatCost(maxCost)}: the batch could cost ${formatCost(cost)}, so nothing was sent.`;
        return session.fail(`${what} Submit fewer transcripts, or give a higher --max-cost.`);
      }
    }
    const { inputs, isSeveral, failures } = gathered;
    const choice = outputOf(options);
    const outputs = planOutputs({ files: inputs, isSeveral, choice });
    if (!outputs.ok) return session.refuse(describeOutputProblem(outputs.error));
    for (const target of isInFolder(choice, isSeveral) ? outputs.value : []) {
      const made = makeFolderFor(target);
      if (!made.ok) return session.fail({ kind: 'file', failure: made.error });
    }
    const policy = policyOf(session, options);
    const { modelName: model } = toModel(session.settings);
    const files = inputs.flatMap(({ path, name }, index) => {
      const target = outputs.value[index];
      if (target === undefined || !('path' in target || target.kind === 'in-place')) return [];
      const absolute = 'path' in target ? { ...target, path: resolve(target.path) } : target;
      return [{ path: resolve(path), name, format, output: absolute, policy, model }];
    });
    const done = await session.useCases.submitBatches(run, files);
    if (!done.ok) return session.fail(done.error);
    const { batches, requests, unclear } = done.value;
    return end(session, { ...report, sent: { batches, requests }, unclear }, failures.length);
  },
});

type SubmitOptions = OptionsOf<typeof SUBMIT_FLAGS>;

function outputOf({ inPlace, output }: SubmitOptions): OutputChoice {
  if (inPlace === true) return { kind: 'in-place' };
  return output === undefined ? { kind: 'default' } : { kind: 'path', path: output };
}

/** Shows what a batch would send and cost. Nothing is written or sent. */
async function showPlan(session: Session, options: SubmitOptions, gathered: Gathered): Promise<ExitCode> {
  const plan = await planBatch(session, options, gathered);
  if (!plan.ok) return session.refuse(plan.error);
  const { failed, usage } = plan.value;
  if (usage !== undefined)
    session.reporter.report([
      'batch: half the live price; merging summaries may take a second round',
      ...(usage.cost === null ? ['Add this model to [prices] to see the cost.'] : []),
    ]);
  return failed > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}

/** Plans as a dry run of `compact` does, and reports each transcript. The error is a sentence. */
async function planBatch(
  session: Session,
  options: SubmitOptions,
  gathered: Gathered,
): Promise<Result<RunTotals, string>> {
  const { compaction } = policyOf(session, options);
  const asked = { isDryRun: true, compaction, maxCost: options.maxCost, shareOfPrice: BATCH_SHARE };
  const summarizer = await createSummarizer(session, asked);
  if (!summarizer.ok) return summarizer;
  const plan = { options, output: outputOf(options), isDryRun: true, gathered, outputs: [], embeddings: null };
  return ok(await compactAll(session, { ...plan, summarizer: summarizer.value }));
}

export const command = defineActions<Session>({
  name: 'batch',
  actions: { submit: submitAction, status: statusAction, collect: collectAction, cancel: cancelAction },
  operands: [{ syntax: '[transcript...]', description: 'for submit: files, folders or globs' }],
  flags: [...SUBMIT_FLAGS, ...modelFlags('anthropic or openai'), ...COMMON_FLAGS],
  examples: [
    ['compact batch submit -n --provider claude --model M logs', 'shows the plan and what it would cost'],
    ['compact batch status', 'lists batches and transcripts'],
  ],
  refuseOperands: (action, operands) => (operands.includes('-') ? NEEDS_FILES : noTranscripts(action)),
  refuse: (action, { operandProblem, foreign: [flag, ...more] }) => {
    if (operandProblem !== null || flag === undefined) return operandProblem;
    if ([flag, ...more].includes(FILES_FROM_FLAG)) return noTranscripts(action);
    return `batch ${action} uses the options of batch submit, so it takes no ${namesOf(flag).at(-1)}`;
  },
  run: (context, { needs = ['selection', 'model', 'archive'], ...asked }, work) =>
    inSession(context, { ...asked, needs }, async (session) => {
      // Chunks are independent, because their answers come together.
      const summarization = { ...session.settings.summarization, fold_in: false };
      return work({ ...session, settings: { ...session.settings, summarization } });
    }),
});

function noTranscripts(action: string): string {
  return `batch ${action} concerns everything that was submitted, so it takes no transcripts`;
}
