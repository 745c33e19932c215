import type { ScoreReport } from '../../app/contract/reports.ts';
import { parseCount } from '../../config/quantity.ts';
import { type PolicyRequest, toPolicy } from '../../config/resolve.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import { createSkipRenderer, skipUnreadable } from '../failed-and-skipped.ts';
import { gatherInputs } from '../gather.ts';
import type { CommonRequest, PipedRequest } from '../invocation.ts';
import { renderFailure } from '../render/failure.ts';
import { scoreJson } from '../render/json-lines.ts';
import { SCORE_ORDERS, type ScoreOrder, selectRows } from '../render/score.ts';
import type { CliContext, CommandRequest, Session } from '../session.ts';
import { defineCommand, inSession } from './command.ts';
import {
  findStdinConflict,
  FORMAT_FLAG,
  OUTPUT_FLAGS,
  MAX_UNPACKED_FLAG,
  readOutputOptions,
  readSettings,
  SELECTION_FLAGS,
  SETTINGS_FLAGS,
} from './options.ts';

export type ScoreInvocation = CommonRequest &
  PipedRequest & {
    readonly kind: 'score';
    readonly operands: readonly string[];
    readonly format: string | null;
    readonly policy: PolicyRequest;
    readonly explain: boolean;
    readonly limit: number | null;
    readonly sort: ScoreOrder;
  };

export const scoreCommand = defineCommand<ScoreInvocation>({
  operands: { syntax: '<transcript...>', description: 'files, folders, globs, or - for standard input' },
  flags: [
    { flags: '--explain', description: "show each factor's share" },
    { flags: '--limit <n>', description: 'at most this many rows', parse: parseCount },
    {
      flags: '--sort <order>',
      description: 'order of the rows (by default a table is by score, JSON by position)',
      choices: [...SCORE_ORDERS],
    },
    ...SELECTION_FLAGS,
    FORMAT_FLAG,
    MAX_UNPACKED_FLAG,
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  takesPipe: true,
  examples: [
    ['compact score session.jsonl', 'ranks all of its messages'],
    ['compact score --explain --limit 5 session.jsonl', 'shows why the first five are important'],
  ],
  read: ({ options, args, isStdinImplied }) => ({
    kind: 'score',
    isStdinImplied,
    operands: args,
    format: options.format ?? null,
    policy: { targetTokens: options.target ?? null, ifOver: null, conversation: options.conversation ?? null },
    explain: options.explain === true,
    limit: options.limit ?? null,
    sort: SCORE_ORDERS.find((order) => order === options.sort) ?? (options.json === true ? 'position' : 'score'),
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict: ({ operands }) => findStdinConflict(operands, null),
  run,
});

async function run(context: CliContext, invocation: ScoreInvocation): Promise<ExitCode> {
  const request: CommandRequest = {
    ...invocation,
    command: 'compact score',
    needs: ['selection', 'archive'],
    endsWithStdout: true,
  };
  return inSession(context, request, async (session) => {
    const { operands, isStdinImplied } = invocation;
    const gathered = await gatherInputs(session, operands, { skipsCompacted: true, isStdinImplied });
    if (typeof gathered === 'number') return gathered;
    let failedCount = gathered.failures.length;
    const renderSkipped = createSkipRenderer();
    for (const { path, name, isNamed } of gathered.inputs) {
      if (session.terminal.signal.aborted) break;
      session.reporter.progress.name(name);
      const input = { path, name, format: invocation.format };
      const result = await session.useCases.scoreFile({
        input,
        policy: toPolicy(session.settings, invocation.policy),
        selectShown: (rows) => selectRows(rows, invocation),
      });
      if (session.terminal.stdout.isClosed()) break;
      if (result.ok) await answer(session, { report: result.value, invocation });
      else if (result.error.kind !== 'interrupted') {
        const skipped = skipUnreadable(result.error, { name, isNamed });
        if (skipped === null) session.reporter.error(renderFailure(result.error));
        else session.reporter.report([renderSkipped(skipped)]);
        session.explain(result.error);
        if (skipped === null) failedCount += 1;
      }
    }
    return failedCount > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
  });
}

async function answer(
  { reporter }: Session,
  scored: { readonly report: ScoreReport; readonly invocation: ScoreInvocation },
): Promise<void> {
  const { report, invocation } = scored;
  if (invocation.outputOptions.json) {
    for (const piece of scoreJson(report, selectRows(report.messages, invocation))) reporter.answerPiece(piece);
    return;
  }
  const { renderScoreReport } = await import('../render/score.ts');
  const { explain, sort, limit } = invocation;
  const rendering = { theme: reporter.answerTheme, widthColumns: reporter.answerWidthColumns, explain, sort, limit };
  reporter.answer(renderScoreReport(report, rendering));
}
