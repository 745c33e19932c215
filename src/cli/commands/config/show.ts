import { loadConfig, type LoadedConfig } from '../../../config/load.ts';
import { listFileSettings, listSettings, type SettingRow } from '../../../config/origins.ts';
import { resolveSettings } from '../../../config/resolve.ts';
import { renderIgnored, renderRefusal, renderSettings } from '../../render/config.ts';
import { reportJson } from '../../../messages/text.ts';
import { renderConfigProblem } from '../../../messages/problems.ts';
import type { ConfigReport } from '../../reports.ts';
import { defineAction, EXIT_CODES, type Line } from '../../line/command.ts';
import { type Console, refuse } from './file.ts';

export const showAction = defineAction({
  summary: 'each setting and its source',
  flags: [],
  run: async (console: Console, asked) => {
    const { terminal, reporter } = console;
    const loaded = await loadConfig(terminal.host, asked.settings);
    if (!loaded.ok) return refuse(console, loaded.error.map(renderConfigProblem));
    const config = loaded.value;
    const { file, ignored } = config;
    const rows = listRows(console, asked, config);
    const refused = file === null ? [] : listFileSettings(file, config.refused);
    reporter.report(renderIgnored(config));
    if (asked.outputOptions.json) {
      const report = {
        schema: 'compact/config@1',
        path: file?.path ?? null,
        trust: file?.trust ?? null,
        ignored,
        values: rows.map(toValue),
        refused: refused.map(toValue),
      } satisfies ConfigReport;
      reporter.answerPiece(reportJson(report));
    } else {
      const comments = refused.length === 0 ? [] : renderRefusal(config, terminal.program()).map((line) => `# ${line}`);
      reporter.answer([...comments, ...renderSettings(rows, reporter.answerTheme, refused)]);
    }
    return EXIT_CODES.done;
  },
});

export function listRows({ terminal: { host } }: Console, { settings: { flags } }: Line, config: LoadedConfig) {
  return listSettings({ settings: resolveSettings({ config, flags, host }), config, flags, host });
}

function toValue({ table, key, value, origin }: SettingRow) {
  return { key: `${table}.${key}`, value, origin };
}
