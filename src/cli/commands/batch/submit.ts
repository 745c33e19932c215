import { resolve } from 'node:path';
import { makeFolderFor, type OutputChoice, planOutputs } from '../../../compose/outputs.ts';
import { toModel } from '../../../config/resolve.ts';
import { gatherInputs } from '../../inputs/gather.ts';
import { defineAction } from '../../line/command.ts';
import { CONDITION_FLAGS, FILES_FROM_FLAG, FORMAT_FLAG, SELECTION_FLAGS } from '../../line/flags.ts';
import type { Flag, Line, OptionsOf } from '../../line/line.ts';
import { describeOutputProblem } from '../../../messages/problems.ts';
import { compactAll, isInFolder, type Job, policyOf } from '../../runs/compact.ts';
import { createRunReport } from '../../runs/run-report.ts';
import { createSummarizer } from '../../runs/services.ts';
import type { Session } from '../../session.ts';
import { EXIT_CODES, type ExitCode } from '../../terminal/exit-codes.ts';
import { BATCH_SHARE, end, openRun } from './run.ts';

export const SUBMIT_FLAGS = [
  { flags: '-o, --output <path>', description: 'a file; a folder for several', conflicts: 'inPlace' },
  { flags: '-i, --in-place', description: 'replace the input when it is collected' },
  { flags: '-n, --dry-run', description: 'show the plan and its cost; nothing is written or sent' },
  ...CONDITION_FLAGS.filter(({ flags }) => /^--(?:if-over|min-retention)/.test(flags)),
  ...SELECTION_FLAGS,
  FILES_FROM_FLAG,
  FORMAT_FLAG,
] as const satisfies readonly Flag[];

export const NEEDS_FILES = 'a batch needs files: answers come hours later, when standard input and output are gone';

export const submitAction = defineAction({
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
    const { format = null, dryRun: isDryRun = false } = options;
    const opened = openRun(session, { action: 'submit', options, isDryRun });
    if (!opened.ok) return session.refuse(opened.error);
    if (isDryRun) return planBatch(session, line);
    const { run, report } = opened.value;
    const gathered = await gatherInputs(session, line, { skipsCompacted: true });
    if (typeof gathered === 'number') return gathered;
    const { inputs, isSeveral, failures } = gathered;
    const choice = outputOf(options);
    const outputs = await planOutputs({ files: inputs, isSeveral, choice });
    if (!outputs.ok) return session.refuse(describeOutputProblem(outputs.error));
    for (const target of isInFolder(choice, isSeveral) ? outputs.value : []) {
      const made = await makeFolderFor(target);
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

/** Shows what a batch would send and cost, as a dry run of `compact` does. Nothing is written or sent. */
async function planBatch(session: Session, line: Line<SubmitOptions>): Promise<ExitCode> {
  const { options } = line;
  const { compaction } = policyOf(session, options);
  const summarizer = await createSummarizer(session, { isDryRun: true, compaction, shareOfPrice: BATCH_SHARE });
  if (!summarizer.ok) return session.refuse(summarizer.error);
  const gathered = await gatherInputs(session, line, { skipsCompacted: true });
  if (typeof gathered === 'number') return gathered;
  const { inputs, isSeveral, failures } = gathered;
  const output = outputOf(options);
  const report = createRunReport(session, {
    isDryRun: true,
    isInPlace: output.kind === 'in-place',
    archiveFlag: null,
    names: inputs.map(({ name }) => name),
    failures,
  });
  const run = {
    options,
    output,
    before: null,
    isDryRun: true,
    jobs: null,
    isSeveral,
    report,
    summarizer: summarizer.value,
    embeddings: null,
  };
  const items = inputs.map((input): Job => ({ ...input, output: { kind: 'none' } }));
  const { failed, usage } = report.end(await compactAll(session, run, items));
  if (usage !== undefined)
    session.reporter.report([
      'batch: half the live price; merging summaries may take a second round',
      ...(usage.cost === null ? ['Add this model to [prices] to see the cost.'] : []),
    ]);
  return failed > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}
