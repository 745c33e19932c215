import type { ShownOriginal } from '../../app/search/show-archived.ts';
import { defineCommand } from '../line/command.ts';
import { OUTPUT_FLAGS, SETTINGS_FLAGS } from '../line/flags.ts';
import { renderShown } from '../render/show.ts';
import { reportJson } from '../../messages/text.ts';
import type { Session } from '../session.ts';
import { EXIT_CODES, type ExitCode } from '../terminal/exit-codes.ts';

export const command = defineCommand({
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
  session: { needs: ['archive'], endsWithStdout: true },
  run: async (session, { operands: [name = ''], options }) => {
    if (options.messages === true) return showOriginals(session, name);
    const shown = await session.useCases.showArchived({ name });
    if (!shown.ok) return session.fail(shown.error);
    session.answer(shown.value, () => renderShown(shown.value, session.reporter.answerTheme));
    return EXIT_CODES.done;
  },
});

const LF = 0x0a;

/** stdout gets only the lines: as bytes, or as one report per line. */
async function showOriginals(session: Session, name: string): Promise<ExitCode> {
  const { reporter, useCases, terminal } = session;
  const { json } = session.asked.outputOptions;
  const print = async ({ bytes, report }: ShownOriginal): Promise<boolean> => {
    reporter.answerPiece(json ? reportJson(await report()) : bytes);
    if (!json && bytes.at(-1) !== LF) reporter.answerPiece('\n');
    return !terminal.stdout.isClosed();
  };
  const shown = await useCases.showOriginals({ name }, print);
  if (terminal.stdout.isClosed()) return EXIT_CODES.done;
  if (!shown.ok) return session.fail(shown.error);
  if (shown.value === 0) reporter.report(['It has no original lines: this summary was already in the transcript.']);
  return EXIT_CODES.done;
}
