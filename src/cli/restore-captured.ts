import type { RestoreCapturedRequest } from '../app/contract/requests.ts';
import { EXIT_CODES, type ExitCode } from './exit-codes.ts';
import type { CommonRequest } from './invocation.ts';
import { renderRestoredCapture } from './render/capture.ts';
import { renderFailure } from './render/failure.ts';
import { reportJson } from './render/text.ts';
import type { CliContext } from './session.ts';
import { inSession } from './commands/command.ts';

/** `compact restore --captured FILE`: a file that the archive has whole. */
export async function restoreCaptured(
  context: CliContext,
  invocation: CommonRequest & { readonly captured: RestoreCapturedRequest },
): Promise<ExitCode> {
  const { captured } = invocation;
  const request = {
    ...invocation,
    command: 'compact restore',
    format: null,
    needs: ['archive'] as const,
    endsWithStdout: captured.output.kind === 'stdout',
  };
  return inSession(context, request, async ({ useCases, reporter, terminal }) => {
    reporter.progress.name(captured.file);
    const result = await useCases.restoreCaptured(captured, reporter.progress);
    if (terminal.stdout.isClosed()) return EXIT_CODES.done;
    if (!result.ok) {
      if (result.error.kind !== 'interrupted') reporter.error(renderFailure(result.error));
      return EXIT_CODES.failed;
    }
    if (invocation.outputOptions.json) reporter.answerPiece(reportJson(result.value));
    else reporter.report(renderRestoredCapture(result.value, reporter.theme));
    return EXIT_CODES.done;
  });
}
