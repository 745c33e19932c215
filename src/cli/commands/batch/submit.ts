import { resolve } from 'node:path';
import { makeFolderFor, type OutputChoice, planOutputs } from '../../../compose/outputs.ts';
import { parseCount, parseShare } from '../../../config/quantity.ts';
import { toModel, toPolicy } from '../../../config/resolve.ts';
import { gatherInputs } from '../../gather.ts';
import { describeOutputProblem } from '../../render/problems.ts';
import { fail, type Session } from '../../session.ts';
import { defineAction } from '../action.ts';
import type { Flag } from '../command.ts';
import { FILES_FROM_FLAG, FORMAT_FLAG, readPolicy, SELECTION_FLAGS } from '../options.ts';
import { end, openRun } from './run.ts';

export const SUBMIT_FLAGS = [
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

export const NEEDS_FILES = 'a batch needs files: answers come hours later, when standard input and output are gone';

export const submitAction = defineAction({
  summary: 'plan transcripts and send their requests',
  flags: SUBMIT_FLAGS,
  refuseOperands: (operands) => (operands.includes('-') ? NEEDS_FILES : null),
  findConflict: ({ operands, options }) => {
    if (options.output === '-') return NEEDS_FILES;
    return operands.length > 0 || options.filesFrom !== undefined
      ? null
      : 'no transcript named: give files, folders or globs';
  },
  run: async (session: Session, asked) => {
    const { operands, options } = asked;
    const { format = null, filesFrom = null, dryRun: isDryRun = false } = options;
    const output: OutputChoice =
      options.inPlace === true
        ? { kind: 'in-place' }
        : options.output === undefined
          ? { kind: 'default' }
          : { kind: 'path', path: options.output };
    const request = {
      ...asked,
      action: 'submit' as const,
      format,
      filesFrom,
      isDryRun,
      output,
      policy: readPolicy(options),
    };
    const opened = openRun(session, request);
    if (!opened.ok) return session.refuse(opened.error);
    if (isDryRun) {
      const { planBatch } = await import('./plan.ts');
      return planBatch(session, request);
    }
    const { run, report } = opened.value;
    const gathered = await gatherInputs(session, operands, { skipsCompacted: true, filesFrom });
    if (typeof gathered === 'number') return gathered;
    const { inputs, isSeveral, failures } = gathered;
    const outputs = await planOutputs({ files: inputs, isSeveral, choice: output });
    if (!outputs.ok) return session.refuse(describeOutputProblem(outputs.error));
    if (isSeveral || (output.kind === 'path' && output.path.endsWith('/'))) {
      for (const target of outputs.value) {
        const made = await makeFolderFor(target);
        if (!made.ok) return fail(session, { kind: 'file', failure: made.error });
      }
    }
    const policy = toPolicy(session.settings, request.policy);
    const { modelName: model } = toModel(session.settings);
    const files = inputs.flatMap(({ path, name }, index) => {
      const target = outputs.value[index];
      if (target === undefined || !('path' in target || target.kind === 'in-place')) return [];
      const absolute = 'path' in target ? { ...target, path: resolve(target.path) } : target;
      return [{ path: resolve(path), name, format, output: absolute, policy, model }];
    });
    const done = await session.useCases.submitBatches(run, files);
    if (!done.ok) return fail(session, done.error);
    const { batches, requests, unclear } = done.value;
    return end(session, asked, { ...report, sent: { batches, requests }, unclear }, failures.length);
  },
});
