import { EXIT_CODES, interruptionCode } from './terminal/exit-codes.ts';
import type { PoolRules } from './pool/work-on-files.ts';
import { run } from './run.ts';
import { createTerminal } from './terminal/terminal.ts';
import type { CreateUseCases } from '../compose/use-cases.ts';

/**
 * The program. Sets the exit code and lets the process end by itself, so that all output is written. Tests adapt how the
 * use cases are made, and what other processes run.
 */
export async function main(
  adapt = (create: CreateUseCases): CreateUseCases => create,
  poolRules?: PoolRules,
): Promise<void> {
  const terminal = createTerminal();
  const loadUseCases = async (): Promise<CreateUseCases> =>
    adapt((await import('../compose/use-cases.ts')).createUseCases);
  try {
    terminal.setExitCode(await run({ terminal, loadUseCases, poolRules }));
  } catch (error) {
    if (terminal.signal.aborted) {
      // Errors while aborting are expected.
      terminal.setExitCode(interruptionCode(terminal.signal));
    } else {
      const { renderBug } = await import('../messages/problems.ts');
      const { asksForJsonLog, logLine } = await import('./terminal/log.ts');
      const message = renderBug(error);
      const isLog = asksForJsonLog(terminal.argv);
      terminal.stderr.write(isLog ? logLine({ level: 'error', run: null, message }) : message);
      terminal.setExitCode(EXIT_CODES.failed);
    }
  } finally {
    terminal.close();
  }
}
