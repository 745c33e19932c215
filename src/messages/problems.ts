import type { SearchReport } from '../app/contract/archive-reports.ts';
import type { ConfigProblem } from '../config/parse.ts';
import { assertNever } from '../core/result.ts';
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
  const path = safeText(problem.path);
  switch (problem.kind) {
    case 'config-missing':
      return `${path}: no such file; ${problem.namedBy} names it. Check the path.`;
    case 'config-unreadable':
      return `${path}: the configuration cannot be read: ${safeText(problem.reason)}.`;
    case 'config-syntax':
      return `${path}:${problem.line}:${problem.column}: not valid TOML: ${safeText(problem.problem)}.`;
    case 'config-unknown-key':
      return `${path}${lineSuffix(problem.line)}: unknown key ${safeText(problem.key)}. Did you mean ${safeText(problem.nearest)}?`;
    case 'config-value': {
      const meant = problem.nearest === null ? '' : ` Did you mean "${problem.nearest}"?`;
      const what = `${safeText(problem.key)} ${problem.problem}, not ${safeText(problem.found)}.`;
      return `${path}${lineSuffix(problem.line)}: ${what}${meant}`;
    }
    default:
      return assertNever(problem);
  }
}

export function describeOutputProblem(problem: OutputProblem): string {
  switch (problem.kind) {
    case 'needs-folder': {
      const is = problem.exists ? 'is a file' : 'is named like a file';
      return `several transcripts need a folder to be written to, and ${shellWord(problem.path)} ${is}`;
    }
    case 'equals-input':
      return `the output ${shellWord(problem.output)} is the input ${shellWord(problem.input)}: use --in-place to replace it`;
    case 'same-output':
      return `${problem.inputs.map(shellWord).join(' and ')} would both be written to ${shellWord(problem.output)}`;
    case 'several-on-stdout':
      return 'several transcripts cannot share standard output: give a folder with -o';
    default:
      return assertNever(problem);
  }
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
