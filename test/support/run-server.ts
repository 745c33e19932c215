import { runHere } from './program.ts';

/** Runs each command that the parent process sends, and sends back how it ended. */
process.on('message', async (args: readonly string[]) => {
  process.send?.(await runHere(args));
});
