import { findConfig } from '../../../config/find.ts';
import { renderIgnored } from '../../render/config.ts';
import { reportJson, safeText } from '../../../messages/text.ts';
import type { ConfigPathReport } from '../../reports.ts';
import { defineAction, EXIT_CODES } from '../../line/command.ts';
import { type Console } from './file.ts';

export const pathAction = defineAction({
  summary: 'the file that is read',
  flags: [],
  run: ({ terminal, reporter }: Console, { settings, outputOptions }) => {
    const { found, looked, ignored } = findConfig(terminal.host, settings);
    reporter.report(renderIgnored({ ignored }));
    if (outputOptions.json) {
      const path = found?.path ?? null;
      const report = { schema: 'compact/config-path@1', path, looked, ignored } satisfies ConfigPathReport;
      reporter.answerPiece(reportJson(report));
    } else if (found === null) {
      reporter.report(['There is no configuration file, so the defaults apply. Looked for:']);
      reporter.report(looked.map((path) => `  ${safeText(path)}`));
    } else reporter.answer([safeText(found.path)]);
    return EXIT_CODES.done;
  },
});
