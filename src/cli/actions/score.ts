import type { ScoreReport } from '../../app/contract/reports.ts';
import { toPolicy } from '../../config/resolve.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import { gatherInputs } from '../gather.ts';
import type { ScoreInvocation } from '../invocation.ts';
import { createPassedRenderer, passedOver } from '../passed-over.ts';
import { renderFailure } from '../render/failure.ts';
import { scoreJson } from '../render/json-lines.ts';
import { selectRows } from '../render/select-rows.ts';
import { type CommandRequest, inSession, type Session, type Stage } from '../session.ts';

export async function runScore(stage: Stage, invocation: ScoreInvocation): Promise<ExitCode> {
  const request: CommandRequest = {
    ...invocation,
    command: 'compact score',
    needs: ['selection', 'archive'],
    endsWithStdout: true,
  };
  return inSession(stage, request, async (session) => {
    const { operands, isStdinImplied } = invocation;
    const gathered = await gatherInputs(session, operands, { skipsCompacted: true, isStdinImplied });
    if (typeof gathered === 'number') return gathered;
    let failedCount = gathered.failures.length;
    const renderPassed = createPassedRenderer();
    for (const { path, name, isNamed } of gathered.inputs) {
      if (session.terminal.signal.aborted) break;
      session.voice.progress.name(name);
      const input = { path, name, format: invocation.format };
      const result = await session.useCases.scoreFile({ input, policy: toPolicy(session.settings, invocation.policy) });
      if (session.terminal.stdout.isClosed()) break;
      if (result.ok) await answer(session, { report: result.value, invocation });
      else if (result.error.kind !== 'interrupted') {
        const passed = passedOver(result.error, { name, isNamed });
        if (passed === null) session.voice.error(renderFailure(result.error));
        else session.voice.report([renderPassed(passed)]);
        session.explain(result.error);
        if (passed === null) failedCount += 1;
      }
    }
    return failedCount > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
  });
}

async function answer(
  { voice }: Session,
  scored: { readonly report: ScoreReport; readonly invocation: ScoreInvocation },
): Promise<void> {
  const { report, invocation } = scored;
  if (invocation.manner.json) {
    for (const piece of scoreJson(report, selectRows(report.messages, invocation))) voice.answerPiece(piece);
    return;
  }
  const { renderScoreReport } = await import('../render/score.ts');
  const { explain, sort, limit } = invocation;
  const rendering = { theme: voice.answerTheme, widthColumns: voice.answerWidthColumns, explain, sort, limit };
  voice.answer(renderScoreReport(report, rendering));
}
