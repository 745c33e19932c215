import type { ScoreReport, ScoreRow } from '../../app/contract/reports.ts';
import { parseCount } from '../../config/quantity.ts';
import { type PolicyRequest, toPolicy } from '../../config/resolve.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import { createSkipRenderer, skipUnreadable } from '../failed-and-skipped.ts';
import { gatherInputs } from '../gather.ts';
import type { CommonRequest, PipedRequest } from '../invocation.ts';
import { renderFailure } from '../render/failure.ts';
import {
  describeNear,
  findMessages,
  renderCandidates,
  renderExplained,
  renderMessage,
  SCORE_ORDERS,
  scoreJson,
  type ScoreOrder,
  selectExplained,
  selectRows,
} from '../render/score.ts';
import { partFlags, quoteForShell, safeText, shellWord } from '../render/text.ts';
import type { CliContext, CommandRequest, Session } from '../session.ts';
import { defineCommand, type Flag, inSession } from './command.ts';
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
    /** Every message is explained. */
    readonly all: boolean;
    /** Only this message is explained; null: all. */
    readonly message: string | null;
    readonly limit: number | null;
    readonly sort: ScoreOrder;
  };

export const scoreCommand = defineCommand({
  operands: { syntax: '<transcript...>', description: 'files, folders, globs, or - for standard input' },
  flags: [
    { flags: '--explain', description: 'show the conversation at a glance, and why its most important messages are' },
    { flags: '--all', description: 'with --explain: every message, not only 20', conflicts: ['limit', 'message'] },
    { flags: '--message <id>', description: 'why one message stays or goes: its id, or line:N', conflicts: 'limit' },
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
    ['compact score --message line:12 session.jsonl', 'shows why the message in line 12 stays or goes'],
  ],
  read: ({ options, args, isStdinImplied }): ScoreInvocation => ({
    kind: 'score',
    isStdinImplied,
    operands: args,
    format: options.format ?? null,
    policy: { targetTokens: options.target ?? null, ifOver: null, conversation: options.conversation ?? null },
    explain: options.explain === true,
    all: options.all === true,
    message: options.message ?? null,
    limit: options.limit ?? null,
    sort: SCORE_ORDERS.find((order) => order === options.sort) ?? (options.json === true ? 'position' : 'score'),
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict: ({ operands, all, explain }) =>
    all && !explain ? '--all says how much --explain shows: add --explain' : findStdinConflict(operands, null),
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
    for (const { path, name, isNamed, refusesLinks } of gathered.inputs) {
      if (session.terminal.signal.aborted) break;
      session.reporter.progress.name(name);
      const input = { path, name, format: invocation.format, refusesLinks };
      const result = await session.useCases.scoreFile({
        input,
        policy: toPolicy(session.settings, invocation.policy),
        selectShown: (rows) => selectShown(rows, invocation),
        hasExcerpts: invocation.explain || invocation.message !== null,
      });
      if (session.terminal.stdout.isClosed()) break;
      if (result.ok) {
        if (!(await answer(session, { report: result.value, invocation }))) failedCount += 1;
      }
      if (!result.ok && result.error.kind !== 'interrupted') {
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

const EXPLAINED = 20;

function limitOf({ all, limit }: ScoreInvocation): number | null {
  return all ? null : (limit ?? EXPLAINED);
}

function selectShown(rows: readonly ScoreRow[], invocation: ScoreInvocation): readonly ScoreRow[] {
  const { message, explain, outputOptions } = invocation;
  if (message !== null) {
    const found = findMessages(rows, message);
    return found.length === 1 ? found : [];
  }
  return explain && !outputOptions.json ? selectExplained(rows, limitOf(invocation)) : selectRows(rows, invocation);
}

/** Returns whether there was an answer: the message that was asked for may not be in the file. */
async function answer(
  { reporter, terminal }: Session,
  { report, invocation }: { readonly report: ScoreReport; readonly invocation: ScoreInvocation },
): Promise<boolean> {
  const { outputOptions, message, explain, sort, limit } = invocation;
  const shown = selectShown(report.messages, invocation);
  const [first] = shown;
  if (message !== null && first === undefined) {
    reporter.error(describeMissing(report, { id: message, terminal }));
    return false;
  }
  if (outputOptions.json) {
    for (const piece of scoreJson(report, shown)) reporter.answerPiece(piece);
    return true;
  }
  const theme = reporter.answerTheme;
  const widthColumns = terminal.stdout.isTerminal ? reporter.answerWidthColumns : Number.POSITIVE_INFINITY;
  if (message !== null && first !== undefined) {
    reporter.answer(
      renderMessage(report, first, { theme, widthColumns, show: commandLine(terminal, ['show', SETTINGS_FLAGS]) }),
    );
  } else if (explain) {
    reporter.answer(renderExplained(report, { theme, widthColumns, limit: limitOf(invocation) }));
  } else {
    const { renderScoreReport } = await import('../render/score.ts');
    reporter.answer(renderScoreReport(report, { theme, widthColumns: reporter.answerWidthColumns, sort, limit }));
  }
  return true;
}

/** A message that a compaction removed is in the archive, and its score in the restored original. */
function describeMissing(
  { file, messages }: ScoreReport,
  { id, terminal }: { readonly id: string; readonly terminal: Session['terminal'] },
): string {
  const name = safeText(file);
  const several = findMessages(messages, id);
  if (several.length > 0)
    return [
      `${name}: ${safeText(id)} names ${several.length} messages. Give one of these:`,
      ...renderCandidates(several),
    ].join('\n');
  const [word, path] = [shellWord(id), shellWord(file)];
  return [
    `${name}: there is no message ${safeText(id)} in it now. ${describeNear(messages, id)}`.trimEnd(),
    'If a compaction removed it, read it with',
    `  ${commandLine(terminal, ['show', SETTINGS_FLAGS])} ${word}`,
    'and see why it was removed, in the original, with',
    `  ${commandLine(terminal, ['restore', SETTINGS_FLAGS])} ${path} -o - | ${commandLine(terminal, ['score', SCORE_FLAGS])} --message ${word} -`,
  ].join('\n');
}

const SCORE_FLAGS = [...SELECTION_FLAGS, ...SETTINGS_FLAGS];

/** The beginning of a command line that uses the same archive, and the same settings, as this one. */
function commandLine(
  { program, argv }: Session['terminal'],
  [command, known]: readonly [command: string, known: readonly Flag[]],
): string {
  return [program(), command, quoteForShell(partFlags(argv, known).flags)].filter((part) => part !== '').join(' ');
}
