import type { InstallAction, InstallReport } from '../../app/install/install-client.ts';
import type { ClientName } from '../../ports/clients.ts';
import { defineBareCommand } from '../line/command.ts';
import { OUTPUT_FLAGS } from '../line/flags.ts';
import { extensionSource } from '../program-name.ts';
import { renderFailure } from '../../messages/failure.ts';
import { renderInstallation } from '../render/install.ts';
import { reportJson } from '../../messages/text.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';
import { createReporter } from '../terminal/reporter.ts';

const CLIENT_NAMES: readonly ClientName[] = ['claude', 'codex', 'gemini', 'pi', 'opencode'];

export const command = defineBareCommand({
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
  run: async ({ terminal }, { operands: [client], options, outputOptions }) => {
    const { dryRun: isDryRun = false } = options;
    const action: InstallAction = options.status === true ? 'status' : options.undo === true ? 'undo' : 'install';
    const reporter = await createReporter(terminal, outputOptions);
    const { createInstaller } = await import('../../compose/install.ts');
    const { host, removeAtExit } = terminal;
    const launch = terminal.launch();
    const installer = createInstaller({ host, launch, extensionSource, removeAtExit });
    const reports: InstallReport[] = [];
    let hasFailed = false;
    const isSilent = outputOptions.verbosity === 'quiet' && action !== 'status' && !isDryRun;
    // A client that fails does not keep the others from being installed.
    for (const one of installer.clients.filter(({ name }) => client === undefined || name === client)) {
      const done = await installer.install({ client: one, action, isDryRun });
      if (!done.ok) {
        hasFailed = true;
        reporter.error(`${one.title}: ${renderFailure(done.error)}`);
        continue;
      }
      const { report } = done.value;
      reports.push(report);
      const isShown = client !== undefined || action === 'status' || report.state !== 'not-found';
      if (outputOptions.json) reporter.answerPiece(reportJson(report));
      else if (isShown && !isSilent)
        reporter.answer(renderInstallation(done.value, { action, theme: reporter.answerTheme }));
    }
    const isNowhere = reports.every(({ state }) => state === 'not-found');
    if (isNowhere && action === 'install' && !hasFailed) {
      reporter.report([client === undefined ? NONE_FOUND : 'Nothing was written.']);
      return client === undefined ? EXIT_CODES.done : EXIT_CODES.failed;
    }
    return hasFailed ? EXIT_CODES.failed : EXIT_CODES.done;
  },
});

const NONE_FOUND = `None of these is on this machine: ${CLIENT_NAMES.join(', ')}. Nothing was written.`;
