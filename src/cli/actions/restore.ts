import type { RestoreFileRequest } from '../../app/contract/requests.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import { gatherInputs } from '../gather.ts';
import type { RestoreInvocation } from '../invocation.ts';
import { isSameFile } from '../outputs.ts';
import { renderFailure } from '../render/failure.ts';
import { reportJson } from '../render/json-lines.ts';
import { renderRestoreReport } from '../render/restore.ts';
import { describeOutputProblem } from '../render/usage.ts';
import { inSession, type Stage } from '../session.ts';

export async function runRestore(stage: Stage, invocation: RestoreInvocation): Promise<ExitCode> {
  const endsWithStdout = invocation.output.kind === 'stdout';
  return inSession(
    stage,
    { ...invocation, command: 'compact restore', needs: ['archive'], endsWithStdout },
    async (session) => {
      const { voice, terminal } = session;
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
      voice.progress.name(input.name);
      const result = await session.useCases.restoreFile({
        input: { path: input.path, name: input.name, format: invocation.format },
        output: toTarget(output),
        all: invocation.all,
      });
      if (terminal.stdout.isClosed()) return EXIT_CODES.done;
      if (!result.ok) {
        if (result.error.kind !== 'interrupted') voice.error(renderFailure(result.error));
        session.explain(result.error);
        return EXIT_CODES.failed;
      }
      if (invocation.manner.json) voice.answerPiece(reportJson(result.value));
      else voice.report(renderRestoreReport(result.value, voice.theme));
      return EXIT_CODES.done;
    },
  );
}

function toTarget(choice: RestoreInvocation['output']): RestoreFileRequest['output'] {
  return choice.kind === 'path' ? { kind: 'file', path: choice.path } : choice;
}
