import type { ShowReport } from '../../app/contract/archive-reports.ts';
import type { ShownOriginal } from '../../app/search/show-archived.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { CommonRequest } from '../invocation.ts';
import { renderFailure } from '../render/failure.ts';
import { reportJson } from '../render/text.ts';
import { renderShown } from '../render/show.ts';
import type { CliContext, CommandRequest, Session } from '../session.ts';
import { defineCommand, inSession } from './command.ts';
import { OUTPUT_FLAGS, readOutputOptions, readSettings, SETTINGS_FLAGS } from './options.ts';

export type ShowInvocation = CommonRequest & {
  readonly kind: 'show';
  readonly name: string;
  /** The original lines, byte for byte. */
  readonly originals: boolean;
};

export const showCommand = defineCommand({
  operands: {
    syntax: '<name>',
    description:
      "a label or its beginning, a name from a search, a message's id, or the key in a clip-archive's last line",
  },
  flags: [
    { flags: '--messages', description: 'the original lines, byte for byte' },
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    ['compact show message:1', 'shows a message that a search found'],
    ['compact show batch:1 --messages', 'prints the original lines behind a summary'],
  ],
  read: ({ options, args }): ShowInvocation => ({
    kind: 'show',
    name: args[0] ?? '',
    originals: options.messages === true,
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  run,
});

async function run(context: CliContext, invocation: ShowInvocation): Promise<ExitCode> {
  const request: CommandRequest = {
    ...invocation,
    format: null,
    command: 'compact show',
    needs: ['archive'],
    endsWithStdout: true,
  };
  return inSession(context, request, (session) =>
    invocation.originals ? showOriginals(session, invocation) : show(session, invocation),
  );
}

async function show({ reporter, useCases }: Session, { name, outputOptions }: ShowInvocation): Promise<ExitCode> {
  const shown = await useCases.showArchived({ name });
  if (!shown.ok) {
    reporter.error(renderFailure(shown.error));
    return EXIT_CODES.failed;
  }
  const report: ShowReport = shown.value;
  if (outputOptions.json) reporter.answerPiece(reportJson(report));
  else reporter.answer(renderShown(report, reporter.answerTheme));
  return EXIT_CODES.done;
}

const LF = 0x0a;

/** stdout gets only the lines: as bytes, or as one report per line. */
async function showOriginals(
  { reporter, useCases, terminal }: Session,
  { name, outputOptions }: ShowInvocation,
): Promise<ExitCode> {
  const print = async ({ bytes, report }: ShownOriginal): Promise<boolean> => {
    reporter.answerPiece(outputOptions.json ? reportJson(await report()) : bytes);
    if (!outputOptions.json && bytes.at(-1) !== LF) reporter.answerPiece('\n');
    return !terminal.stdout.isClosed();
  };
  const shown = await useCases.showOriginals({ name }, print);
  if (terminal.stdout.isClosed()) return EXIT_CODES.done;
  if (!shown.ok) {
    reporter.error(renderFailure(shown.error));
    return EXIT_CODES.failed;
  }
  if (shown.value === 0) reporter.report(['It has no original lines: this summary was already in the transcript.']);
  return EXIT_CODES.done;
}
