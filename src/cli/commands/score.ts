import type { ScoreReport, ScoreRow } from '../../app/contract/reports.ts';
import { parseCount } from '../../config/quantity.ts';
import { findNamed } from '../../core/message.ts';
import { gatherInputs } from '../inputs/gather.ts';
import { defineCommand, type Line, type OptionsOf, type Session, EXIT_CODES } from '../line/command.ts';
import { CONVERSATION_FLAG, findStdinConflict, KEEP_FLAGS, READING_FLAGS, SETTINGS_FLAGS } from '../line/flags.ts';
import {
  describeNear,
  renderCandidates,
  renderExplained,
  renderMessage,
  renderScoreReport,
  SCORE_ORDERS,
  type ScoreRendering,
  scoreJson,
  selectRows,
  withBorders,
} from '../render/score.ts';
import { safeText, shellWord } from '../../messages/text.ts';
import { commandLine, inputOf, policyOf } from '../runs/compact.ts';
import { createOutcomes } from '../runs/outcomes.ts';

const FLAGS = [
  { flags: '--explain', description: 'show the conversation at a glance, and why its most important messages are' },
  { flags: '--all', description: 'every message, not only 20 and the border', conflicts: ['limit', 'message'] },
  { flags: '--message <id>', description: 'why one message stays or goes: its id, or line:N', conflicts: 'limit' },
  { flags: '--limit <n>', description: 'at most this many rows', parse: parseCount },
  {
    flags: '--sort <order>',
    description: 'order of the rows (by default a table is by score, JSON by position)',
    choices: SCORE_ORDERS,
  },
  ...KEEP_FLAGS,
  CONVERSATION_FLAG,
  ...READING_FLAGS,
] as const;

type ScoreLine = Line<OptionsOf<typeof FLAGS>>;

export const command = defineCommand({
  operands: { syntax: '<transcript...>', description: 'files, folders, globs, or - for standard input' },
  flags: FLAGS,
  takesPipe: true,
  examples: [
    ['compact score session.jsonl', 'ranks its messages'],
    ['compact score --explain --limit 5 session.jsonl', 'shows why the first five are important'],
    ['compact score --message line:12 session.jsonl', 'shows why the message in line 12 stays or goes'],
  ],
  findConflict: ({ operands }) => findStdinConflict(operands),
  session: { needs: ['selection', 'archive'], endsWithStdout: true },
  run: async (session, line) => {
    const { reporter, terminal, useCases } = session;
    const { options, outputOptions } = line;
    const isOnTerminal = terminal.stdout.isTerminal;
    // In a pipe, a table has every message; an explanation of every message would be long everywhere.
    const isShort = !outputOptions.json && (options.explain === true || isOnTerminal);
    const limit = options.all === true ? null : (options.limit ?? (isShort ? SHOWN : null));
    const sort = options.sort ?? (outputOptions.json ? 'position' : 'score');
    const listed = { ...line, isOnTerminal, limit, sort };
    const gathered = await gatherInputs(session, line, { skipsCompacted: true });
    if (typeof gathered === 'number') return gathered;
    const outcomes = createOutcomes(session);
    gathered.failures.forEach(outcomes.countFailed);
    for (const input of gathered.inputs) {
      if (terminal.signal.aborted) break;
      reporter.progress.name(input.name);
      const scored = await useCases.scoreFile({
        input: inputOf(input, options),
        policy: policyOf(session, options),
        selectShown: (rows) => selectShown(rows, listed),
        hasExcerpts: !outputOptions.json || options.message !== undefined || options.explain === true,
      });
      if (terminal.stdout.isClosed()) break;
      if (scored.ok) outcomes.counts.failed += answer(session, scored.value, listed) ? 0 : 1;
      else if (scored.error.kind !== 'interrupted') outcomes.add(scored.error, input);
    }
    return outcomes.counts.failed > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
  },
});

/** So many messages fit on a screen. */
const SHOWN = 20;

type Listed = ScoreLine & Pick<ScoreRendering, 'sort' | 'limit'> & { readonly isOnTerminal: boolean };

function selectShown(rows: readonly ScoreRow[], line: Listed): readonly ScoreRow[] {
  const { message } = line.options;
  if (message !== undefined) {
    const found = findNamed(rows, message);
    return found.length === 1 ? found : [];
  }
  const selected = selectRows(rows, line);
  return line.outputOptions.json ? selected : withBorders(selected, rows);
}

/** Returns whether there was an answer: the message that was asked for may not be in the file. */
function answer({ reporter, terminal }: Session, report: ScoreReport, line: Listed): boolean {
  const { message, explain } = line.options;
  const { sort, limit, isOnTerminal } = line;
  const shown = selectShown(report.messages, line);
  const [first] = shown;
  if (message !== undefined && first === undefined) {
    reporter.error(describeMissing(report, { id: message, terminal, isFile: !line.operands.includes('-') }));
    return false;
  }
  if (line.outputOptions.json) {
    for (const piece of scoreJson(report, shown)) reporter.answerPiece(piece);
    return true;
  }
  const theme = reporter.answerTheme;
  const widthColumns = isOnTerminal ? reporter.answerWidthColumns : Number.POSITIVE_INFINITY;
  if (message !== undefined && first !== undefined) {
    const show = commandLine(terminal, ['show', SETTINGS_FLAGS]);
    reporter.answer(renderMessage(report, first, { theme, widthColumns, show }));
  } else if (explain === true) {
    reporter.answer(renderExplained(report, { theme, widthColumns, limit }));
  } else {
    const isVerbose = line.outputOptions.verbosity === 'verbose';
    const hasBorder = isOnTerminal && line.options.limit === undefined;
    reporter.answer(renderScoreReport(report, { theme, widthColumns, sort, limit, isVerbose, hasBorder }));
  }
  return true;
}

/** A message that a compaction removed is in the archive, and its score in the restored original. */
function describeMissing(
  { file, messages }: ScoreReport,
  { id, terminal, isFile }: { readonly id: string; readonly terminal: Session['terminal']; readonly isFile: boolean },
): string {
  const name = safeText(file);
  const several = findNamed(messages, id);
  const choose = `${name}: ${safeText(id)} names ${several.length} messages. Give one of these:`;
  if (several.length > 0) return [choose, ...renderCandidates(several)].join('\n');
  const [word, path] = [shellWord(id), shellWord(file)];
  const restore = `${commandLine(terminal, ['restore', SETTINGS_FLAGS])} ${path} -o -`;
  const score = `${commandLine(terminal, ['score', [...KEEP_FLAGS, ...SETTINGS_FLAGS]])} --message ${word} -`;
  const inOriginal = ['and see why it was removed, in the original, with', `  ${restore} | ${score}`];
  return [
    `${name}: there is no message ${safeText(id)} in it now. ${describeNear(messages, id)}`.trimEnd(),
    'If a compaction removed it, read it with',
    `  ${commandLine(terminal, ['show', SETTINGS_FLAGS])} ${word}`,
    ...(isFile ? inOriginal : []),
  ].join('\n');
}
