import type { SearchReport } from '../app/contract/archive-reports.ts';
import type { ConfigProblem } from '../config/parse.ts';
import { byKind } from '../core/result.ts';
import type { OutputProblem } from '../compose/outputs.ts';
import { countOf, formatBytes } from './quantities.ts';
import { safeText, shellWord } from './text.ts';

/** What is wrong with a command line; `command` is the one whose help explains it. */
export type UsageProblem = {
  readonly message: string;
  readonly command: string;
  /** The line has no operands. */
  readonly lacksOperand?: boolean;
};

export function renderUsageProblem({ message, command }: UsageProblem): string {
  const ending = /[.?!…]$/.test(message) ? '' : '.';
  return `compact: ${safeText(message)}${ending} Try '${command} --help'.`;
}

export function renderConfigProblem(problem: ConfigProblem): string {
  const behindPath = byKind(problem, {
    'config-missing': ({ namedBy }) => `: no such file; ${namedBy} names it. Check the path.`,
    'config-unreadable': ({ reason }) => `: the configuration cannot be read: ${safeText(reason)}.`,
    'config-syntax': ({ line, column, problem }) => `:${line}:${column}: not valid TOML: ${safeText(problem)}.`,
    'config-unknown-key': ({ line, key, nearest }) =>
      `${lineSuffix(line)}: unknown key ${safeText(key)}. Did you mean ${safeText(nearest)}?`,
    'config-value': ({ line, key, problem, found, nearest }) => {
      const meant = nearest === null ? '' : ` Did you mean "${nearest}"?`;
      return `${lineSuffix(line)}: ${safeText(key)} ${problem}, not ${safeText(found)}.${meant}`;
    },
  });
  return safeText(problem.path) + behindPath;
}

export function describeOutputProblem(problem: OutputProblem): string {
  return byKind(problem, {
    'needs-folder': ({ path, exists }) =>
      `several transcripts need a folder to be written to, and ${shellWord(path)} ${exists ? 'is a file' : 'is named like a file'}`,
    'equals-input': ({ output, input }) =>
      `the output ${shellWord(output)} is the input ${shellWord(input)}: use --in-place to replace it`,
    'same-output': ({ output, inputs }) =>
      `${inputs.map(shellWord).join(' and ')} would both be written to ${shellWord(output)}`,
    'several-on-stdout': () => 'several transcripts cannot share standard output: give a folder with -o',
  });
}

function lineSuffix(line: number | null): string {
  return line === null ? '' : `:${line}`;
}

/** An unexpected exception: a bug, shown with its stack. Every expected failure has its own sentence. */
export function renderBug(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? String(error)) : `thrown: ${String(error)}`;
  const lines = stack.split('\n').map(safeText);
  return `This is a bug in compact; please report it with these lines:\n${lines.join('\n')}\n`;
}

/** What a search left out, and what to do about it. */
export function describeUnindexed({ messages, bytes, why }: NonNullable<SearchReport['unindexed']>): string {
  const what = `${countOf(messages, 'message')} (${formatBytes(bytes)})`;
  const advice = {
    more: '`--wait` takes them in first, and so does `compact archive index`.',
    unreadable:
      'They are damaged, or a compaction that stores them has not ended: `compact archive check` tells of damage.',
    'read-only': 'This archive cannot be written from here: whoever can write to it runs `compact archive index`.',
    never: 'The setting archive.index is "never": `compact archive index` takes them in.',
    busy: 'Another program is writing to the archive: try again when it has ended.',
    'no-space': 'The disk is full, so that they cannot be taken in.',
  }[why];
  return `${what} ${messages === 1 ? 'is' : 'are'} not in the search index yet, and not searched. ${advice}`;
}

/** Nothing was compacted yet, or the archive is elsewhere; that is an answer, not an error. */
export function noArchive(path: string): string {
  return `${safeText(path)}: there is no archive yet. Name another one with --archive.`;
}
