import { defaultArchivePath } from '../../config/find.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { Manner } from '../invocation.ts';
import { renderFormats } from '../render/formats.ts';
import { reportJson } from '../render/json-lines.ts';
import type { Stage } from '../session.ts';
import { createVoice } from '../voice.ts';

/** Needs no configuration, so that a broken one is no reason not to answer. */
export async function runFormats({ terminal, loadUseCases }: Stage, manner: Manner): Promise<ExitCode> {
  const voice = await createVoice(terminal, manner);
  const createUseCases = await loadUseCases();
  const useCases = createUseCases({
    removeAtExit: terminal.removeAtExit,
    archivePath: defaultArchivePath(terminal.surroundings),
    progress: voice.progress,
    signal: terminal.signal,
    stdout: voice.answerPiece,
  });
  try {
    const formats = useCases.listFormats();
    if (manner.json) for (const format of formats) voice.answerPiece(reportJson(format));
    else voice.answer(renderFormats(formats, { theme: voice.answerTheme, widthColumns: voice.answerWidthColumns }));
    return EXIT_CODES.done;
  } finally {
    useCases.close();
  }
}
