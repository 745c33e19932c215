import { basename, join, resolve } from 'node:path';
import { findConfig, lookAtFolder, PROJECT_FILE } from '../config/find.ts';
import { listFileSettings } from '../config/origins.ts';
import { parseConfig } from '../config/parse.ts';
import { readConfigText } from '../config/read-config.ts';
import { createTrustStore, hashConfig, trustedPath, type TrustRecord } from '../config/trust-store.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { ConfigContext } from './config-context.ts';
import { EXIT_CODES, type ExitCode } from './exit-codes.ts';
import { renderSettings } from './render/config.ts';
import { reportJson } from './render/json-lines.ts';
import { renderConfigProblem, renderUsageProblem } from './render/problems.ts';
import { safeText, shellWord } from './render/text.ts';
import type { ConfigTrustReport } from './reports.ts';
import type { Reporter } from './reporter.ts';
import type { Terminal } from './terminal.ts';

/** `config trust`: allows a project's file to set everything as long as its content stays the same. */
export async function runTrust(context: ConfigContext): Promise<ExitCode> {
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
function findFile({ terminal, invocation }: ConfigContext): Result<string, string> {
  const { host } = terminal;
  if (invocation.name === null) {
    const environment = { ...host.environment, COMPACT_CONFIG: undefined };
    const { found } = findConfig({ ...host, environment }, invocation.settings);
    return found?.place === 'project'
      ? ok(found.path)
      : err(`there is no ${PROJECT_FILE} in this folder or above it in the repository: name one`);
  }
  const path = resolve(host.workingFolder, invocation.name);
  if (lookAtFolder(path)?.isDirectory() === true) return ok(join(path, PROJECT_FILE));
  if (basename(path) === PROJECT_FILE) return ok(path);
  return err(`only files named ${PROJECT_FILE} are found automatically: a file given with --config needs no trust`);
}

/** Reads the file once, so that the content shown is the content recorded. */
async function trust({ terminal, reporter, invocation }: ConfigContext, path: string): Promise<ExitCode> {
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
    reporter.answerPiece(toJson({ result: 'trusted', ...record, values }));
  }
  const owner = read.value.owner === null ? '' : ` (${safeText(read.value.owner)})`;
  const file = invocation.name === null ? '' : ` ${shellWord(invocation.name)}`;
  const until = `After any change it must be trusted again; \`${terminal.program()} config trust --revoke${file}\` revokes the trust.`;
  reporter.report([`${safeText(record.path)}: trusted in its current state${owner}. ${until}`]);
  return EXIT_CODES.done;
}

function revoke({ terminal, reporter, invocation }: ConfigContext, path: string): ExitCode {
  const revoked = createTrustStore(terminal.host).revoke(trustedPath(path));
  if (!revoked.ok) return refuse(reporter, [`${safeText(revoked.error)}.`]);
  const result = revoked.value ? 'revoked' : 'not-trusted';
  if (invocation.outputOptions.json) reporter.answerPiece(toJson({ result, path }));
  reporter.report([`${safeText(path)}: ${revoked.value ? 'no longer trusted' : 'it was not trusted'}.`]);
  return EXIT_CODES.done;
}

async function listTrusted({ terminal, reporter, invocation }: ConfigContext): Promise<ExitCode> {
  const records = createTrustStore(terminal.host).list();
  if (!records.ok) return refuse(reporter, [`${safeText(records.error)}.`]);
  for (const record of records.value) {
    const state = await compareWithDisk(record, terminal);
    if (invocation.outputOptions.json) {
      reporter.answerPiece(toJson({ result: state, ...record }));
    } else reporter.answer([`${safeText(record.path)}${state === 'trusted' ? '' : `  (${state} since)`}`]);
  }
  if (records.value.length === 0) reporter.report(['No file is trusted.']);
  return EXIT_CODES.done;
}

function toJson(report: Omit<ConfigTrustReport, 'schema'>): string {
  return reportJson({ schema: 'compact/config-trust@1', ...report } satisfies ConfigTrustReport);
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
