import { diff } from 'node:util';
import type { FileChange, InstallAction, InstallOutcome, InstallReport } from '../../app/install/install-client.ts';
import { safeText, textLines } from '../../messages/text.ts';
import type { Theme } from './theme.ts';

type Rendering = { readonly action: InstallAction; readonly theme: Theme };

/** What happened in one client: a diff of each file, then the result. */
export function renderInstallation(
  { report, changes }: InstallOutcome,
  { action, theme }: Rendering,
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
