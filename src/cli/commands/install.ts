import type { InstallAction, InstallReport } from '../../app/install/install-client.ts';
import type { ClientName } from '../../ports/clients.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { OutputOptions } from '../invocation.ts';
import { EXTENSIONS_FOLDER } from '../program-name.ts';
import { renderFailure } from '../render/failure.ts';
import { renderInstallation } from '../render/install.ts';
import { reportJson } from '../render/text.ts';
import { createReporter } from '../reporter.ts';
import type { CliContext } from '../session.ts';
import { defineCommand } from './command.ts';
import { OUTPUT_FLAGS, readOutputOptions } from './options.ts';

const CLIENT_NAMES: readonly ClientName[] = ['claude', 'codex', 'gemini', 'pi', 'opencode'];

export type InstallInvocation = {
  readonly kind: 'install';
  /** Null: every client on this machine. */
  readonly client: ClientName | null;
  readonly action: InstallAction;
  readonly isDryRun: boolean;
  readonly outputOptions: OutputOptions;
};

export const installCommand = defineCommand({
  operands: { syntax: '[client]', description: 'only this one (default: all that are found)', choices: CLIENT_NAMES },
  flags: [
    { flags: '--undo', description: 'take everything out again, byte for byte', conflicts: 'status' },
    { flags: '--status', description: 'say where it is installed; writes nothing' },
    { flags: '-n, --dry-run', description: 'show the changes; writes nothing' },
    ...OUTPUT_FLAGS,
  ],
  examples: [
    ['compact install --dry-run', 'shows what would change'],
    ['compact install claude', 'sets up Claude Code; --undo takes it back'],
  ],
  read: ({ options, args }): InstallInvocation => ({
    kind: 'install',
    client: CLIENT_NAMES.find((name) => name === args[0]) ?? null,
    action: options.status === true ? 'status' : options.undo === true ? 'undo' : 'install',
    isDryRun: options.dryRun === true,
    outputOptions: readOutputOptions(options),
  }),
  run,
});

/** A client that fails does not keep the others from being installed. */
async function run({ terminal }: CliContext, invocation: InstallInvocation): Promise<ExitCode> {
  const { client, action, isDryRun, outputOptions } = invocation;
  const reporter = await createReporter(terminal, outputOptions);
  const { createInstaller } = await import('../../compose/install.ts');
  const { host, removeAtExit } = terminal;
  const installer = createInstaller({
    host,
    launch: terminal.launch(),
    extensionsFolder: EXTENSIONS_FOLDER,
    removeAtExit,
  });
  const reports: InstallReport[] = [];
  let hasFailed = false;
  const isSilent = outputOptions.verbosity === 'quiet' && action !== 'status' && !isDryRun;
  for (const one of installer.clients.filter(({ name }) => client === null || name === client)) {
    const done = await installer.install({ client: one, action, isDryRun });
    if (!done.ok) {
      hasFailed = true;
      reporter.error(`${one.title}: ${renderFailure(done.error)}`);
      continue;
    }
    const { report } = done.value;
    reports.push(report);
    const isShown = client !== null || action === 'status' || report.state !== 'not-found';
    if (outputOptions.json) reporter.answerPiece(reportJson(report));
    else if (isShown && !isSilent)
      reporter.answer(renderInstallation(done.value, { action, theme: reporter.answerTheme }));
  }
  const isNowhere = reports.every(({ state }) => state === 'not-found');
  if (isNowhere && action === 'install' && !hasFailed) {
    reporter.report([client === null ? NONE_FOUND : 'Nothing was written.']);
    return client === null ? EXIT_CODES.done : EXIT_CODES.failed;
  }
  return hasFailed ? EXIT_CODES.failed : EXIT_CODES.done;
}

const NONE_FOUND = `None of these is on this machine: ${CLIENT_NAMES.join(', ')}. Nothing was written.`;
