import type { Progress } from '../../ports/runtime.ts';
import type { OutputOptions } from '../line/line.ts';
import { formatCount, formatDuration } from '../../messages/quantities.ts';
import {
  callAs,
  clipStart,
  clipText,
  createTerminalFilter,
  reportJson,
  safeLines,
  safeText,
  textWidth,
} from '../../messages/text.ts';
import { decideColor, isCi, loadTheme, type Theme } from '../render/theme.ts';
import { type About, type LogEvent, logLine } from './log.ts';
import type { Channel, Terminal } from './terminal.ts';

/** How a command prints: answers to stdout, everything else to stderr. Lines come without a line ending. */
export type Reporter = {
  readonly answerTheme: Theme;
  readonly answerWidthColumns: number;
  readonly theme: Theme;
  readonly answer: (lines: readonly string[]) => void;
  /** Prints a report as a line of JSON. */
  readonly answerJson: (report: object) => void;
  /** Prints raw output in pieces: unchanged into a file or a pipe; on a terminal, control characters are escaped. */
  readonly answerPiece: (piece: string | Uint8Array) => void;
  /** Printed even with `--quiet`. */
  readonly error: (line: string, about?: About) => void;
  /** Not printed with `--quiet`. */
  readonly report: (lines: readonly string[], about?: About) => void;
  readonly progress: RunProgress;
};

/** `runId`: of the run that this program has begun, for logs. */
export async function createReporter(
  terminal: Terminal,
  outputOptions: OutputOptions,
  runId: () => string | null = () => null,
): Promise<Reporter> {
  const { stdout, stderr, host } = terminal;
  const { environment } = host;
  const themeFor = async (isTerminal: boolean): Promise<Theme> =>
    loadTheme(decideColor(outputOptions.color, { environment, isTerminal }));
  const isLog = outputOptions.log === 'json';
  const showsProgress =
    !isLog &&
    outputOptions.showProgress &&
    outputOptions.verbosity !== 'quiet' &&
    stderr.isTerminal &&
    !isCi(environment['CI'] ?? '');
  const theme = isLog ? await loadTheme(false) : await themeFor(stderr.isTerminal);
  const print = (level: LogEvent['level'], lines: readonly string[], about: About): void => {
    progress.clear();
    if (lines.length === 0) return;
    const message = callAs(lines.join('\n'), terminal.program);
    stderr.write(isLog ? logLine({ ...about, level, run: runId(), message }) : `${safeLines(message)}\n`);
  };
  const logsStages = isLog && outputOptions.showProgress && outputOptions.verbosity === 'verbose';
  const progress = createProgress(
    showsProgress ? stderr : null,
    logsStages ? (file, stage) => print('debug', [stage], { file }) : null,
    terminal.saveMemory,
  );
  const showPiece = stdout.isTerminal ? createTerminalFilter() : null;
  /** What goes to a file or a pipe cannot disturb the progress line. */
  const makeRoom = (): void => {
    if (stdout.isTerminal) progress.clear();
  };
  const answerPiece = (piece: string | Uint8Array): void => {
    makeRoom();
    stdout.write(showPiece === null ? piece : showPiece(piece));
  };
  return {
    answerTheme: await themeFor(stdout.isTerminal),
    answerWidthColumns: stdout.widthColumns,
    theme,
    answer: (lines) => {
      makeRoom();
      if (lines.length > 0) stdout.write(`${safeLines(lines.join('\n'))}\n`);
    },
    answerJson: (report) => answerPiece(reportJson(report)),
    answerPiece,
    error: (line, about = {}) => print('error', [theme.bad(line)], about),
    report: (lines, about = {}) => {
      if (outputOptions.verbosity !== 'quiet') print('info', lines, about);
    },
    progress,
  };
}

const REDRAW_MS = 100; // nobody reads faster than this, and drawing would cost more than the work
/** The least that is shown of a name: the stage is shortened first. */
const MIN_NAME_COLUMNS = 10;

/** The position of a transcript among those of the run; `index` from 0. */
export type Place = { readonly index: number; readonly count: number };

type RunProgress = Progress & {
  /** Names the transcript that the next updates are about. */
  readonly name: (transcript: string, place?: Place) => void;
  /** The progress of one transcript while several are running; the line shows the one that reported last. */
  readonly of: (transcript: string, place: Place) => Progress;
  readonly clear: () => void;
};

/**
 * One line that is redrawn in place, `[123/10,000] name: stage`; with `channel` null nothing is drawn. In a run over several transcripts it
 * stays between them. `onStage` is called when a transcript comes to another stage.
 */
function createProgress(
  channel: Channel | null,
  onStage: ((transcript: string, stage: string) => void) | null,
  onUpdate: () => void,
): RunProgress {
  const stageOf = new Map<string, string>();
  const files = createTimeLeft();
  const stages = createTimeLeft();
  const at: { transcript: string; place: Place | null } = { transcript: '', place: null };
  const state = { ...at, isDrawn: false, drawnAtMs: 0 };
  const draw = (stage: string): void => {
    const nowMs = Date.now();
    if (channel === null || nowMs - state.drawnAtMs < REDRAW_MS) return;
    const { transcript, place } = state;
    // One column short of the width: a full line would scroll on some terminals.
    const widthColumns = channel.widthColumns - 1;
    const counter = place === null ? '' : `[${formatCount(place.index + 1)}/${formatCount(place.count)}] `;
    const nameColumns = Math.max(MIN_NAME_COLUMNS, widthColumns - textWidth(counter) - textWidth(stage));
    // A long name keeps its end, which identifies it.
    const line = clipText(`${counter}${clipStart(safeText(transcript), nameColumns)}${stage}`, widthColumns);
    channel.write(`\r\u001b[2K${line}`);
    state.isDrawn = true;
    state.drawnAtMs = nowMs;
  };
  const clear = (): void => {
    if (channel === null || !state.isDrawn) return;
    channel.write('\r\u001b[2K');
    state.isDrawn = false;
    // In a list that grows quickly, the line would be missing most of the time.
    state.drawnAtMs = 0;
  };
  const turnTo = (transcript: string, place: Place | undefined): void => {
    state.transcript = transcript;
    state.place = place !== undefined && place.count > 1 ? place : null;
    if (state.place !== null) files.note('', state.place.index / state.place.count);
  };
  const name = (transcript: string, place?: Place): void => {
    turnTo(transcript, place);
    if (state.place !== null) draw('');
  };
  const update: Progress['update'] = (stage, done, total) => {
    onUpdate();
    const share = total > 0 ? Math.min(done, total) / total : 0;
    stages.note(`${state.transcript} ${stage}`, share);
    if (onStage !== null && stageOf.get(state.transcript) !== stage) {
      stageOf.set(state.transcript, stage);
      onStage(state.transcript, stage);
    }
    const percent = total > 0 ? ` ${Math.floor(100 * share)} %` : '';
    draw(`: ${safeText(stage)}${percent}${state.place === null ? stages.text() : files.text()}`);
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
        finish: () => {
          stageOf.delete(transcript);
          finish();
        },
      };
    },
    update,
    finish,
    clear,
  };
}

/** Before, an estimate would be a guess, and most runs are over. */
const MIN_ELAPSED_MS = 2000;
const MIN_SHARE = 0.02;

/** How long the rest of some work takes if it goes on as it did. */
function createTimeLeft() {
  const state: { key: string | null; startedAtMs: number; share: number } = { key: null, startedAtMs: 0, share: 0 };
  return {
    /** Work with another key starts anew. `share`: how much is done, from 0 to 1. */
    note: (key: string, share: number): void => {
      if (key !== state.key) Object.assign(state, { key, startedAtMs: Date.now(), share: 0 });
      state.share = Math.max(state.share, share);
    },
    /** ', about 12 s left'; empty: too early to say. */
    text: (): string => {
      const elapsedMs = Date.now() - state.startedAtMs;
      if (elapsedMs < MIN_ELAPSED_MS || state.share < MIN_SHARE || state.share >= 1) return '';
      return `, about ${formatDuration((elapsedMs * (1 - state.share)) / state.share)} left`;
    },
  };
}
