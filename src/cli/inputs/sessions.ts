import { realpathSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { ScanReport } from '../../app/survey/scan-file.ts';
import { toModel } from '../../config/resolve.ts';
import { ID_DIGITS, isOtherAgent, OPENCODE_ID } from '../../core/paths.ts';
import type { Result } from '../../core/result.ts';
import { formatCount } from '../../messages/quantities.ts';
import { fitText, safeText, shellWord, textWidth } from '../../messages/text.ts';
import { programOf } from '../../ports/codec.ts';
import { orElse } from '../../system/files.ts';
import { findProgram } from '../program-name.ts';
import { workOnFiles } from '../pool/work-on-files.ts';
import { formatAge } from '../render/scan.ts';
import { policyOf } from '../runs/compact.ts';
import type { Session } from '../session.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from '../terminal/exit-codes.ts';
import { isCi } from '../render/theme.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { findScanned, gatherInputs, type ReadyInput, type ScannedFile } from './gather.ts';
import { findNothing } from './inputs.ts';
import { type Exported, exportSession } from './opencode.ts';

const MIN_ID_DIGITS = 4;
const ID_START = new RegExp(`^[0-9a-f]{${MIN_ID_DIGITS}}[0-9a-f-]*$`, 'i');

/** For commands that call `chooseSession`. */
export const SESSION_OPERANDS = {
  syntax: '[session...]',
  description:
    "a path, an id's first digits, or words of the title or the project's folder; without any, the newest of this folder",
};

/** `exported`: OpenCode has printed it for us. */
export type ChosenSession = ReadyInput & { readonly exported?: Exported };

/**
 * The session that these words name: by a path, by the first digits of its id, by an id of OpenCode, or by words of its title and its
 * project's folder. Without words it is the newest of this folder. If several are meant, a person at a terminal chooses. A number is an exit
 * code: the command is over.
 */
export async function chooseSession(
  session: Session,
  words: readonly string[],
  { isCaptured }: { readonly isCaptured: boolean },
): Promise<ChosenSession | ExitCode> {
  const [word = '', ...more] = words;
  if (more.length === 0 && OPENCODE_ID.test(word))
    return takeExported(session, await exportSession(session, word, { isCaptured }));
  // A word that exists, or that cannot be an id or a title.
  const namesFile = word === '-' || /[/\\]|\.\w+$/.test(word) || (word !== '' && (await findNothing(word)) === null);
  if (namesFile && more.length === 0) return openNamed(session, word);
  const scanned = await findScanned(session, { operands: [] });
  if (typeof scanned === 'number') return scanned;
  const times = new Map(scanned.files.map(({ path }) => [path, orElse(0, () => statSync(path).mtimeMs)]));
  const files = scanned.files
    .filter(({ path }) => !isOtherAgent(path))
    .toSorted((a, b) => (times.get(b.path) ?? 0) - (times.get(a.path) ?? 0));
  if (words.length === 0) return chooseHere(session, files);
  const id = word.toLowerCase();
  const byId = ID_START.test(word) ? files.filter(({ sessionId }) => sessionId?.startsWith(id) === true) : [];
  if (byId.length > 0 && more.length === 0) return chooseOf(session, byId, `several sessions' ids begin with ${word}`);
  const rows = await describeAll(session, files);
  const named = rows.filter(({ title, project }) => matchesAll(`${title ?? ''} ${basename(project ?? '')}`, words));
  if (named.length === 0) {
    const ways = `a path, ${MIN_ID_DIGITS} or more digits of its id, or words of its title or folder`;
    const to = session.useCases.listPrograms().find(({ command }) => more.length > 0 && command === words.at(-1));
    const started = to === undefined ? '' : `; to start ${to.title}, use 'compact handoff' with --to ${to.command}`;
    return session.refuse(
      `no session is named '${words.join(' ')}': give ${ways} ('compact scan' lists them)${started}`,
    );
  }
  return chooseRow(session, named, 'several sessions have these words in their titles or folders');
}

async function openNamed(session: Session, word: string): Promise<ReadyInput | ExitCode> {
  const gathered = await gatherInputs(session, { operands: [word] }, { skipsCompacted: false });
  if (typeof gathered === 'number') return gathered;
  const [input, ...others] = gathered.inputs;
  const hint = `'compact scan ${shellWord(word)}' lists those in a folder`;
  if (others.length > 0) return session.refuse(`${word}: this takes one session (${hint})`);
  return input ?? (gathered.failures.length > 0 ? EXIT_CODES.failed : EXIT_CODES.done);
}

/** So many sessions of a folder are offered. */
const MAX_OFFERED = 50;

async function chooseHere(session: Session, files: readonly ScannedFile[]): Promise<ReadyInput | ExitCode> {
  const { useCases, terminal } = session;
  const here = realFolder(terminal.host.workingFolder);
  const most = canAsk(terminal) ? MAX_OFFERED : 1;
  const found: ScannedFile[] = [];
  for (const file of files) {
    if (terminal.signal.aborted) return interruptionCode(terminal.signal);
    const input = { path: file.path, name: file.name, format: null, refusesLinks: true };
    const located = await useCases.locateSession({ input, findsUser: false });
    const folder = located.ok ? (located.value.place?.folder ?? null) : null;
    if (folder !== null && realFolder(folder) === here) found.push(file);
    if (found.length === most) break;
  }
  if (found.length > 0) return chooseOf(session, found, 'several sessions were held in this folder');
  const hasOpenCode = findProgram('opencode', terminal.host, terminal.host.workingFolder) !== null;
  const others = hasOpenCode ? ", 'opencode session list' those of OpenCode" : '';
  return session.refuse(`no session was held in this folder: name one ('compact scan' lists them${others})`);
}

function realFolder(folder: string): string {
  return orElse(folder, () => realpathSync(folder));
}

async function chooseOf(session: Session, files: readonly ScannedFile[], several: string) {
  const [first] = files;
  if (first !== undefined && files.length === 1) return toInput(first.path);
  return chooseRow(session, await describeAll(session, files), several);
}

async function chooseRow(session: Session, rows: readonly ScanReport[], several: string) {
  const { terminal, reporter, useCases } = session;
  const [first] = rows;
  if (first !== undefined && rows.length === 1) return toInput(first.file);
  const titleOf = (row: ScanReport): string => safeText(row.title ?? row.file);
  const longest = Math.max(...rows.map((row) => textWidth(titleOf(row))));
  const columns = Math.max(MIN_TITLE_COLUMNS, Math.min(longest, terminal.stderr.widthColumns - OTHER_COLUMNS));
  const choices = rows.map((row) => ({
    value: row.file,
    label: [
      fitText(titleOf(row), columns),
      fitText(formatAge(Date.now() - Date.parse(row.at ?? row.modified)), AGE_COLUMNS, 'right'),
      fitText(`${formatCount(row.tokens.before)} tokens`, TOKEN_COLUMNS, 'right'),
      programOf(useCases.listFormats(), row.format) ?? row.format,
    ].join('  '),
    hint: (row.id ?? '').slice(0, ID_DIGITS),
  }));
  if (!canAsk(terminal)) {
    const code = session.refuse(`${several}: type more of the id or the title`);
    reporter.error(choices.map(({ label, hint }) => `  ${hint}  ${label}`).join('\n'));
    return code;
  }
  reporter.progress.clear();
  const chosen = await pick(terminal, choices);
  return chosen === null ? EXIT_CODES.interrupted : toInput(chosen);
}

const MIN_TITLE_COLUMNS = 20;
const AGE_COLUMNS = 4;
const TOKEN_COLUMNS = 16;
/** Of the other cells, what is between them, and what the list draws around them. */
const OTHER_COLUMNS = 56;

/** What OpenCode has printed, under the name that it has there. */
export function takeExported(
  { reporter, terminal }: Session,
  exported: Result<Exported, string>,
): ChosenSession | ExitCode {
  if (exported.ok) return { ...toInput(exported.value.path, exported.value.id), exported: exported.value };
  if (!terminal.signal.aborted) reporter.error(exported.error);
  return EXIT_CODES.failed;
}

function toInput(path: string, name = path): ReadyInput {
  return { path, name, pathInFolder: path, pathInOperand: path, isNamed: true, refusesLinks: true };
}

/** A file that cannot be read is no session. */
async function describeAll(session: Session, files: readonly ScannedFile[]): Promise<readonly ScanReport[]> {
  const rows: ScanReport[] = [];
  const request = { policy: policyOf(session, {}), ...toModel(session.settings) };
  await workOnFiles(session, {
    items: files,
    jobs: null,
    work: ({ path, name }, useCases, progress) =>
      useCases.scanFile({ ...request, input: { path, name, format: null, refusesLinks: true } }, progress),
    report: (done, { sessionId, project }) => {
      if (!done.ok || done.value === null) return;
      rows.push({ ...done.value, id: sessionId ?? done.value.id, project: done.value.project ?? project });
    },
  });
  return rows;
}

/** Whether a person can be asked: somebody sits at the terminal and sees what is printed. */
function canAsk({ stdin, stderr, host }: Terminal): boolean {
  return stdin.kind === 'terminal' && stderr.isTerminal && !isCi(host.environment['CI'] ?? '');
}

/** Lets a person choose one; typing filters them. Null: none was chosen. The list is shown on stderr, so that stdout stays the answer. */
async function pick(
  { signal, dialog }: Terminal,
  choices: readonly { readonly value: string; readonly label: string; readonly hint: string }[],
): Promise<string | null> {
  const { autocomplete, isCancel } = await import('@clack/prompts');
  const chosen = await autocomplete({
    message: 'Which session?',
    options: [...choices],
    filter: (search, { label = '', hint = '' }) => matchesAll(`${label} ${hint}`, search.split(/\s+/)),
    maxItems: MAX_SHOWN,
    placeholder: 'type to filter',
    ...dialog(),
    signal,
  });
  return isCancel(chosen) ? null : chosen;
}

const MAX_SHOWN = 12;

/** Whether a text contains all of these words, in any order and case. */
function matchesAll(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word.toLowerCase()));
}
