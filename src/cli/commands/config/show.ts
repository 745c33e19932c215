import { findConfig } from '../../../config/find.ts';
import { loadConfig, type LoadedConfig } from '../../../config/load.ts';
import { listFileSettings, listSettings, type SettingRow } from '../../../config/origins.ts';
import { resolveSettings } from '../../../config/resolve.ts';
import { parseKey } from '../../../config/set-value.ts';
import { renderConfigProblem, renderUsageProblem } from '../../../messages/problems.ts';
import { safeText } from '../../../messages/text.ts';
import { defineAction, EXIT_CODES, type Line } from '../../line/command.ts';
import { renderIgnored, renderRefusal, renderSettings } from '../../render/config.ts';
import type { ConfigGetReport, ConfigPathReport, ConfigReport } from '../../reports.ts';
import { type Console, refuse } from './file.ts';

export const showAction = defineAction({
  summary: 'each setting and its source',
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
      reporter.answerJson({
        schema: 'compact/config@1',
        path: file?.path ?? null,
        trust: file?.trust ?? null,
        ignored,
        values: rows.map(toValue),
        refused: refused.map(toValue),
      } satisfies ConfigReport);
    } else {
      const comments = refused.length === 0 ? [] : renderRefusal(config, terminal.program()).map((line) => `# ${line}`);
      reporter.answer([...comments, ...renderSettings(rows, reporter.answerTheme, refused)]);
    }
    return EXIT_CODES.done;
  },
});

function listRows({ terminal: { host } }: Console, { settings: { flags } }: Line, config: LoadedConfig) {
  return listSettings({ settings: resolveSettings({ config, flags, host }), config, flags, host });
}

function toValue({ table, key, value, origin }: SettingRow) {
  return { key: `${table}.${key}`, value, origin };
}

/** The bare value, for scripts. */
export const getAction = defineAction({
  summary: 'one setting',
  takes: [{ syntax: '<name>', description: 'a key, for example summarization.keep_recent' }],
  refuseOperands: (operands) => (operands.length === 1 ? null : 'config get takes one key'),
  run: async (console: Console, asked) => {
    const { reporter, terminal } = console;
    const config = await loadConfig(terminal.host, asked.settings);
    if (!config.ok) return refuse(console, config.error.map(renderConfigProblem));
    const path = parseKey(asked.operands[0] ?? '');
    if (!path.ok) return refuse(console, [renderUsageProblem({ message: path.error, command: 'compact config' })]);
    const [table, key] = path.value;
    const name = path.value.join('.');
    const row = listRows(console, asked, config.value).find((one) => one.table === table && one.key === key);
    if (asked.outputOptions.json) {
      const { value, origin } = row ?? { value: null, origin: { kind: 'default' as const } };
      reporter.answerJson({ schema: 'compact/config-get@1', key: name, value, origin } satisfies ConfigGetReport);
    } else if (row?.isSecret === true) reporter.report([`${safeText(name)}: set, not shown.`]);
    else if (row === undefined || row.value === null) reporter.report([`${safeText(name)}: not set.`]);
    else reporter.answer([safeText(typeof row.value === 'string' ? row.value : JSON.stringify(row.value))]);
    return row === undefined || row.value === null ? EXIT_CODES.failed : EXIT_CODES.done;
  },
});

export const pathAction = defineAction({
  summary: 'the file that is read',
  run: ({ terminal, reporter }: Console, { settings, outputOptions }) => {
    const { found, looked, ignored } = findConfig(terminal.host, settings);
    reporter.report(renderIgnored({ ignored }));
    if (outputOptions.json) {
      const path = found?.path ?? null;
      reporter.answerJson({ schema: 'compact/config-path@1', path, looked, ignored } satisfies ConfigPathReport);
    } else if (found === null) {
      reporter.report(['There is no configuration file, so the defaults apply. Looked for:']);
      reporter.report(looked.map((path) => `  ${safeText(path)}`));
    } else reporter.answer([safeText(found.path)]);
    return EXIT_CODES.done;
  },
});
