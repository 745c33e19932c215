import { basename, join, resolve } from 'node:path';
import { findConfig, lookAtFolder, PROJECT_FILE } from '../../config/find.ts';
import { loadConfig, type LoadedConfig } from '../../config/load.ts';
import { listFileSettings, listSettings, type SettingRow } from '../../config/origins.ts';
import { parseConfig } from '../../config/parse.ts';
import { parseCount, parseCountOrZero } from '../../config/quantity.ts';
import { readConfigText } from '../../config/read-config.ts';
import { resolveSettings } from '../../config/resolve.ts';
import { createTrustStore, hashConfig, trustedPath, type TrustRecord } from '../../config/trust-store.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { CommonRequest } from '../invocation.ts';
import { renderIgnored, renderRefusal, renderSettings } from '../render/config.ts';
import { reportJson } from '../render/json-lines.ts';
import { renderConfigProblem, renderUsageProblem } from '../render/problems.ts';
import { safeText, shellWord } from '../render/text.ts';
import { createReporter, type Reporter } from '../reporter.ts';
import type { CliContext } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { defineCommand } from './command.ts';
import { OUTPUT_FLAGS, MODEL_FLAGS, readOutputOptions, readSettings, SETTINGS_FLAGS } from './options.ts';

const ACTIONS = ['show', 'path', 'trust'] as const;

export type ConfigInvocation = CommonRequest & {
  readonly kind: 'config';
  readonly action: (typeof ACTIONS)[number];
  /** For `trust`; null: the project's file. */
  readonly file: string | null;
  /** For `trust`; null: trust the file. */
  readonly change: 'list' | 'revoke' | null;
};

const AS_GIVEN = 'as if it were given to compact';
const LIKEWISE = 'likewise';

export const configCommand = defineCommand<ConfigInvocation>({
  operands: [
    {
      syntax: '<action>',
      description:
        "show: each setting and its source; path: the file that is read; trust: let a project's file set everything, until it changes",
      choices: ACTIONS,
    },
    { syntax: '[file]', description: 'for trust: a compact.toml, or its folder (default: the one that is found)' },
  ],
  actions: ACTIONS,
  flags: [
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
    ['compact config trust', "trusts the project's compact.toml as it is now"],
  ],
  read: ({ options, args }) => ({
    kind: 'config',
    action: ACTIONS.find((action) => action === args[0]) ?? 'show',
    file: args[1] ?? null,
    change: options.list === true ? 'list' : options.revoke === true ? 'revoke' : null,
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict: ({ action, file, change, settings }) => {
    if (action !== 'trust') {
      return file === null && change === null ? null : `config ${action} takes no file, no --list and no --revoke`;
    }
    if (settings.configFlag !== null) return 'a file given with --config needs no trust';
    return change === 'list' && file !== null ? '--list takes no file' : null;
  },
  run,
});

async function run({ terminal }: CliContext, invocation: ConfigInvocation): Promise<ExitCode> {
  const reporter = await createReporter(terminal, invocation.outputOptions);
  const context = { terminal, reporter, invocation };
  if (invocation.action === 'trust') return runTrust(context);
  if (invocation.action === 'path') return reportPath(context);
  const config = await loadConfig(terminal.host, invocation.settings);
  if (!config.ok) {
    for (const problem of config.error) reporter.error(renderConfigProblem(problem));
    return EXIT_CODES.usage;
  }
  reportSettings(context, config.value);
  return EXIT_CODES.done;
}

type Context = { readonly terminal: Terminal; readonly reporter: Reporter; readonly invocation: ConfigInvocation };

function reportPath({ terminal, reporter, invocation }: Context): ExitCode {
  const { found, looked, ignored } = findConfig(terminal.host, invocation.settings);
  reporter.report(renderIgnored({ ignored }));
  if (invocation.outputOptions.json) {
    reporter.answerPiece(reportJson({ schema: 'compact/config-path@1', path: found?.path ?? null, looked, ignored }));
  } else if (found === null) {
    reporter.report(['There is no configuration file, so the defaults apply. Looked for:']);
    reporter.report(looked.map((path) => `  ${safeText(path)}`));
  } else reporter.answer([safeText(found.path)]);
  return EXIT_CODES.done;
}

function reportSettings({ terminal, reporter, invocation }: Context, config: LoadedConfig): void {
  const { host } = terminal;
  const { flags } = invocation.settings;
  const { file, ignored } = config;
  const settings = resolveSettings({ config, flags, host });
  const rows = listSettings({ settings, config, flags, host });
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
    }),
  );
}

function toValue({ table, key, value, origin }: SettingRow) {
  return { key: `${table}.${key}`, value, origin };
}

/** `config trust`: allows a project's file to set everything as long as its content stays the same. */
async function runTrust(context: Context): Promise<ExitCode> {
  const { reporter, invocation } = context;
  if (invocation.change === 'list') return listTrusted(context);
  const path = findFile(context);
  if (!path.ok) {
    reporter.error(renderUsageProblem({ message: path.error, command: 'compact config' }));
    return EXIT_CODES.usage;
  }
  return invocation.change === 'revoke' ? revoke(context, path.value) : trust(context, path.value);
}

/** A folder means the file in it, as with direnv. */
function findFile({ terminal, invocation }: Context): Result<string, string> {
  const { host } = terminal;
  if (invocation.file === null) {
    const environment = { ...host.environment, COMPACT_CONFIG: undefined };
    const { found } = findConfig({ ...host, environment }, invocation.settings);
    return found?.place === 'project'
      ? ok(found.path)
      : err(`there is no ${PROJECT_FILE} in this folder or above it in the repository: name one`);
  }
  const path = resolve(host.workingFolder, invocation.file);
  if (lookAtFolder(path)?.isDirectory() === true) return ok(join(path, PROJECT_FILE));
  if (basename(path) === PROJECT_FILE) return ok(path);
  return err(`only files named ${PROJECT_FILE} are found automatically: a file given with --config needs no trust`);
}

/** Reads the file once, so that the content shown is the content recorded. */
async function trust({ terminal, reporter, invocation }: Context, path: string): Promise<ExitCode> {
  const read = await readConfigText({ path, place: 'project' }, terminal.host);
  if (!read.ok) return refuse(reporter, [renderConfigProblem(read.error)]);
  const parsed = parseConfig(read.value.text, path);
  if (!parsed.ok) return refuse(reporter, parsed.error.map(renderConfigProblem));
  const record: TrustRecord = {
    path: trustedPath(path),
    sha256: hashConfig(read.value.bytes),
    trustedAt: new Date().toISOString(),
  };
  const rows = listFileSettings({ path, lines: parsed.value.lines }, parsed.value.values);
  if (!invocation.outputOptions.json) reporter.answer(renderSettings(rows, reporter.answerTheme));
  const recorded = createTrustStore(terminal.host).record(record);
  if (!recorded.ok) return refuse(reporter, [`${safeText(recorded.error)}. Nothing is trusted.`]);
  if (invocation.outputOptions.json) {
    const values = rows.map(({ table, key, value }) => ({ key: `${table}.${key}`, value }));
    reporter.answerPiece(reportJson({ schema: 'compact/config-trust@1', result: 'trusted', ...record, values }));
  }
  const owner = read.value.owner === null ? '' : ` (${safeText(read.value.owner)})`;
  const file = invocation.file === null ? '' : ` ${shellWord(invocation.file)}`;
  const until = `After any change it must be trusted again; \`${terminal.program()} config trust --revoke${file}\` revokes the trust.`;
  reporter.report([`${safeText(record.path)}: trusted in its current state${owner}. ${until}`]);
  return EXIT_CODES.done;
}

function revoke({ terminal, reporter, invocation }: Context, path: string): ExitCode {
  const revoked = createTrustStore(terminal.host).revoke(trustedPath(path));
  if (!revoked.ok) return refuse(reporter, [`${safeText(revoked.error)}.`]);
  const result = revoked.value ? 'revoked' : 'not-trusted';
  if (invocation.outputOptions.json)
    reporter.answerPiece(reportJson({ schema: 'compact/config-trust@1', result, path }));
  reporter.report([`${safeText(path)}: ${revoked.value ? 'no longer trusted' : 'it was not trusted'}.`]);
  return EXIT_CODES.done;
}

async function listTrusted({ terminal, reporter, invocation }: Context): Promise<ExitCode> {
  const records = createTrustStore(terminal.host).list();
  if (!records.ok) return refuse(reporter, [`${safeText(records.error)}.`]);
  for (const record of records.value) {
    const state = await compareWithDisk(record, terminal);
    if (invocation.outputOptions.json) {
      reporter.answerPiece(reportJson({ schema: 'compact/config-trust@1', result: state, ...record }));
    } else reporter.answer([`${safeText(record.path)}${state === 'trusted' ? '' : `  (${state} since)`}`]);
  }
  if (records.value.length === 0) reporter.report(['No file is trusted.']);
  return EXIT_CODES.done;
}

async function compareWithDisk(
  { path, sha256 }: TrustRecord,
  { host }: Terminal,
): Promise<'trusted' | 'changed' | 'gone'> {
  const read = await readConfigText({ path, place: 'project' }, host);
  if (!read.ok) return 'gone';
  return hashConfig(read.value.bytes) === sha256 ? 'trusted' : 'changed';
}

function refuse(reporter: Reporter, lines: readonly string[]): ExitCode {
  for (const line of lines) reporter.error(line);
  return EXIT_CODES.usage;
}
