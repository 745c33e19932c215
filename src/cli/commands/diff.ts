import { spawnSync } from 'node:child_process';
import { parseCount } from '../../config/quantity.ts';
import { gatherInputs } from '../inputs/gather.ts';
import { defineCommand } from '../line/command.ts';
import { FORMAT_FLAG, MAX_UNPACKED_FLAG, OUTPUT_FLAGS, SETTINGS_FLAGS } from '../line/flags.ts';
import { renderDiff } from '../render/diff.ts';
import { reportJson, safeLines } from '../../messages/text.ts';
import { inputOf, policyOf } from '../runs/compact.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import type { Terminal } from '../terminal/terminal.ts';

const DEFAULT_LIMIT = 60;

export const command = defineCommand({
  operands: [
    { syntax: '<transcript>', description: 'a compacted file, or an original that has one beside it' },
    { syntax: '[compacted]', description: 'its compacted file' },
  ],
  flags: [
    {
      flags: '--limit <n>',
      description: `at most this many messages (${DEFAULT_LIMIT})`,
      parse: parseCount,
      conflicts: 'all',
    },
    { flags: '--all', description: 'every message, and the whole summary' },
    FORMAT_FLAG,
    MAX_UNPACKED_FLAG,
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    ['compact diff session.compact.jsonl', 'shows what stayed, was quoted, or left'],
    ['compact diff --all session.jsonl', 'an original with its compacted file'],
  ],
  findConflict: ({ operands }) => (operands.includes('-') ? 'diff reads files, not standard input (-)' : null),
  session: { needs: ['archive'], endsWithStdout: true },
  run: async (session, line) => {
    const { reporter, terminal, useCases } = session;
    const { operands, options, outputOptions } = line;
    const gathered = await gatherInputs(session, line, { skipsCompacted: false });
    if (typeof gathered === 'number') return gathered;
    if (gathered.failures.length > 0) return EXIT_CODES.failed;
    const [first, second] = gathered.inputs;
    if (first === undefined || gathered.inputs.length !== operands.length)
      return session.refuse('diff takes one compacted file, or an original and its compacted file');
    reporter.progress.name(first.name);
    const original = second === undefined ? null : inputOf(first, options);
    const request = { input: inputOf(second ?? first, options), original, policy: policyOf(session, {}) };
    const compared = await useCases.diffFile(request, reporter.progress);
    if (terminal.stdout.isClosed()) return EXIT_CODES.done;
    if (!compared.ok) return session.fail(compared.error);
    if (outputOptions.json) reporter.answerPiece(reportJson(compared.value));
    else {
      const { answerTheme: theme, answerWidthColumns: widthColumns } = reporter;
      const limit = options.all === true ? null : (options.limit ?? DEFAULT_LIMIT);
      const lines = renderDiff(compared.value, { theme, widthColumns, limit });
      reporter.progress.clear();
      if (!showInPager(`${safeLines(lines.join('\n'))}\n`, terminal)) reporter.answer(lines);
    }
    return EXIT_CODES.done;
  },
});

/** Ends at once if everything fits on the screen, keeps colors, and leaves the text there. */
const DEFAULT_PAGER = 'less -FRX';

/** Shows a text with $PAGER if there is a terminal. False: nothing was shown. */
export function showInPager(text: string, { stdout, host }: Pick<Terminal, 'stdout' | 'host'>): boolean {
  const { environment, userId } = host;
  const pager = (environment['PAGER'] ?? DEFAULT_PAGER).trim();
  const isWindows = userId === null;
  if (!stdout.isTerminal || isWindows || pager === '' || pager === 'cat' || environment['TERM'] === 'dumb')
    return false;
  // As git does: the variable may hold options, so a shell splits it.
  const ended = spawnSync('sh', ['-c', pager], { input: text, stdio: ['pipe', 'inherit', 'inherit'] });
  return ended.error === undefined && ended.status !== NOT_FOUND && ended.status !== NOT_EXECUTABLE;
}

const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;
