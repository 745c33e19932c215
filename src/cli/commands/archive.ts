import type { ArchiveListReport, ArchiveStatsReport } from '../../app/contract/archive-reports.ts';
import type { EraseSelector } from '../../app/archive/select.ts';
import type { Failure } from '../../app/contract/failure.ts';
import { assertNever, type Result } from '../../core/result.ts';
import { createEmbeddings } from '../create-services.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { CommonRequest } from '../invocation.ts';
import { renderFailure } from '../render/failure.ts';
import { reportJson } from '../render/json-lines.ts';
import { noArchive } from '../render/problems.ts';
import { safeText } from '../render/text.ts';
import type { Theme } from '../render/theme.ts';
import type { CliContext, CommandRequest, Session } from '../session.ts';
import { defineCommand, inSession, type Options } from './command.ts';
import { OUTPUT_FLAGS, readOutputOptions, readSettings, SETTINGS_FLAGS } from './options.ts';

const ACTIONS = ['list', 'stats', 'check', 'embed', 'hold', 'erase'] as const;

export type ArchiveInvocation = CommonRequest & {
  readonly kind: 'archive';
  readonly action: (typeof ACTIONS)[number];
  /** What follows the action. */
  readonly operands: readonly string[];
  readonly selectors: readonly EraseSelector[];
  readonly reason: string | null;
  readonly isConfirmed: boolean;
  readonly despiteHold: boolean;
  /** For erase: list the receipts. */
  readonly lists: boolean;
};

export const archiveCommand = defineCommand<ArchiveInvocation>({
  operands: [
    {
      syntax: '<action>',
      description:
        'list: its compactions; stats: counts and sizes; check: look for damage; embed: create the missing vectors; hold: protect something from being erased; erase: remove something for good',
      choices: ACTIONS,
    },
    { syntax: '[more...]', description: 'for hold: add, remove or list' },
  ],
  actions: ACTIONS,
  flags: [
    { flags: '--conversation <id>', description: 'for hold and erase: this conversation' },
    { flags: '--source <glob>', description: 'for hold and erase: transcripts whose path, or the end of it, matches' },
    { flags: '--match <text>', description: 'for erase: every line that contains this text' },
    { flags: '--message <id>', description: 'for erase: every line of this message' },
    { flags: '--reason <text>', description: 'for hold and erase: recorded with it' },
    { flags: '--yes', description: 'for erase: do it; without it, only say what would go' },
    { flags: '--despite-hold', description: 'for erase: also what a hold protects' },
    { flags: '--list', description: 'for erase: the receipts of what was erased', conflicts: 'yes' },
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    ['compact archive list', 'lists the compactions, newest last'],
    ['compact archive check', 'looks for damage'],
    ["compact archive erase --match 'jane@example.org'", 'says which lines would go; --yes removes them'],
  ],
  read: ({ options, args }) => ({
    kind: 'archive',
    action: ACTIONS.find((action) => action === args[0]) ?? 'list',
    operands: args.slice(1),
    selectors: readSelectors(options),
    reason: options.reason ?? null,
    isConfirmed: options.yes === true,
    despiteHold: options.despiteHold === true,
    lists: options.list === true,
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict,
  run,
});

function readSelectors({ conversation, source, match, message }: Options): readonly EraseSelector[] {
  return [
    ...(conversation === undefined ? [] : [{ kind: 'conversation', id: conversation } as const]),
    ...(source === undefined ? [] : [{ kind: 'source', glob: source } as const]),
    ...(match === undefined ? [] : [{ kind: 'match', text: match } as const]),
    ...(message === undefined ? [] : [{ kind: 'message', id: message } as const]),
  ];
}

function findConflict(invocation: ArchiveInvocation): string | null {
  const { action, operands, selectors, lists, reason, isConfirmed, despiteHold } = invocation;
  if (action === 'hold') return findHoldConflict(invocation);
  if (operands.length > 0) return `archive ${action} takes no '${operands[0]}'`;
  if (action !== 'erase') {
    const hasFlags = selectors.length > 0 || reason !== null || isConfirmed || despiteHold || lists;
    return hasFlags
      ? `archive ${action} takes no --conversation, --source, --match, --message, --reason, --yes, --despite-hold or --list`
      : null;
  }
  if (lists) return selectors.length > 0 ? 'archive erase --list takes nothing else' : null;
  const [selector] = selectors;
  if (selector === undefined || selectors.length > 1)
    return 'archive erase takes one of --conversation, --source, --match and --message';
  if (Object.values(selector).includes('')) return `--${selector.kind} is empty, which would match everything`;
  const isPlace = selector.kind === 'message' && /^line:\d+$/.test(selector.id);
  return isPlace ? `${selector.id} is a place that every transcript has, not an id: use --match` : null;
}

function findHoldConflict({ operands, selectors, isConfirmed, despiteHold, lists }: ArchiveInvocation): string | null {
  const [change = 'list', ...more] = operands;
  if (!['add', 'remove', 'list'].includes(change) || more.length > 0) return 'archive hold takes add, remove or list';
  if (isConfirmed || despiteHold || lists) return 'archive hold takes no --yes, --despite-hold or --list';
  if (change === 'list')
    return selectors.length > 0 ? 'archive hold list takes no --conversation and no --source' : null;
  const isScope = selectors.length === 1 && selectors.every(({ kind }) => kind === 'conversation' || kind === 'source');
  return isScope ? null : `archive hold ${change} takes either --conversation or --source`;
}

async function run(context: CliContext, invocation: ArchiveInvocation): Promise<ExitCode> {
  const request: CommandRequest = {
    ...invocation,
    format: null,
    command: 'compact archive',
    needs: invocation.action === 'embed' ? ['archive', 'embedding'] : ['archive'],
    endsWithStdout: true,
  };
  return inSession(context, request, async (session) => {
    const { useCases } = session;
    switch (invocation.action) {
      case 'list': {
        const { renderArchiveList } = await import('../render/archive.ts');
        return answer(session, invocation, { result: await useCases.listArchive(), render: renderArchiveList });
      }
      case 'stats': {
        const { renderArchiveStats } = await import('../render/archive.ts');
        return answer(session, invocation, { result: await useCases.measureArchive(), render: renderArchiveStats });
      }
      case 'check':
        return check(session, invocation);
      case 'embed':
        return embed(session, invocation);
      case 'hold':
      case 'erase': {
        const { runRetention } = await import('./archive-retention.ts');
        return runRetention(session, invocation);
      }
      default:
        return assertNever(invocation.action);
    }
  });
}

type Answer<T> = {
  readonly result: Result<T, Failure>;
  readonly render: (report: T, place: { readonly theme: Theme; readonly widthColumns: number }) => readonly string[];
};

function answer<T extends ArchiveListReport | ArchiveStatsReport>(
  { reporter, settings }: Session,
  { outputOptions }: ArchiveInvocation,
  { result, render }: Answer<T>,
): ExitCode {
  if (!result.ok) {
    reporter.error(renderFailure(result.error));
    return EXIT_CODES.failed;
  }
  if (outputOptions.json) reporter.answerPiece(reportJson(result.value));
  else if (result.value.archive !== null) {
    reporter.answer(render(result.value, { theme: reporter.answerTheme, widthColumns: reporter.answerWidthColumns }));
  }
  if (result.value.archive === null) reporter.report([noArchive(settings.archive.path)]);
  return EXIT_CODES.done;
}

/** Exit code 1 if anything is wrong, so that a script can rely on it. */
async function check(
  { reporter, useCases, settings }: Session,
  { outputOptions }: ArchiveInvocation,
): Promise<ExitCode> {
  reporter.progress.name(settings.archive.path);
  const checked = await useCases.checkArchive();
  if (!checked.ok) {
    if (checked.error.kind !== 'interrupted') reporter.error(renderFailure(checked.error));
    return EXIT_CODES.failed;
  }
  const isSound = checked.value.result === 'sound';
  if (outputOptions.json) reporter.answerPiece(reportJson(checked.value));
  else if (!isSound || outputOptions.verbosity !== 'quiet') {
    const { renderArchiveCheck } = await import('../render/archive.ts');
    reporter.answer(renderArchiveCheck(checked.value, reporter.answerTheme));
  }
  return isSound ? EXIT_CODES.done : EXIT_CODES.failed;
}

/** Exit code 1 if any vector is still missing; the next run continues from there. */
async function embed(session: Session, invocation: ArchiveInvocation): Promise<ExitCode> {
  const { reporter, useCases, settings } = session;
  const chosen = await createEmbeddings(session);
  if (!chosen.ok) return session.refuse(chosen.error);
  if (chosen.value === null) {
    return session.refuse(
      'the configuration has no [embedding] with a provider and a model, so no vectors can be created',
    );
  }
  reporter.progress.name(settings.archive.path);
  const embedded = await useCases.embedArchive(chosen.value);
  if (!embedded.ok) {
    if (embedded.error.kind !== 'interrupted') reporter.error(renderFailure(embedded.error));
    return EXIT_CODES.failed;
  }
  const report = embedded.value;
  if (invocation.outputOptions.json) reporter.answerPiece(reportJson(report));
  else if (report.archive !== null && invocation.outputOptions.verbosity !== 'quiet') {
    const { renderArchiveEmbed } = await import('../render/archive.ts');
    reporter.answer(renderArchiveEmbed(report));
  }
  if (report.archive === null) reporter.report([noArchive(settings.archive.path)]);
  if (report.result === 'complete') return EXIT_CODES.done;
  const why = report.result === 'interrupted' ? 'it was interrupted' : safeText(report.error ?? '');
  reporter.error(
    `${safeText(settings.archive.path)}: ${report.missing} have no vector, because ${why}. Run it again to continue.`,
  );
  return EXIT_CODES.failed;
}
