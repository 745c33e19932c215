import { findConfig } from '../../config/find.ts';
import { loadConfig, type LoadedConfig } from '../../config/load.ts';
import { listFileSettings, listSettings, type SettingRow } from '../../config/origins.ts';
import { parseCount, parseCountOrZero } from '../../config/quantity.ts';
import { resolveSettings } from '../../config/resolve.ts';
import type { ConfigContext, ConfigInvocation } from '../config-context.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import { renderIgnored, renderRefusal, renderSettings } from '../render/config.ts';
import { reportJson } from '../render/json-lines.ts';
import { renderConfigProblem, renderUsageProblem } from '../render/problems.ts';
import { safeText } from '../render/text.ts';
import { createReporter } from '../reporter.ts';
import type { ConfigGetReport, ConfigPathReport, ConfigReport } from '../reports.ts';
import type { CliContext } from '../session.ts';
import { defineCommand } from './command.ts';
import { OUTPUT_FLAGS, MODEL_FLAGS, readOutputOptions, readSettings, SETTINGS_FLAGS } from './options.ts';

const ACTIONS = [
  'show',
  'path',
  'init',
  'get',
  'set',
  'edit',
  'trust',
] as const satisfies readonly ConfigInvocation['action'][];

const AS_GIVEN = 'as if it were given to compact';
const LIKEWISE = 'likewise';

export const configCommand = defineCommand({
  operands: [
    {
      syntax: '<action>',
      description:
        "show: each setting and its source; path: the file that is read; init: write a file in which every key is explained; get, set: one setting; edit: open the file in your editor; trust: let a project's file set everything, until it changes",
      choices: ACTIONS,
    },
    {
      syntax: '[name]',
      description: 'for get and set: a key (summarization.keep_recent); for trust: a compact.toml, or its folder',
    },
    { syntax: '[value]', description: 'for set: the new value' },
  ],
  actions: ACTIONS,
  flags: [
    { flags: '--user', description: 'for init, set and edit: your own file', conflicts: 'local' },
    { flags: '--local', description: "for init, set and edit: the project's compact.toml" },
    { flags: '--list', description: 'for trust: list the files that you have trusted', conflicts: 'revoke' },
    { flags: '--revoke', description: 'for trust: revoke it' },
    ...MODEL_FLAGS.map((flag, at) => ({ ...flag, description: at === 0 ? AS_GIVEN : LIKEWISE })),
    { flags: '--keep-recent <n>', description: LIKEWISE, parse: parseCountOrZero },
    { flags: '--keep-recent-tokens <n>', description: LIKEWISE, parse: parseCountOrZero },
    { flags: '--chunk-size <n>', description: LIKEWISE, parse: parseCount },
    { flags: '--max-summary-tokens <n>', description: LIKEWISE, parse: parseCount },
    { flags: '--summary-tokens <n>', description: LIKEWISE, parse: parseCount },
    { flags: '--rule <text>', description: LIKEWISE, isRepeatable: true },
    { flags: '--drop-rule <text>', description: LIKEWISE, isRepeatable: true },
    { flags: '--no-rules', description: LIKEWISE },
    { flags: '--keep-invalid', description: LIKEWISE },
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    ['compact config show', 'prints each setting and where it comes from'],
    ['compact config set summarization.keep_recent 20', 'changes one line of the file'],
    ['compact config trust', "trusts the project's compact.toml as it is now"],
  ],
  read: ({ options, args }): ConfigInvocation => ({
    kind: 'config',
    action: ACTIONS.find((action) => action === args[0]) ?? 'show',
    name: args[1] ?? null,
    value: args[2] ?? null,
    scope: options.user === true ? 'user' : options.local === true ? 'project' : null,
    change: options.list === true ? 'list' : options.revoke === true ? 'revoke' : null,
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict,
  run,
});

const OPERANDS: { readonly [action in ConfigInvocation['action']]: readonly [least: number, most: number] } = {
  show: [0, 0],
  path: [0, 0],
  init: [0, 0],
  get: [1, 1],
  set: [2, 2],
  edit: [0, 0],
  trust: [0, 1],
};

function findConflict({ action, name, value, change, scope, settings }: ConfigInvocation): string | null {
  const given = [name, value].filter((operand) => operand !== null).length;
  const [least, most] = OPERANDS[action];
  if (action === 'get' && given !== 1) return 'config get takes one key';
  if (action === 'set' && given !== 2) return 'config set takes a key and a value';
  if (given < least || given > most || (change !== null && action !== 'trust')) {
    return action === 'trust'
      ? 'config trust takes one file'
      : `config ${action} takes no file, no --list and no --revoke`;
  }
  if (scope !== null && !['init', 'set', 'edit'].includes(action)) {
    return `config ${action} takes no --user and no --local`;
  }
  if (scope !== null && settings.configFlag !== null)
    return '--config already names the file: leave out --user and --local';
  if (action === 'init' && settings.configFlag !== null) return 'config init takes --user or --local, and no --config';
  if (action !== 'trust') return null;
  if (settings.configFlag !== null) return 'a file given with --config needs no trust';
  return change === 'list' && name !== null ? '--list takes no file' : null;
}

async function run({ terminal }: CliContext, invocation: ConfigInvocation): Promise<ExitCode> {
  const reporter = await createReporter(terminal, invocation.outputOptions);
  const context = { terminal, reporter, invocation };
  if (invocation.action === 'init' || invocation.action === 'set' || invocation.action === 'edit') {
    const { editConfig, initConfig, setConfig } = await import('../config-file.ts');
    return { init: initConfig, set: setConfig, edit: editConfig }[invocation.action](context);
  }
  if (invocation.action === 'trust') {
    const { runTrust } = await import('../config-trust.ts');
    return runTrust(context);
  }
  if (invocation.action === 'path') return reportPath(context);
  const config = await loadConfig(terminal.host, invocation.settings);
  if (!config.ok) {
    for (const problem of config.error) reporter.error(renderConfigProblem(problem));
    return EXIT_CODES.usage;
  }
  if (invocation.action === 'get') return reportSetting(context, config.value);
  reportSettings(context, config.value);
  return EXIT_CODES.done;
}

function reportPath({ terminal, reporter, invocation }: ConfigContext): ExitCode {
  const { found, looked, ignored } = findConfig(terminal.host, invocation.settings);
  reporter.report(renderIgnored({ ignored }));
  if (invocation.outputOptions.json) {
    reporter.answerPiece(
      reportJson({
        schema: 'compact/config-path@1',
        path: found?.path ?? null,
        looked,
        ignored,
      } satisfies ConfigPathReport),
    );
  } else if (found === null) {
    reporter.report(['There is no configuration file, so the defaults apply. Looked for:']);
    reporter.report(looked.map((path) => `  ${safeText(path)}`));
  } else reporter.answer([safeText(found.path)]);
  return EXIT_CODES.done;
}

function reportSettings({ terminal, reporter, invocation }: ConfigContext, config: LoadedConfig): void {
  const { file, ignored } = config;
  const rows = listRows({ terminal, invocation }, config);
  const refused = file === null ? [] : listFileSettings(file, config.refused);
  reporter.report(renderIgnored(config));
  if (!invocation.outputOptions.json) {
    const comments = refused.length === 0 ? [] : renderRefusal(config, terminal.program()).map((line) => `# ${line}`);
    reporter.answer([...comments, ...renderSettings(rows, reporter.answerTheme, refused)]);
    return;
  }
  reporter.answerPiece(
    reportJson({
      schema: 'compact/config@1',
      path: file?.path ?? null,
      trust: file?.trust ?? null,
      ignored,
      values: rows.map(toValue),
      refused: refused.map(toValue),
    } satisfies ConfigReport),
  );
}

function listRows(
  { terminal: { host }, invocation }: Pick<ConfigContext, 'terminal' | 'invocation'>,
  config: LoadedConfig,
) {
  const { flags } = invocation.settings;
  return listSettings({ settings: resolveSettings({ config, flags, host }), config, flags, host });
}

/** `config get`: the bare value, for scripts. */
async function reportSetting(context: ConfigContext, config: LoadedConfig): Promise<ExitCode> {
  const { parseKey } = await import('../../config/set-value.ts');
  const { reporter, invocation } = context;
  const path = parseKey(invocation.name ?? '');
  if (!path.ok) {
    reporter.error(renderUsageProblem({ message: path.error, command: 'compact config' }));
    return EXIT_CODES.usage;
  }
  const [table, key] = path.value;
  const name = path.value.join('.');
  const row = listRows(context, config).find((one) => one.table === table && one.key === key);
  if (invocation.outputOptions.json) {
    const { value, origin } = row ?? { value: null, origin: { kind: 'default' as const } };
    const report = { schema: 'compact/config-get@1', key: name, value, origin } satisfies ConfigGetReport;
    reporter.answerPiece(reportJson(report));
  } else if (row?.isSecret === true) reporter.report([`${safeText(name)}: set, not shown.`]);
  else if (row === undefined || row.value === null) reporter.report([`${safeText(name)}: not set.`]);
  else reporter.answer([safeText(typeof row.value === 'string' ? row.value : JSON.stringify(row.value))]);
  return row === undefined || row.value === null ? EXIT_CODES.failed : EXIT_CODES.done;
}

function toValue({ table, key, value, origin }: SettingRow) {
  return { key: `${table}.${key}`, value, origin };
}
