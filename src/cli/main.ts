import { EXIT_CODES, interruptionCode } from './exit-codes.ts';
import { run } from './run.ts';
import type { CliContext } from './session.ts';
import { createTerminal } from './terminal.ts';

const loadRealUseCases: CliContext['loadUseCases'] = async () => (await import('./compose.ts')).createUseCases;

/** The program. Sets the exit code and lets the process end by itself, so that all output is written. */
export async function main(loadUseCases = loadRealUseCases): Promise<void> {
  const terminal = createTerminal();
  try {
    terminal.setExitCode(await run({ terminal, loadUseCases }));
  } catch (error) {
    if (terminal.signal.aborted) {
      // Errors while aborting are expected.
      terminal.setExitCode(interruptionCode(terminal.signal));
    } else {
      const { renderBug } = await import('./render/problems.ts');
      terminal.stderr.write(renderBug(error));
      terminal.setExitCode(EXIT_CODES.failed);
    }
  } finally {
    terminal.close();
  }
}
