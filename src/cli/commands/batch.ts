import { resolve } from 'node:path';
import { parseCount, parseShare } from '../../config/quantity.ts';
import { assertNever } from '../../core/result.ts';
import type { BatchInvocation } from '../batch-run.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import { type CliContext, fail, type Session } from '../session.ts';
import { defineCommand, type Flag, inSession, namesOf } from './command.ts';
import {
  FILES_FROM_FLAG,
  FORMAT_FLAG,
  modelFlags,
  OUTPUT_FLAGS,
  readOutputOptions,
  readPolicy,
  readSettings,
  SELECTION_FLAGS,
  SETTINGS_FLAGS,
} from './options.ts';

const ACTIONS = ['submit', 'status', 'collect', 'cancel'] as const satisfies readonly BatchInvocation['action'][];

const SUBMIT_FLAGS = [
  { flags: '-o, --output <path>', description: 'for submit: a file; a folder for several', conflicts: 'inPlace' },
  { flags: '-i, --in-place', description: 'for submit: replace the input when it is collected' },
  { flags: '-n, --dry-run', description: 'for submit: show the plan and its cost; nothing is written or sent' },
  {
    flags: '--if-over <tokens>',
    description: 'for submit: skip transcripts with at most this many tokens',
    parse: parseCount,
    conflicts: 'ifOverBudget',
  },
  { flags: '--if-over-budget', description: 'for submit: skip transcripts that fit the context budget' },
  {
    flags: '--min-retention <share>',
    description: 'for submit: fail if summaries keep a smaller share of the facts (0.9 or 90%)',
    parse: parseShare,
  },
  ...SELECTION_FLAGS,
  FILES_FROM_FLAG,
  FORMAT_FLAG,
] as const satisfies readonly Flag[];

export const batchCommand = defineCommand({
  operands: [
    {
      syntax: '<action>',
      description:
        'submit: plan transcripts and send their requests; status: what is known; collect: fetch answers and compact what has them all; cancel: stop batches in progress',
      choices: ACTIONS,
    },
    { syntax: '[transcript...]', description: 'for submit: files, folders or globs' },
  ],
  actions: ACTIONS,
  flags: [...SUBMIT_FLAGS, ...modelFlags('anthropic or openai-compat'), ...SETTINGS_FLAGS, ...OUTPUT_FLAGS],
  examples: [
    ['compact batch submit -i logs -n --provider anthropic', 'shows the plan and what it would cost'],
    ['compact batch status', 'lists batches and transcripts'],
  ],
  read: ({ options, args, given }): BatchInvocation => ({
    kind: 'batch',
    action: ACTIONS.find((action) => action === args[0]) ?? 'status',
    operands: args.slice(1),
    filesFrom: options.filesFrom ?? null,
    format: options.format ?? null,
    policy: readPolicy(options),
    output:
      options.inPlace === true
        ? { kind: 'in-place' }
        : options.output === undefined
          ? { kind: 'default' }
          : { kind: 'path', path: options.output },
    isDryRun: options.dryRun === true,
    submitOption: SUBMIT_FLAGS.filter((flag) => given.includes(flag)).map(longNameOf)[0] ?? null,
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict: ({ action, operands, filesFrom, output, submitOption }) => {
    if (operands.includes('-') || (output.kind === 'path' && output.path === '-'))
      return 'a batch needs files: answers come hours later, when standard input and output are gone';
    const hasInput = operands.length > 0 || filesFrom !== null;
    if (action === 'submit') return hasInput ? null : 'no transcript named: give files, folders or globs';
    if (hasInput) return `batch ${action} concerns everything that was submitted, so it takes no transcripts`;
    if (submitOption === null) return null;
    return `batch ${action} uses the options of batch submit, so it takes no ${submitOption}`;
  },
  run,
});

function longNameOf(flag: Flag): string {
  return namesOf(flag).at(-1) ?? flag.flags;
}

async function run(context: CliContext, invocation: BatchInvocation): Promise<ExitCode> {
  const needs = ['selection', 'model', 'archive'] as const;
  return inSession(context, { ...invocation, command: 'compact batch', needs }, async (plain) => {
    const session = atHalfPrice(plain);
    switch (invocation.action) {
      case 'submit':
        return submit(session, invocation);
      case 'status':
        return status(session, invocation);
      case 'collect':
        return collect(session, invocation);
      case 'cancel':
        return cancel(session, invocation);
      default:
        return assertNever(invocation.action);
    }
  });
}

/** Both providers sell batches at half the price. Chunks are independent, because their answers come together. */
function atHalfPrice(session: Session): Session {
  const { summarization, prices } = session.settings;
  const halved = Object.entries(prices).map(([model, { input, output }]) => [
    model,
    { input: input / 2, output: output / 2 },
  ]);
  const settings = {
    ...session.settings,
    summarization: { ...summarization, fold_in: false },
    prices: Object.fromEntries(halved),
  };
  return { ...session, settings };
}

async function submit(session: Session, invocation: BatchInvocation): Promise<ExitCode> {
  const { gatherInputs } = await import('../gather.ts');
  const { makeFolderFor, planOutputs } = await import('../../compose/outputs.ts');
  const { toModel, toPolicy } = await import('../../config/resolve.ts');
  const { settings, useCases } = session;
  const { end, openRun } = await import('../batch-run.ts');
  const opened = openRun(session, invocation);
  if (!opened.ok) return session.refuse(opened.error);
  if (invocation.isDryRun) {
    const { planBatch } = await import('../plan-batch.ts');
    return planBatch(session, invocation);
  }
  const { run, report } = opened.value;
  const gathered = await gatherInputs(session, invocation.operands, {
    skipsCompacted: true,
    filesFrom: invocation.filesFrom,
  });
  if (typeof gathered === 'number') return gathered;
  const { inputs, isSeveral, failures } = gathered;
  const outputs = await planOutputs({ files: inputs, isSeveral, choice: invocation.output });
  if (!outputs.ok) {
    const { describeOutputProblem } = await import('../render/problems.ts');
    return session.refuse(describeOutputProblem(outputs.error));
  }
  if (isSeveral || (invocation.output.kind === 'path' && invocation.output.path.endsWith('/'))) {
    for (const output of outputs.value) {
      const made = await makeFolderFor(output);
      if (!made.ok) return fail(session, { kind: 'file', failure: made.error });
    }
  }
  const policy = toPolicy(settings, invocation.policy);
  const { modelName: model } = toModel(settings);
  const files = inputs.flatMap(({ path, name }, index) => {
    const output = outputs.value[index];
    if (output === undefined || !('path' in output || output.kind === 'in-place')) return [];
    const absolute = 'path' in output ? { ...output, path: resolve(output.path) } : output;
    return [{ path: resolve(path), name, format: invocation.format, output: absolute, policy, model }];
  });
  const done = await useCases.submitBatches(run, files);
  if (!done.ok) return fail(session, done.error);
  const { batches, requests, unclear } = done.value;
  return end(session, invocation, { ...report, sent: { batches, requests }, unclear }, failures.length);
}

async function collect(session: Session, invocation: BatchInvocation): Promise<ExitCode> {
  const { end, openRun } = await import('../batch-run.ts');
  const opened = openRun(session, invocation);
  if (!opened.ok) return session.refuse(opened.error);
  const { run, report } = opened.value;
  const done = await session.useCases.collectBatches(run);
  if (!done.ok) return fail(session, done.error);
  const { batches, requests, unclear, running, answers, unknown } = done.value;
  for (const id of unknown) run.onProblem(`ignored an answer with the unknown id ${id}`);
  return end(session, invocation, { ...report, sent: { batches, requests }, unclear, running, answers, unknown });
}

async function cancel(session: Session, invocation: BatchInvocation): Promise<ExitCode> {
  const { end, openRun } = await import('../batch-run.ts');
  const opened = openRun(session, invocation);
  if (!opened.ok) return session.refuse(opened.error);
  const { run, report } = opened.value;
  const done = await session.useCases.cancelBatches(run);
  return done.ok ? end(session, invocation, { ...report, canceled: done.value }) : fail(session, done.error);
}

/** Without a usable provider, it shows what the archive knows. */
async function status(session: Session, invocation: BatchInvocation): Promise<ExitCode> {
  const { reporter, settings, useCases } = session;
  const { openRun } = await import('../batch-run.ts');
  const opened = openRun(session, invocation);
  const found = await useCases.batchStatus(opened.ok ? opened.value.run : null);
  if (!found.ok) return fail(session, found.error);
  if (found.value === null) {
    const { noArchive } = await import('../render/problems.ts');
    reporter.report([noArchive(settings.archive.path)]);
  }
  if (invocation.outputOptions.json) {
    const { reportJson } = await import('../render/json-lines.ts');
    const none = { schema: 'compact/batch-status@1', batches: [], files: [], warnings: [] } as const;
    reporter.answerPiece(reportJson(found.value ?? none));
  } else if (found.value !== null) {
    const { renderBatchStatus } = await import('../render/batch.ts');
    reporter.answer(renderBatchStatus(found.value, reporter.answerWidthColumns));
    if (!opened.ok && found.value.batches.length > 0)
      reporter.report([`The provider was not asked, so this may be out of date: ${opened.error}`]);
  }
  return opened.ok && opened.value.report.problems.length > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}
