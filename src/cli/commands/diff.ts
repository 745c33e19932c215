import { spawnSync } from 'node:child_process';
import { parseCount } from '../../config/quantity.ts';
import { toPolicy } from '../../config/resolve.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import { gatherInputs } from '../gather.ts';
import type { CommonRequest } from '../invocation.ts';
import { renderDiff } from '../render/diff.ts';
import { renderFailure } from '../render/failure.ts';
import { reportJson, safeLines } from '../render/text.ts';
import type { CliContext } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { defineCommand, inSession } from './command.ts';
import {
  FORMAT_FLAG,
  MAX_UNPACKED_FLAG,
  OUTPUT_FLAGS,
  readOutputOptions,
  readSettings,
  SETTINGS_FLAGS,
} from './options.ts';

export type DiffInvocation = CommonRequest & {
  readonly kind: 'diff';
  readonly operand: string;
  /** The compacted file, if the first one is the original. */
  readonly compacted: string | null;
  readonly format: string | null;
  /** Messages to show; null: all. */
  readonly limit: number | null;
};

const DEFAULT_LIMIT = 60;

export const diffCommand = defineCommand({
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
  read: ({ options, args }): DiffInvocation => ({
    kind: 'diff',
    operand: args[0] ?? '',
    compacted: args[1] ?? null,
    format: options.format ?? null,
    limit: options.all === true ? null : (options.limit ?? DEFAULT_LIMIT),
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict: ({ operand, compacted }) =>
    operand === '-' || compacted === '-' ? 'diff reads files, not standard input (-)' : null,
  run,
});

async function run(context: CliContext, invocation: DiffInvocation): Promise<ExitCode> {
  const request = {
    ...invocation,
    command: 'compact diff',
    needs: ['archive'] as const,
    endsWithStdout: true,
  };
  return inSession(context, request, async (session) => {
    const { reporter, terminal, settings, useCases } = session;
    const { operand, compacted, format, limit, outputOptions } = invocation;
    const operands = compacted === null ? [operand] : [operand, compacted];
    const gathered = await gatherInputs(session, operands, { skipsCompacted: false });
    if (typeof gathered === 'number') return gathered;
    if (gathered.failures.length > 0) return EXIT_CODES.failed;
    const [first, second] = gathered.inputs;
    if (first === undefined || gathered.inputs.length !== operands.length)
      return session.refuse('diff takes one compacted file, or an original and its compacted file');
    const file = (one: typeof first) => ({ path: one.path, name: one.name, format, refusesLinks: one.refusesLinks });
    reporter.progress.name(first.name);
    const policy = toPolicy(settings, { targetTokens: null, ifOver: null, conversation: null });
    const result = await useCases.diffFile(
      { input: file(second ?? first), original: second === undefined ? null : file(first), policy },
      reporter.progress,
    );
    if (terminal.stdout.isClosed()) return EXIT_CODES.done;
    if (!result.ok) {
      if (result.error.kind !== 'interrupted') reporter.error(renderFailure(result.error));
      session.explain(result.error);
      return EXIT_CODES.failed;
    }
    if (outputOptions.json) reporter.answerPiece(reportJson(result.value));
    else {
      const rendering = { theme: reporter.answerTheme, widthColumns: reporter.answerWidthColumns, limit };
      const lines = renderDiff(result.value, rendering);
      reporter.progress.clear();
      if (!showInPager(`${safeLines(lines.join('\n'))}\n`, terminal)) reporter.answer(lines);
    }
    return EXIT_CODES.done;
  });
}

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
