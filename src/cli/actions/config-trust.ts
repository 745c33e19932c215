import { basename, join, resolve } from 'node:path';
import { findConfig, lookAtFolder, PROJECT_FILE } from '../../config/find.ts';
import { listFileSettings } from '../../config/origins.ts';
import { parseConfig } from '../../config/parse.ts';
import { readConfigText } from '../../config/read-config.ts';
import { createTrustStore, hashConfig, trustedPath, type TrustRecord } from '../../config/trust-store.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import type { ConfigInvocation } from '../invocation.ts';
import { renderSettings } from '../render/config.ts';
import { reportJson } from '../render/json-lines.ts';
import { safeText } from '../render/safe-text.ts';
import { shellWord } from '../render/shell-word.ts';
import { renderConfigProblem, renderUsageProblem } from '../render/usage.ts';
import type { Stage } from '../session.ts';
import type { Terminal } from '../terminal.ts';
import { createVoice, type Voice } from '../voice.ts';

type Asked = { readonly terminal: Terminal; readonly voice: Voice; readonly invocation: ConfigInvocation };

/** `config trust`: allows a project's file to set everything, as long as its content stays the same. */
export async function runConfigTrust({ terminal }: Stage, invocation: ConfigInvocation): Promise<ExitCode> {
  const voice = await createVoice(terminal, invocation.manner);
  const asked = { terminal, voice, invocation };
  if (invocation.change === 'list') return listTrusted(asked);
  const path = findFile(asked);
  if (!path.ok) {
    voice.error(renderUsageProblem({ message: path.error, command: 'compact config' }));
    return EXIT_CODES.usage;
  }
  return invocation.change === 'revoke' ? revoke(asked, path.value) : trust(asked, path.value);
}

/** A folder stands for the file in it, as with direnv. */
function findFile({ terminal, invocation }: Asked): Result<string, string> {
  const { surroundings } = terminal;
  if (invocation.file === null) {
    const environment = { ...surroundings.environment, COMPACT_CONFIG: undefined };
    const { found } = findConfig({ ...surroundings, environment }, invocation.settings);
    return found?.place === 'project'
      ? ok(found.path)
      : err(`there is no ${PROJECT_FILE} in this folder or above it in the repository: name one`);
  }
  const path = resolve(surroundings.workingFolder, invocation.file);
  if (lookAtFolder(path)?.isDirectory() === true) return ok(join(path, PROJECT_FILE));
  if (basename(path) === PROJECT_FILE) return ok(path);
  return err(`only files named ${PROJECT_FILE} are found by themselves: what you name with --config needs no trust`);
}

/** Reads the file once, so that what is shown is what is recorded. */
async function trust({ terminal, voice, invocation }: Asked, path: string): Promise<ExitCode> {
  const read = await readConfigText({ path, place: 'project' }, terminal.surroundings);
  if (!read.ok) return refuse(voice, [renderConfigProblem(read.error)]);
  const parsed = parseConfig(read.value.text, path);
  if (!parsed.ok) return refuse(voice, parsed.error.map(renderConfigProblem));
  const record: TrustRecord = {
    path: trustedPath(path),
    sha256: hashConfig(read.value.bytes),
    trustedAt: new Date().toISOString(),
  };
  const rows = listFileSettings({ path, lines: parsed.value.lines }, parsed.value.values);
  if (!invocation.manner.json) voice.answer(renderSettings(rows, voice.answerTheme));
  const recorded = createTrustStore(terminal.surroundings).record(record);
  if (!recorded.ok) return refuse(voice, [`${safeText(recorded.error)}. Nothing is trusted.`]);
  if (invocation.manner.json) {
    const values = rows.map(({ table, key, value }) => ({ key: `${table}.${key}`, value }));
    voice.answerPiece(reportJson({ schema: 'compact/config-trust@1', result: 'trusted', ...record, values }));
  }
  const owner = read.value.owner === null ? '' : ` (${safeText(read.value.owner)})`;
  const file = invocation.file === null ? '' : ` ${shellWord(invocation.file)}`;
  const until = `After any change it has to be trusted again; \`${terminal.program()} config trust --revoke${file}\` takes trust back.`;
  voice.report([`${safeText(record.path)}: trusted as it stands${owner}. ${until}`]);
  return EXIT_CODES.done;
}

function revoke({ terminal, voice, invocation }: Asked, path: string): ExitCode {
  const revoked = createTrustStore(terminal.surroundings).revoke(trustedPath(path));
  if (!revoked.ok) return refuse(voice, [`${safeText(revoked.error)}.`]);
  const result = revoked.value ? 'revoked' : 'not-trusted';
  if (invocation.manner.json) voice.answerPiece(reportJson({ schema: 'compact/config-trust@1', result, path }));
  voice.report([`${safeText(path)}: ${revoked.value ? 'no longer trusted' : 'it was not trusted'}.`]);
  return EXIT_CODES.done;
}

async function listTrusted({ terminal, voice, invocation }: Asked): Promise<ExitCode> {
  const records = createTrustStore(terminal.surroundings).list();
  if (!records.ok) return refuse(voice, [`${safeText(records.error)}.`]);
  for (const record of records.value) {
    const state = await compareWithDisk(record, terminal);
    if (invocation.manner.json) {
      voice.answerPiece(reportJson({ schema: 'compact/config-trust@1', result: state, ...record }));
    } else voice.answer([`${safeText(record.path)}${state === 'trusted' ? '' : `  (${state} since)`}`]);
  }
  if (records.value.length === 0) voice.report(['No file is trusted.']);
  return EXIT_CODES.done;
}

async function compareWithDisk(
  { path, sha256 }: TrustRecord,
  { surroundings }: Terminal,
): Promise<'trusted' | 'changed' | 'gone'> {
  const read = await readConfigText({ path, place: 'project' }, surroundings);
  if (!read.ok) return 'gone';
  return hashConfig(read.value.bytes) === sha256 ? 'trusted' : 'changed';
}

function refuse(voice: Voice, lines: readonly string[]): ExitCode {
  for (const line of lines) voice.error(line);
  return EXIT_CODES.usage;
}
