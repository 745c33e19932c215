import { setImmediate } from 'node:timers/promises';
import { assertNever } from '../core/result.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from './exit-codes.ts';
import type { Invocation } from './invocation.ts';
import { readPackageVersion } from './package-version.ts';
import { parseArguments } from './program.ts';
import type { Stage } from './session.ts';

/** The command line from argv to exit code. */
export async function run(stage: Stage): Promise<ExitCode> {
  const { terminal } = stage;
  const facts = {
    version: readPackageVersion(),
    widthColumns: terminal.stdout.widthColumns,
    hasInput: terminal.stdin.kind === 'input',
    nowMs: Date.now(),
  };
  const parsed = await parseArguments(terminal.argv, facts);
  if (!parsed.ok) {
    const { renderUsageProblem } = await import('./render/usage.ts');
    terminal.stderr.write(`${renderUsageProblem(parsed.error)}\n`);
    return EXIT_CODES.usage;
  }
  const code = await perform(stage, parsed.value);
  // A signal that came at the very end is heard before the code is chosen: twice, for the loop to ask for events in between.
  await setImmediate();
  await setImmediate();
  const failure = terminal.stdout.failure();
  if (failure !== null) {
    terminal.stderr.write(`standard output: the system cannot write it (${failure}). Check where it goes.\n`);
    return EXIT_CODES.failed;
  }
  return terminal.signal.aborted ? interruptionCode(terminal.signal) : code;
}

/** Each command is loaded only when it was asked for. */
async function perform(stage: Stage, invocation: Invocation): Promise<ExitCode> {
  const { stdout, stderr } = stage.terminal;
  switch (invocation.kind) {
    case 'compact':
      return (await import('./actions/compact.ts')).runCompact(stage, invocation);
    case 'score':
      return (await import('./actions/score.ts')).runScore(stage, invocation);
    case 'scan':
      return (await import('./actions/scan.ts')).runScan(stage, invocation);
    case 'restore':
      return (await import('./actions/restore.ts')).runRestore(stage, invocation);
    case 'verify':
      return (await import('./actions/verify.ts')).runVerify(stage, invocation);
    case 'search':
      return (await import('./actions/search.ts')).runSearch(stage, invocation);
    case 'show':
      return (await import('./actions/show.ts')).runShow(stage, invocation);
    case 'archive':
      return (await import('./actions/archive.ts')).runArchive(stage, invocation);
    case 'mcp':
      return (await import('./actions/mcp.ts')).runMcp(stage, invocation);
    case 'config':
      return invocation.action === 'trust'
        ? (await import('./actions/config-trust.ts')).runConfigTrust(stage, invocation)
        : (await import('./actions/config.ts')).runConfig(stage, invocation);
    case 'schema':
      return (await import('./actions/schema.ts')).runSchema(stage, invocation.of);
    case 'formats':
      return (await import('./actions/formats.ts')).runFormats(stage, invocation.manner);
    case 'version':
      stdout.write(`${invocation.version}\n`);
      return EXIT_CODES.done;
    case 'help':
      (invocation.isAnswer ? stdout : stderr).write(invocation.text);
      return invocation.isAnswer ? EXIT_CODES.done : EXIT_CODES.usage;
    default:
      return assertNever(invocation);
  }
}
