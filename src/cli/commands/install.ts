import { diff } from 'node:util';
import type { FileChange, InstallAction, InstallOutcome, InstallReport } from '../../app/install/install-client.ts';
import type { ClientName } from '../../ports/clients.ts';
import { defineBareCommand, EXIT_CODES } from '../line/command.ts';
import { OUTPUT_FLAGS } from '../line/flags.ts';
import { extensionSource } from '../program-name.ts';
import { renderFailure } from '../../messages/failure.ts';
import { safeText, textLines } from '../../messages/text.ts';
import { createReporter } from '../terminal/reporter.ts';
import type { Theme } from '../render/theme.ts';

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
      if (outputOptions.json) reporter.answerJson(report);
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

/** What happened in one client: a diff of each file, then the result. */
function renderInstallation(
  { report, changes }: InstallOutcome,
  { action, theme }: { readonly action: InstallAction; readonly theme: Theme },
): readonly string[] {
  const { title, state } = report;
  if (action === 'status') {
    const states: { readonly [state in InstallReport['state']]: string } = {
      installed: theme.good('installed'),
      absent: 'not installed',
      changed: theme.warning(
        'changed since it was installed, or by another version: `compact install` writes it again',
      ),
      'not-found': theme.faint('client not found'),
    };
    return [`${title.padEnd(12)} ${states[state]}`, ...renderNotices(report, theme)];
  }
  return [
    ...changes.flatMap((change) => renderDiff(change, theme)),
    `${theme.strong(title)}: ${describeResult(report, action)}`,
    ...renderNotices(report, theme),
  ];
}

function describeResult({ result, state, nextStep }: InstallReport, action: InstallAction): string {
  if (result === 'planned') return 'nothing was written (dry run).';
  if (result === 'installed') return `installed. ${nextStep ?? ''}`.trimEnd();
  if (result === 'undone') return 'taken out again.';
  if (state === 'not-found') return 'not found on this machine.';
  return action === 'undo' ? 'not installed, nothing to undo.' : 'already installed, nothing to do.';
}

function renderNotices({ taken, notices, title }: InstallReport, theme: Theme): readonly string[] {
  const names = taken.map((name) => `${safeText(name)}: already in use in ${title}, and left as it is.`);
  return [...names, ...notices].map((notice) => theme.warning(`  ${notice}`));
}

const CONTEXT_LINES = 2;

function renderDiff({ path, before, after }: FileChange, theme: Theme): readonly string[] {
  // For `diff`, the first text is the new one. The other way round, it lists what is removed before what is added.
  const lines = diff(linesOf(before), linesOf(after)).map(([kind, line]) => ({ kind, line }));
  const isNear = (at: number): boolean =>
    lines.slice(Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1).some(({ kind }) => kind !== 0);
  const shown = lines.map(({ kind, line }, at) => {
    if (kind === 0) return isNear(at) ? `  ${line}` : null;
    return kind < 0 ? theme.good(`+ ${line}`) : theme.bad(`- ${line}`);
  });
  const gaps = shown.flatMap((line, at) =>
    line !== null ? [line] : shown[at - 1] === null ? [] : [theme.faint('  …')],
  );
  const what = before === null ? ' (new)' : after === null ? ' (removed)' : '';
  return [`${theme.strong(safeText(path))}${what}`, ...gaps];
}

function linesOf(text: string | null): string[] {
  return text === null ? [] : [...textLines(text.replace(/\r?\n$/, ''))];
}
