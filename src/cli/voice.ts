import type { Manner } from './invocation.ts';
import { createProgress, type RunProgress } from './progress.ts';
import { createTerminalFilter, safeLines } from './render/safe-text.ts';
import { decideColor, isCi, loadTheme, type Theme } from './render/theme.ts';
import type { Terminal } from './terminal.ts';

/** How a command speaks to its user: answers on stdout, all else on stderr. Lines come without a line's end. */
export type Voice = {
  /** For what goes to stdout. */
  readonly answerTheme: Theme;
  readonly answerWidthColumns: number;
  readonly theme: Theme;
  readonly answer: (lines: readonly string[]) => void;
  /** Raw output, in pieces: exact in a file or a pipe; on a terminal control characters are shown, not obeyed. */
  readonly answerPiece: (piece: string | Uint8Array) => void;
  /** Said whatever the manner is. */
  readonly error: (line: string) => void;
  /** Not said with `--quiet`. */
  readonly report: (lines: readonly string[]) => void;
  readonly progress: RunProgress;
};

export async function createVoice(terminal: Terminal, manner: Manner): Promise<Voice> {
  const { stdout, stderr, surroundings } = terminal;
  const { environment } = surroundings;
  const themeFor = async (isTerminal: boolean): Promise<Theme> =>
    loadTheme(decideColor(manner.color, { environment, isTerminal }));
  const showsProgress =
    manner.showProgress && manner.verbosity !== 'quiet' && stderr.isTerminal && !isCi(environment['CI'] ?? '');
  const progress = createProgress(showsProgress ? stderr : null);
  const say = (lines: readonly string[]): void => {
    progress.clear();
    if (lines.length > 0) stderr.write(`${safeLines(lines.join('\n'))}\n`);
  };
  const showPiece = stdout.isTerminal ? createTerminalFilter() : null;
  /** What goes to a file or a pipe does not stand in the way of the line. */
  const makeRoom = (): void => {
    if (stdout.isTerminal) progress.clear();
  };
  return {
    answerTheme: await themeFor(stdout.isTerminal),
    answerWidthColumns: stdout.widthColumns,
    theme: await themeFor(stderr.isTerminal),
    answer: (lines) => {
      makeRoom();
      if (lines.length > 0) stdout.write(`${safeLines(lines.join('\n'))}\n`);
    },
    answerPiece: (piece) => {
      makeRoom();
      stdout.write(showPiece === null ? piece : showPiece(piece));
    },
    error: (line) => say([line]),
    report: (lines) => {
      if (manner.verbosity !== 'quiet') say(lines);
    },
    progress,
  };
}
