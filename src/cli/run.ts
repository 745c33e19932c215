import { setImmediate } from 'node:timers/promises';
import { assertNever } from '../core/result.ts';
import { parseArguments, type Parsed } from './line/parse.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from './terminal/exit-codes.ts';
import type { UsageProblem } from '../messages/problems.ts';
import type { OutputOptions } from './line/line.ts';
import type { Terminal } from './terminal/terminal.ts';
import { readPackageVersion } from '../system/package-version.ts';
import type { CliContext } from './session.ts';

/** Runs a command line, from argv to exit code. */
export async function run(context: CliContext): Promise<ExitCode> {
  const { terminal } = context;
  const facts = {
    version: readPackageVersion(),
    widthColumns: terminal.stdout.widthColumns,
    program: terminal.program,
    hasInput: terminal.stdin.kind === 'input',
    nowMs: Date.now(),
  };
  const parsed = await parseArguments(terminal.argv, facts);
  if (!parsed.ok) return refuse(context, parsed.error);
  const code = await perform(context, parsed.value);
  // Let the event loop turn twice, so that a signal at the very end still decides the exit code.
  await setImmediate();
  await setImmediate();
  const failure = terminal.stdout.failure();
  if (failure !== null) {
    await tell(terminal, `standard output: the system cannot write it (${failure}). Check where it goes.`);
    return EXIT_CODES.failed;
  }
  return terminal.signal.aborted ? interruptionCode(terminal.signal) : code;
}

async function perform(context: CliContext, parsed: Parsed): Promise<ExitCode> {
  const { stdout, stderr, host } = context.terminal;
  switch (parsed.kind) {
    case 'command': {
      if (parsed.openWords.length === 0) return parsed.run(context);
      const { describeMistakenWord } = await import('./line/mistaken-word.ts');
      const mistake = await describeMistakenWord(parsed.openWords);
      if (mistake === null) return parsed.run(context);
      return refuse(context, { message: mistake, command: 'compact' });
    }
    case 'version':
      if (parsed.isVerbose) {
        const { describeProgram } = await import('./render/version.ts');
        stdout.write(await describeProgram(parsed.version, host));
      } else stdout.write(`${parsed.version}\n`);
      return EXIT_CODES.done;
    case 'help':
      (parsed.isAnswer ? stdout : stderr).write(parsed.text);
      return parsed.isAnswer ? EXIT_CODES.done : EXIT_CODES.usage;
    default:
      return assertNever(parsed);
  }
}

async function refuse({ terminal }: CliContext, problem: UsageProblem): Promise<ExitCode> {
  const { renderUsageProblem } = await import('../messages/problems.ts');
  await tell(terminal, renderUsageProblem(problem));
  return EXIT_CODES.usage;
}

/** An error outside of a session. */
async function tell({ argv, program, stderr, host: { environment } }: Terminal, text: string): Promise<void> {
  const { callAs } = await import('../messages/text.ts');
  const { asksForJsonLog, logLine } = await import('./terminal/log.ts');
  const message = callAs(text, program);
  if (asksForJsonLog(argv)) return stderr.write(logLine({ level: 'error', run: null, message }));
  const { decideColor, loadTheme } = await import('./render/theme.ts');
  const theme = await loadTheme(decideColor(readColor(argv), { environment, isTerminal: stderr.isTerminal }));
  stderr.write(`${theme.bad(message)}\n`);
}

/** The line could not be parsed, but its wish for colors can still be read. */
function readColor(argv: readonly string[]): OutputOptions['color'] {
  const given = argv.flatMap((word, index) =>
    word === '--color' ? [argv[index + 1]] : word.split('--color=').slice(1),
  );
  const last = given.at(-1);
  return last === 'always' || last === 'never' ? last : 'auto';
}
