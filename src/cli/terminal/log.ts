/** What a message on stderr is about, for logs. */
export type About = {
  /** The transcript, as the user named it. */
  readonly file?: string;
  /** What became of it. */
  readonly result?: string;
};

export type LogEvent = About & {
  readonly level: 'error' | 'info' | 'debug';
  /** Of the run, as the archive records it; null: none has begun. */
  readonly run: string | null;
  readonly message: string;
};

/** Of columns and of lines that stand under another one. Names of files have fewer spaces in a row. */
const PADDING = /(?<=\n) +| {2,}(?= )/g;

/** A message as `--log json` prints it: one line, with its time and without padding. */
export function logLine({ level, run, file, result, message: text }: LogEvent): string {
  const message = text.trim().replaceAll(PADDING, '');
  return `${JSON.stringify({ time: new Date().toISOString(), level, run, file, result, message })}\n`;
}

/** Whether a command line that could not be parsed, or that crashed, asks for such lines. */
export function asksForJsonLog(argv: readonly string[]): boolean {
  return argv.some((word, at) => word === '--log=json' || (word === '--log' && argv[at + 1] === 'json'));
}
