import { answerHook } from './hook/answer-hook.ts';
import { createTerminal } from './terminal/terminal.ts';

/** Answers a hook as `compact hook CLIENT EVENT` does, without loading the command line. */
export function main(client: string, event: string): void {
  const terminal = createTerminal();
  try {
    answerHook({ client, event }, terminal);
  } catch (error) {
    // For the client's log. The exit code stays 0, because others would stop the client's work.
    terminal.stderr.write(`compact hook: ${String(error)}\n`);
  } finally {
    terminal.close();
  }
}
