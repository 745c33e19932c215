import type { ArchiveListReport, ArchiveStatsReport } from '../../app/contract/archive-reports.ts';
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
import { defineCommand, inSession } from './command.ts';
import { MANNER_FLAGS, readManner, readSettings, SETTINGS_FLAGS } from './options.ts';

const ACTIONS = ['list', 'stats', 'check', 'embed'] as const;

export type ArchiveInvocation = CommonRequest & {
  readonly kind: 'archive';
  readonly action: (typeof ACTIONS)[number];
};

export const archiveCommand = defineCommand<ArchiveInvocation>({
  operands: {
    syntax: '<action>',
    description:
      'list: the compactions in it; stats: counts and sizes; check: whether all of it is whole; embed: make the vectors that are missing',
    choices: ACTIONS,
  },
  actions: ACTIONS,
  flags: [...SETTINGS_FLAGS, ...MANNER_FLAGS],
  read: ({ options, args }) => ({
    kind: 'archive',
    action: ACTIONS.find((action) => action === args[0]) ?? 'list',
    manner: readManner(options),
    settings: readSettings(options),
  }),
  run,
});

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
  { voice, settings }: Session,
  { manner }: ArchiveInvocation,
  { result, render }: Answer<T>,
): ExitCode {
  if (!result.ok) {
    voice.error(renderFailure(result.error));
    return EXIT_CODES.failed;
  }
  if (manner.json) voice.answerPiece(reportJson(result.value));
  else if (result.value.archive !== null) {
    voice.answer(render(result.value, { theme: voice.answerTheme, widthColumns: voice.answerWidthColumns }));
  }
  if (result.value.archive === null) voice.report([noArchive(settings.archive.path)]);
  return EXIT_CODES.done;
}

/** Exit code 1 where anything is wrong, so that a script need not read the report. */
async function check({ voice, useCases, settings }: Session, { manner }: ArchiveInvocation): Promise<ExitCode> {
  voice.progress.name(settings.archive.path);
  const checked = await useCases.checkArchive();
  if (!checked.ok) {
    if (checked.error.kind !== 'interrupted') voice.error(renderFailure(checked.error));
    return EXIT_CODES.failed;
  }
  const isSound = checked.value.result === 'sound';
  if (manner.json) voice.answerPiece(reportJson(checked.value));
  else if (!isSound || manner.verbosity !== 'quiet') {
    const { renderArchiveCheck } = await import('../render/archive.ts');
    voice.answer(renderArchiveCheck(checked.value, voice.answerTheme));
  }
  return isSound ? EXIT_CODES.done : EXIT_CODES.failed;
}

/** Exit code 1 where anything is missing still; the next run goes on there. */
async function embed(session: Session, invocation: ArchiveInvocation): Promise<ExitCode> {
  const { voice, useCases, settings } = session;
  const chosen = await createEmbeddings(session);
  if (!chosen.ok) return session.refuse(chosen.error);
  if (chosen.value === null) {
    return session.refuse(
      'the configuration has no [embedding] with a provider and a model, so that nobody can make vectors',
    );
  }
  voice.progress.name(settings.archive.path);
  const embedded = await useCases.embedArchive(chosen.value);
  if (!embedded.ok) {
    if (embedded.error.kind !== 'interrupted') voice.error(renderFailure(embedded.error));
    return EXIT_CODES.failed;
  }
  const report = embedded.value;
  if (invocation.manner.json) voice.answerPiece(reportJson(report));
  else if (report.archive !== null && invocation.manner.verbosity !== 'quiet') {
    const { renderArchiveEmbed } = await import('../render/archive.ts');
    voice.answer(renderArchiveEmbed(report));
  }
  if (report.archive === null) voice.report([noArchive(settings.archive.path)]);
  if (report.result === 'complete') return EXIT_CODES.done;
  const why = report.result === 'interrupted' ? 'it was interrupted' : safeText(report.error ?? '');
  voice.error(
    `${safeText(settings.archive.path)}: ${report.missing} have no vector, because ${why}. Run it again to go on from there.`,
  );
  return EXIT_CODES.failed;
}
