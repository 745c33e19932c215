import type { Progress } from '../ports/runtime.ts';
import type { OutputOptions } from './invocation.ts';
import { formatCount } from './render/quantities.ts';
import { clipStart, clipText, createTerminalFilter, safeLines, safeText, textWidth } from './render/text.ts';
import { decideColor, isCi, loadTheme, type Theme } from './render/theme.ts';
import type { Channel, Terminal } from './terminal.ts';

/** How a command speaks to its user: answers on stdout, all else on stderr. Lines come without a line's end. */
export type Reporter = {
  /** For what goes to stdout. */
  readonly answerTheme: Theme;
  readonly answerWidthColumns: number;
  readonly theme: Theme;
  readonly answer: (lines: readonly string[]) => void;
  /** Raw output, in pieces: exact in a file or a pipe; on a terminal control characters are shown, not obeyed. */
  readonly answerPiece: (piece: string | Uint8Array) => void;
  /** Said even with `--quiet`. */
  readonly error: (line: string) => void;
  /** Not said with `--quiet`. */
  readonly report: (lines: readonly string[]) => void;
  readonly progress: RunProgress;
};

export async function createReporter(terminal: Terminal, outputOptions: OutputOptions): Promise<Reporter> {
  const { stdout, stderr, host } = terminal;
  const { environment } = host;
  const themeFor = async (isTerminal: boolean): Promise<Theme> =>
    loadTheme(decideColor(outputOptions.color, { environment, isTerminal }));
  const showsProgress =
    outputOptions.showProgress &&
    outputOptions.verbosity !== 'quiet' &&
    stderr.isTerminal &&
    !isCi(environment['CI'] ?? '');
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
      if (outputOptions.verbosity !== 'quiet') say(lines);
    },
    progress,
  };
}

const REDRAW_MS = 100; // faster than this nobody reads, and drawing would cost more than the work
/** What is left of a name at least: the stage gives way to it. */
const MIN_NAME_COLUMNS = 10;

/** Which of how many transcripts: `index` from 0. */
export type Place = { readonly index: number; readonly count: number };

type RunProgress = Progress & {
  /** The transcript that the next updates are about. */
  readonly name: (transcript: string, place?: Place) => void;
  /** That of one transcript, where several are at work: the line is about the one that told something last. */
  readonly of: (transcript: string, place: Place) => Progress;
  /** Takes the line away, before something else is said. */
  readonly clear: () => void;
};

/** One line that is drawn over itself; `channel` null: nothing is drawn. In a run over several it stays from one to the next. */
function createProgress(channel: Channel | null): RunProgress {
  const state: { transcript: string; place: Place | null; isDrawn: boolean; drawnAtMs: number } = {
    transcript: '',
    place: null,
    isDrawn: false,
    drawnAtMs: 0,
  };
  const draw = (stage: string): void => {
    const nowMs = Date.now();
    if (channel === null || nowMs - state.drawnAtMs < REDRAW_MS) return;
    // One column short of the width: a full line would scroll on some terminals.
    channel.write(`\r\u001b[2K${layLine(state, { stage, widthColumns: channel.widthColumns - 1 })}`);
    state.isDrawn = true;
    state.drawnAtMs = nowMs;
  };
  const clear = (): void => {
    if (channel === null || !state.isDrawn) return;
    channel.write('\r\u001b[2K');
    state.isDrawn = false;
    // In a list that grows quickly the line would be gone for most of the time.
    state.drawnAtMs = 0;
  };
  const turnTo = (transcript: string, place: Place | undefined): void => {
    state.transcript = transcript;
    state.place = place !== undefined && place.count > 1 ? place : null;
  };
  const name = (transcript: string, place?: Place): void => {
    turnTo(transcript, place);
    if (state.place !== null) draw('');
  };
  const update: Progress['update'] = (stage, done, total) => {
    const share = total > 0 ? ` ${Math.floor((100 * Math.min(done, total)) / total)} %` : '';
    draw(`: ${safeText(stage)}${share}`);
  };
  const finish = (): void => {
    if (state.place === null) clear();
  };
  return {
    name,
    of: (transcript, place) => {
      name(transcript, place);
      return {
        update: (stage, done, total) => {
          turnTo(transcript, place);
          update(stage, done, total);
        },
        finish,
      };
    },
    update,
    finish,
    clear,
  };
}

/** `[123/10,000] name: stage`: of a long name the end stays, by which it is known. */
function layLine(
  { transcript, place }: { readonly transcript: string; readonly place: Place | null },
  { stage, widthColumns }: { readonly stage: string; readonly widthColumns: number },
): string {
  const counter = place === null ? '' : `[${formatCount(place.index + 1)}/${formatCount(place.count)}] `;
  const nameColumns = Math.max(MIN_NAME_COLUMNS, widthColumns - textWidth(counter) - textWidth(stage));
  return clipText(`${counter}${clipStart(safeText(transcript), nameColumns)}${stage}`, widthColumns);
}
