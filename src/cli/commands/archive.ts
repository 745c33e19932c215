import type { ArchiveListReport, ArchiveStatsReport } from '../../app/contract/archive-reports.ts';
import type { Failure } from '../../app/contract/failure.ts';
import { parseBytes, parseCountOrZero, parseSince, parseUntil } from '../../config/quantity.ts';
import type { SettingsUse } from '../../config/setting.ts';
import { assertNever, type Result } from '../../core/result.ts';
import { createEmbeddings } from '../create-services.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import { renderFailure } from '../render/failure.ts';
import { reportJson } from '../render/json-lines.ts';
import { noArchive } from '../render/problems.ts';
import { safeText } from '../render/text.ts';
import type { Theme } from '../render/theme.ts';
import type { CliContext, CommandRequest, Session } from '../session.ts';
import { ACTIONS, type ArchiveInvocation, findConflict, readExport, readPrune, readSelectors } from './archive-line.ts';
import { defineCommand, inSession } from './command.ts';
import { OUTPUT_FLAGS, readOutputOptions, readSettings, SETTINGS_FLAGS } from './options.ts';

export const archiveCommand = defineCommand<ArchiveInvocation>({
  operands: [
    {
      syntax: '<action>',
      description:
        'list: its compactions; stats: counts and sizes; check: look for damage; embed: create the missing vectors; hold: protect conversations from erase and prune; erase: remove data for good; prune: remove old conversations; merge: add everything of other archives; export: write what is archived as JSON Lines or Parquet; import: add an export',
      choices: ACTIONS,
    },
    {
      syntax: '[more...]',
      description: 'for hold: add, remove or list; for merge: the other archives; for import: the folder',
    },
  ],
  actions: ACTIONS,
  flags: [
    { flags: '--conversation <id>', description: 'for hold, erase and export: this conversation' },
    {
      flags: '--source <glob>',
      description: 'for hold, erase and export: transcripts whose path matches, in full or from a folder name on',
    },
    { flags: '--match <text>', description: 'for erase: every line that contains this text' },
    { flags: '--message <id>', description: 'for erase: every line of this message' },
    { flags: '--reason <text>', description: 'for hold and erase: a note to store with the hold or the receipt' },
    {
      flags: '--older-than <age>',
      description: 'for prune: conversations last archived more than 180d, 6mo, 1y ago, or before 2026-03-01',
      parse: parseSince,
    },
    {
      flags: '--max-size <size>',
      description: 'for prune: remove the oldest until the archive is about this size (20GB)',
      parse: parseBytes,
    },
    {
      flags: '--keep-last <n>',
      description: 'for prune: always keep this many of the newest conversations',
      parse: parseCountOrZero,
    },
    { flags: '--project <glob>', description: 'for prune: only transcripts in folders that match' },
    { flags: '--yes', description: 'for erase and prune: remove it; without --yes, only list what would be removed' },
    { flags: '--despite-hold', description: 'for erase: remove data even if a hold protects it' },
    { flags: '--jsonl <folder>', description: 'for export: write JSON Lines into this new or empty folder' },
    {
      flags: '--parquet <folder>',
      description: 'for export: write Parquet tables into this new or empty folder',
      conflicts: 'jsonl',
    },
    { flags: '--since <time>', description: 'for export: archived since this day or time', parse: parseSince },
    {
      flags: '--until <time>',
      description: 'for export: archived until this day, or before this time',
      parse: parseUntil,
    },
    {
      flags: '--max-line <size>',
      description: 'for import: the longest line or group of rows to accept (64MiB)',
      parse: parseBytes,
    },
    { flags: '--list', description: 'for erase: list the receipts of earlier erasures', conflicts: 'yes' },
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    ['compact archive list', 'lists the compactions, newest last'],
    ['compact archive check', 'looks for damage'],
    ['compact archive merge laptop.db', 'adds everything of another archive'],
    ['compact archive prune --older-than 180d', 'lists what would be removed; --yes removes it'],
    ["compact archive erase --match 'jane@example.org'", 'lists what would be removed; --yes removes it'],
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
    prune: readPrune(options),
    export: readExport(options),
    maxLineBytes: options.maxLine ?? null,
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict,
  run,
});

const NEEDS: { readonly [action in ArchiveInvocation['action']]?: readonly SettingsUse[] } = {
  embed: ['archive', 'embedding'],
  prune: ['archive', 'retention'],
};

async function run(context: CliContext, invocation: ArchiveInvocation): Promise<ExitCode> {
  const request: CommandRequest = {
    ...invocation,
    format: null,
    command: 'compact archive',
    needs: NEEDS[invocation.action] ?? ['archive'],
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
      case 'merge':
      case 'export':
      case 'import': {
        const { runExchange } = await import('./archive-exchange.ts');
        return runExchange(session, invocation);
      }
      case 'hold':
      case 'prune':
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
