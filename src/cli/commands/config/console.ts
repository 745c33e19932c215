import { EXIT_CODES, type ExitCode } from '../../terminal/exit-codes.ts';
import type { Reporter } from '../../terminal/reporter.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** What the actions of `compact config` work with. They need no session: the settings may be wrong. */
export type Console = { readonly terminal: Terminal; readonly reporter: Reporter };

export function refuse({ reporter }: Console, lines: readonly string[]): ExitCode {
  for (const line of lines) reporter.error(line);
  return EXIT_CODES.usage;
}
