import { basename, join, resolve } from 'node:path';
import { findConfig, lookAtFolder, PROJECT_FILE } from '../../../config/find.ts';
import { listFileSettings } from '../../../config/origins.ts';
import { parseConfig } from '../../../config/parse.ts';
import { readConfigText } from '../../../config/load.ts';
import { createTrustStore, hashConfig, trustedPath, type TrustRecord } from '../../../config/trust-store.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { renderSettings } from '../../render/config.ts';
import { safeText, shellWord } from '../../../messages/text.ts';
import { renderFailure } from '../../../messages/failure.ts';
import { renderConfigProblem, renderUsageProblem } from '../../../messages/problems.ts';
import type { ConfigTrustReport } from '../../reports.ts';
import { inSession } from '../../session.ts';
import { defineAction, EXIT_CODES, type ExitCode, type Flag, type Line, type OptionsOf } from '../../line/command.ts';
import { type Console, refuse } from './file.ts';

export const TRUST_FLAGS = [
  { flags: '--list', description: 'list the files that you have trusted', conflicts: 'revoke' },
  { flags: '--revoke', description: 'revoke it' },
] as const satisfies readonly Flag[];

/** Allows a project's file to set everything as long as its content stays the same. */
export const trustAction = defineAction({
  summary: "let a project's file set everything, until it changes",
  flags: TRUST_FLAGS,
  takes: [{ syntax: '[file]', description: "a compact.toml, or its folder; by default this project's" }],
  refuseOperands: (operands) => (operands.length > 1 ? 'config trust takes one file' : null),
  findConflict: ({ operands, options, settings }) => {
    if (settings.configFlag !== null) return 'a file given with --config needs no trust';
    return options.list === true && operands.length > 0 ? '--list takes no file' : null;
  },
  run: async (place: Console, asked) => {
    if (asked.options.list === true) return listTrusted(place, asked);
    const path = findFile(place, asked);
    if (!path.ok) return refuse(place, [renderUsageProblem({ message: path.error, command: 'compact config' })]);
    return asked.options.revoke === true ? revoke(place, asked, path.value) : trust(place, asked, path.value);
  },
});

type TrustAsked = Line<OptionsOf<typeof TRUST_FLAGS>>;

/** A folder means the file in it, as with direnv. */
function findFile({ terminal }: Console, { operands: [name], settings }: TrustAsked): Result<string, string> {
  const { host } = terminal;
  if (name === undefined) {
    const environment = { ...host.environment, COMPACT_CONFIG: undefined };
    const { found } = findConfig({ ...host, environment }, settings);
    return found?.place === 'project'
      ? ok(found.path)
      : err(`there is no ${PROJECT_FILE} in this folder or above it in the repository: name one`);
  }
  const path = resolve(host.workingFolder, name);
  if (lookAtFolder(path)?.isDirectory() === true) return ok(join(path, PROJECT_FILE));
  if (basename(path) === PROJECT_FILE) return ok(path);
  return err(`only files named ${PROJECT_FILE} are found automatically: a file given with --config needs no trust`);
}

/** Reads the file once, so that the content shown is the content recorded. */
async function trust(place: Console, asked: TrustAsked, path: string): Promise<ExitCode> {
  const { terminal, reporter } = place;
  const { operands, outputOptions } = asked;
  const [name] = operands;
  const read = await readConfigText({ path, place: 'project' }, terminal.host);
  if (!read.ok) return refuse(place, [renderConfigProblem(read.error)]);
  const parsed = parseConfig(read.value.text, path);
  if (!parsed.ok) return refuse(place, parsed.error.map(renderConfigProblem));
  const [sha256, trustedAt] = [hashConfig(read.value.bytes), new Date().toISOString()];
  const record: TrustRecord = { path: trustedPath(path), sha256, trustedAt };
  const rows = listFileSettings({ path, lines: parsed.value.lines }, parsed.value.values);
  if (!outputOptions.json) reporter.answer(renderSettings(rows, reporter.answerTheme));
  const recorded = createTrustStore(terminal.host).record(record);
  if (!recorded.ok) return refuse(place, [`${safeText(recorded.error)}. Nothing is trusted.`]);
  if (outputOptions.json) {
    const values = rows.map(({ table, key, value }) => ({ key: `${table}.${key}`, value }));
    answerJson(place, { result: 'trusted', ...record, values });
  }
  const owner = read.value.owner === null ? '' : ` (${safeText(read.value.owner)})`;
  const file = name === undefined ? '' : ` ${shellWord(name)}`;
  const until = `After any change it must be trusted again; \`${terminal.program()} config trust --revoke${file}\` revokes the trust.`;
  reporter.report([`${safeText(record.path)}: trusted in its current state${owner}. ${until}`]);
  return logTrust(place, asked, { file: record.path, sha256: record.sha256 });
}

/** In the archive that the settings name, if there is one. What is wrong with these is only told: the trust itself is settled. */
async function logTrust({ context }: Console, asked: TrustAsked, details: object): Promise<ExitCode> {
  await inSession(context, { ...asked, format: null, needs: [] }, async ({ reporter, useCases }) => {
    const logged = await useCases.logDeed({ action: 'trust', details });
    if (!logged.ok) reporter.error(`This is not in the archive's log: ${renderFailure(logged.error)}`);
    return EXIT_CODES.done;
  });
  return EXIT_CODES.done;
}

async function revoke(place: Console, asked: TrustAsked, path: string): Promise<ExitCode> {
  const { outputOptions } = asked;
  const { terminal, reporter } = place;
  const revoked = createTrustStore(terminal.host).revoke(trustedPath(path));
  if (!revoked.ok) return refuse(place, [`${safeText(revoked.error)}.`]);
  const result = revoked.value ? 'revoked' : 'not-trusted';
  if (outputOptions.json) answerJson(place, { result, path });
  reporter.report([`${safeText(path)}: ${revoked.value ? 'no longer trusted' : 'it was not trusted'}.`]);
  return revoked.value ? logTrust(place, asked, { file: trustedPath(path), revoked: true }) : EXIT_CODES.done;
}

async function listTrusted(place: Console, { outputOptions }: TrustAsked): Promise<ExitCode> {
  const { terminal, reporter } = place;
  const records = createTrustStore(terminal.host).list();
  if (!records.ok) return refuse(place, [`${safeText(records.error)}.`]);
  for (const record of records.value) {
    const read = await readConfigText({ path: record.path, place: 'project' }, terminal.host);
    const isSame = read.ok && hashConfig(read.value.bytes) === record.sha256;
    const state = !read.ok ? 'gone' : isSame ? 'trusted' : 'changed';
    if (outputOptions.json) answerJson(place, { result: state, ...record });
    else reporter.answer([`${safeText(record.path)}${state === 'trusted' ? '' : `  (${state} since)`}`]);
  }
  if (records.value.length === 0) reporter.report(['No file is trusted.']);
  return EXIT_CODES.done;
}

function answerJson({ reporter }: Console, report: Omit<ConfigTrustReport, 'schema'>): void {
  reporter.answerJson({ schema: 'compact/config-trust@1', ...report } satisfies ConfigTrustReport);
}
