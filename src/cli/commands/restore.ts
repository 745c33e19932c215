import type { RestoreFileRequest } from '../../app/contract/requests.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import { gatherInputs } from '../gather.ts';
import type { CommonRequest, PipedRequest } from '../invocation.ts';
import { isSameFile, type OutputChoice } from '../outputs.ts';
import { renderFailure } from '../render/failure.ts';
import { reportJson } from '../render/json-lines.ts';
import { describeOutputProblem } from '../render/problems.ts';
import { renderRestoreReport } from '../render/restore.ts';
import type { CliContext } from '../session.ts';
import { defineCommand, inSession, type Options } from './command.ts';
import {
  FORMAT_FLAG,
  OUTPUT_FLAGS,
  MAX_UNPACKED_FLAG,
  readOutputOptions,
  readSettings,
  SETTINGS_FLAGS,
  SHARED_STDOUT,
} from './options.ts';

export type RestoreInvocation = CommonRequest &
  PipedRequest & {
    readonly kind: 'restore';
    readonly operand: string;
    readonly format: string | null;
    readonly output: Exclude<OutputChoice, { readonly kind: 'default' | 'preview' }>;
    readonly all: boolean;
  };

export const restoreCommand = defineCommand<RestoreInvocation>({
  operands: { syntax: '<compacted>', description: 'a compacted file, or - for standard input' },
  flags: [
    { flags: '-o, --output <path>', description: 'write here instead of to stdout', conflicts: 'inPlace' },
    { flags: '-i, --in-place', description: 'replace the compacted file, atomically' },
    { flags: '--all', description: 'back to before the first compaction, not the last' },
    FORMAT_FLAG,
    MAX_UNPACKED_FLAG,
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  takesPipe: true,
  read: ({ options, args, isStdinImplied }) => ({
    kind: 'restore',
    isStdinImplied,
    operand: args[0] ?? '',
    format: options.format ?? null,
    output: readOutput(options),
    all: options.all === true,
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict: ({ operand, output, outputOptions }) => {
    if (operand === '-' && output.kind === 'in-place') return '--in-place cannot replace standard input (-)';
    return outputOptions.json && output.kind === 'stdout' ? SHARED_STDOUT : null;
  },
  run,
});

function readOutput(options: Options): RestoreInvocation['output'] {
  if (options.inPlace === true) return { kind: 'in-place' };
  if (options.output === undefined || options.output === '-') return { kind: 'stdout' };
  return { kind: 'path', path: options.output };
}
async function run(context: CliContext, invocation: RestoreInvocation): Promise<ExitCode> {
  const endsWithStdout = invocation.output.kind === 'stdout';
  return inSession(
    context,
    { ...invocation, command: 'compact restore', needs: ['archive'], endsWithStdout },
    async (session) => {
      const { reporter, terminal } = session;
      const { operand, isStdinImplied } = invocation;
      const gathered = await gatherInputs(session, [operand], { skipsCompacted: false, isStdinImplied });
      if (typeof gathered === 'number') return gathered;
      const [input, ...others] = gathered.inputs;
      if (others.length > 0) return session.refuse('restore takes one compacted file, and several are meant');
      if (input === undefined) return gathered.failures.length > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
      const { output } = invocation;
      if (output.kind === 'path' && (await isSameFile(output.path, input.path))) {
        return session.refuse(describeOutputProblem({ kind: 'equals-input', output: output.path, input: input.path }));
      }
      reporter.progress.name(input.name);
      const request = {
        input: { path: input.path, name: input.name, format: invocation.format },
        output: toTarget(output),
        all: invocation.all,
      };
      const result = await session.useCases.restoreFile(request, reporter.progress);
      if (terminal.stdout.isClosed()) return EXIT_CODES.done;
      if (!result.ok) {
        if (result.error.kind !== 'interrupted') reporter.error(renderFailure(result.error));
        session.explain(result.error);
        return EXIT_CODES.failed;
      }
      if (invocation.outputOptions.json) reporter.answerPiece(reportJson(result.value));
      else reporter.report(renderRestoreReport(result.value, reporter.theme));
      return EXIT_CODES.done;
    },
  );
}

function toTarget(choice: RestoreInvocation['output']): RestoreFileRequest['output'] {
  return choice.kind === 'path' ? { kind: 'file', path: choice.path } : choice;
}
