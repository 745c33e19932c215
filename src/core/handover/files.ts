import type { CompletedCall } from './calls.ts';
import { cutAtBlank } from './excerpt.ts';
import { charsOfAll, type HandoverLine, quoted, splitLines } from './line.ts';
import { declaredName, editedPlaces, IS_FILE } from './places.ts';
import { isAnnouncement, wordsIn, worthOfStatement } from './statements.ts';
import { readPieces } from './prose.ts';
import type { Edit, ToolCall } from './tool-call.ts';
import type { Turn } from './turns.ts';

/** What happened to a file in all calls that changed it. */
export type FileChange = {
  readonly path: string;
  readonly messageIds: readonly string[];
  /** The number of the request during which it was changed last. */
  readonly turn: number;
  /** Lines of the newest version that a call wrote as a whole; null: it was only edited. */
  readonly createdLines: number | null;
  /** Whether the last call that changed it deleted it. */
  readonly isDeleted: boolean;
  /** Lines that calls added and that no later call took away, in order. */
  readonly added: readonly string[];
  /** Lines that calls took away and that no later call put back. */
  readonly removed: readonly string[];
  /** Whether edits took back all that earlier ones wrote. */
  readonly isRestored: boolean;
  /** Single lines that were replaced by single lines, unless a later call changed them again. */
  readonly replaced: readonly { readonly before: string; readonly after: string }[];
};

/** The files that successful calls changed, the latest last. */
export function readFileChanges(calls: readonly CompletedCall[]): readonly FileChange[] {
  const files = new Map<string, Change[]>();
  for (const { call, messageIds, turn, hasFailed } of calls) {
    if (hasFailed) continue;
    for (const path of deletedPaths(call, [...files.keys()])) {
      files
        .get(path)
        ?.push({ messageId: messageIds[0] ?? '', turn, edits: [{ path, before: '', after: '', kind: 'deletion' }] });
    }
    const edits = Map.groupBy(call.edits, ({ path }) => path);
    for (const path of new Set(call.written)) {
      const changes = files.get(path) ?? [];
      changes.push({ messageId: messageIds[0] ?? '', turn, edits: edits.get(path) ?? [] });
      // Deleting first moves the path to the end.
      files.delete(path);
      files.set(path, changes);
    }
  }
  return [...files].map(([path, changes]) => changedFile(path, changes));
}

const REMOVES = /(?:^|[;&|\n])\s*(?:sudo |git )?rm\s+([^;&|\n]*)/g;
const MAX_COMMAND_CHARS = 10_000;

/** Which of the known files a command deletes, as far as it names them, or with its whole path a folder that they are in. */
function deletedPaths({ command, folder }: ToolCall, known: readonly string[]): readonly string[] {
  if (command === null || !/\brm\s/.test(command)) return [];
  const removed = [...command.slice(0, MAX_COMMAND_CHARS).matchAll(REMOVES)].flatMap(([, names = '']) =>
    names.split(/\s+/).filter((name) => !/^-|[*?$`{"']|^$|^\.{0,2}\/?$/.test(name)),
  );
  return removed.flatMap((name) => {
    const bare = name.replace(/^\.\//, '').replace(/\/+$/, '');
    const full = bare.startsWith('/') || folder === null ? bare : `${folder}/${bare}`;
    if (full.startsWith('/')) return known.filter((path) => path === full || path.startsWith(`${full}/`));
    const named = known.filter((path) => path === full || path.endsWith(`/${full}`));
    // Nobody knows which of several is meant.
    return named.length === 1 ? named : [];
  });
}

/** What one call did to a file. */
type Change = { readonly messageId: string; readonly turn: number; readonly edits: readonly Edit[] };

function changedFile(path: string, changes: readonly Change[]): FileChange {
  let createdLines: number | null = null;
  let isDeleted = false;
  const added = new Set<string>();
  const removed = new Set<string>();
  const replaced = new Map<string, string>();
  // Edits that no later one took back, by what they wrote and replaced.
  const standing = new Map<string, number>();
  let isTold = true;
  for (const { edits } of changes) {
    if (edits.length === 0) isTold = false;
    for (const { before, after, kind } of edits) {
      isDeleted = kind === 'deletion';
      if (kind !== 'part') {
        createdLines = isDeleted ? null : splitLines(after).length;
        for (const lines of [added, removed, replaced]) lines.clear();
        for (const line of isDeleted ? [] : linesIn(after)) added.add(line);
        isTold = false;
        continue;
      }
      const [undone, done] = [JSON.stringify([after, before]), JSON.stringify([before, after])];
      const count = standing.get(undone) ?? 0;
      if (count > 0) standing.set(undone, count - 1);
      else standing.set(done, (standing.get(done) ?? 0) + 1);
      const [gone, come] = [new Set(linesIn(before)), new Set(linesIn(after))];
      const [oldOnly, newOnly] = [
        [...gone].filter((line) => !come.has(line)),
        [...come].filter((line) => !gone.has(line)),
      ];
      for (const line of oldOnly) {
        if (!added.delete(line)) removed.add(line);
        replaced.delete(line);
      }
      for (const line of newOnly) if (!removed.delete(line)) added.add(line);
      const [[old], [written]] = [oldOnly, newOnly];
      if (old !== undefined && written !== undefined && oldOnly.length === 1 && newOnly.length === 1)
        replaced.set(written, old);
    }
  }
  return {
    path,
    messageIds: changes.map(({ messageId }) => messageId),
    turn: changes.at(-1)?.turn ?? 0,
    createdLines,
    isDeleted,
    isRestored: isTold && [...standing.values()].every((count) => count === 0),
    added: [...added],
    removed: [...removed],
    replaced: Array.from(replaced, ([after, before]) => ({ before, after })),
  };
}

function linesIn(text: string): readonly string[] {
  return splitLines(text).flatMap((line) => (/[\p{L}\p{N}]/u.test(line) ? [line.trim()] : []));
}

const TEST = /^(?:test|it|describe)\(\s*(['"`])(.{4,100}?)\1/;
const MARKDOWN_HEADING = /^#{1,3}\s+(.{2,60})$/;
const ASSIGNED =
  /^(?:export |const |let |var |static |final |public |private |val )*["']?([A-Za-z_][\w.-]{2,})["']?\s*(?::\s?[\w<>[\]| ]+)?\s*(?::=|=|:)\s*(["'`\d[-].{0,80}?)[;,]?$/;

function isCode(path: string): boolean {
  const name = baseName(path);
  return IS_FILE.test(name) || !name.includes('.');
}

/** The name that a line of a file declares, tests or heads; null: none. */
function nameIn(line: string, path: string): string | null {
  const declared = isCode(path) ? declaredName(line) : null;
  if (declared !== null) return `\`${declared}\``;
  const test = TEST.exec(line)?.[2];
  if (test !== undefined) return `“${test}”`;
  const heading = MARKDOWN_HEADING.exec(line)?.[1];
  return heading === undefined ? null : `“${heading}”`;
}

/** A value that has a name of its own: a constant, or an entry of a configuration file. A field of some literal has none. */
const CONSTANT =
  /^(?:export |static |final |public |private |readonly )*(?:const|val|final|static)\b|^[\s"']*[A-Z][A-Z\d_]{2,}\b/;
const IS_CONFIGURATION = /\.(?:ya?ml|toml|ini|env|json5?|properties|conf|cfg)$|(?:^|\/)\.\w+rc$/;

export function isConstant(line: string, path = ''): boolean {
  return line.length <= MAX_SIDE_CHARS && ASSIGNED.test(line) && (CONSTANT.test(line) || IS_CONFIGURATION.test(path));
}

const MAX_SIDE_CHARS = 100;
const MAX_NAMES = 6;
const MAX_VALUES = 3;
const MAX_DECLARATIONS = 4;
const MAX_SIGNATURE_CHARS = 160;
const MAX_STATEMENT_CHARS = 260;
const MIN_STATEMENT_WORDS = 5;
/** It says what was done or why. */
const MIN_STATEMENT_WORTH = 1.7;

/** Each changed file with the names in it that changed and what the assistant says of it, the latest last. */
export function writeFileLines(
  files: readonly FileChange[],
  { turns, calls, maxChars }: { turns: readonly Turn[]; calls: readonly CompletedCall[]; maxChars: number },
): readonly HandoverLine[] {
  const read = readLine(files, calls, Math.floor(maxChars * READ_SHARE));
  const changed = changeLines(files, { turns, calls, maxChars: maxChars - charsOfAll(read) });
  return [...changed, ...read];
}

const READ_SHARE = 0.3;

/** The files that were read and not changed, those read most often first. */
function readLine(
  files: readonly FileChange[],
  calls: readonly CompletedCall[],
  maxChars: number,
): readonly HandoverLine[] {
  const changed = new Set(files.map(({ path }) => path));
  const readers = calls.filter(
    ({ call, hasFailed }) =>
      !hasFailed &&
      call.command === null &&
      call.target !== null &&
      IS_PATH.test(call.target) &&
      !changed.has(call.target),
  );
  const byName = Map.groupBy(readers, ({ call }) => (call.target ?? '').split(/[/\\]/).slice(-2).join('/'));
  const counts = [...byName].toSorted(([, a], [, b]) => b.length - a.length);
  let left = maxChars - READ.length - 1;
  const names = counts.slice(0, MAX_READ_NAMES).flatMap(([short, ofName]) => {
    const name = `\`${short}\`${ofName.length > 1 ? ` ×${ofName.length}` : ''}`;
    if (name.length + 2 > left) return [];
    left -= name.length + 2;
    return [name];
  });
  if (names.length === 0) return [];
  if (counts.length > names.length) names.push(`and ${counts.length - names.length} more`);
  return [
    { text: READ + quoted(names.join(', ')), messageIds: readers.flatMap(({ messageIds }) => messageIds.slice(0, 1)) },
  ];
}

const READ = 'Read, not changed: ';
const MAX_READ_NAMES = 12;
const IS_PATH = /^[^\s*?|()]+\.\w{1,8}$/;

function changeLines(
  files: readonly FileChange[],
  { turns, calls, maxChars }: { turns: readonly Turn[]; calls: readonly CompletedCall[]; maxChars: number },
): readonly HandoverLine[] {
  const places = editedPlaces(calls);
  const folder = sharedFolder(files.map(({ path }) => path));
  const head: readonly HandoverLine[] = folder === '' ? [] : [{ text: `In ${quoted(folder)}:`, messageIds: [] }];
  const room = maxChars - charsOfAll(head);
  const statements = statementsOn(files, turns);
  const forms = files.map((file): readonly string[] => {
    const name = `- \`${quoted(file.path.slice(folder.length))}\``;
    const short = `${name}${countOf(file)}`;
    const statement = statements.get(file.path);
    const said = statement === undefined ? '' : ` — “${quoted(statement)}”`;
    const named = `${short}${namesOf(file)}`;
    const placed = named + placesOf(named, (isCode(file.path) && places.get(file.path)) || new Set());
    return [short, named, placed, placed + said, placed + said + declarationsOf(file)];
  });
  const chosen = forms.map(([short = '']) => short);
  let left = room - chosen.reduce((sum, text) => sum + text.length + 1, 0);
  let first = 0;
  // The newest files matter most; those that do not fit even by name are counted.
  while (left < 0 && first < chosen.length) left += (chosen[first++]?.length ?? 0) + 1;
  for (const form of [1, 2, 3, 4]) {
    for (let at = chosen.length - 1; at >= first; at -= 1) {
      const text = forms[at]?.[form];
      const more = (text?.length ?? 0) - (chosen[at]?.length ?? 0);
      if (text === undefined || more > left) continue;
      chosen[at] = text;
      left -= more;
    }
  }
  if (first === chosen.length) return [];
  const missing = first > 0 && left > 40 ? [{ text: `- ${first} more, changed earlier`, messageIds: [] }] : [];
  const lines = chosen.slice(first).map((text, at) => ({ text, messageIds: files[first + at]?.messageIds ?? [] }));
  return [...head, ...missing, ...lines];
}

function countOf({ createdLines, isDeleted, isRestored, messageIds: { length } }: FileChange): string {
  if (isDeleted) return ' (deleted)';
  if (createdLines !== null)
    return ` (written, ${createdLines} ${createdLines === 1 ? 'line' : 'lines'}${length > 1 ? `, ${length} calls` : ''})`;
  if (length === 1) return ' (edited)';
  return ` (edited ${length} times${isRestored ? ', and is as it was before' : ''})`;
}

function namesOf({ path, added, replaced, createdLines }: FileChange): string {
  const names = [...new Set(added.flatMap((line) => nameIn(line, path) ?? []))];
  if (names.length > 0) {
    const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
    return `: ${names.slice(0, MAX_NAMES).join(', ')}${more}`;
  }
  const values = added.filter((line) => isConstant(line, path) && !replaced.some(({ after }) => after === line));
  if (values.length > 0) return `: ${codeLines(values.slice(0, MAX_VALUES))}`;
  const last = replaced.at(-1);
  if (last !== undefined) {
    const same = sharedStart(last.before, last.after);
    const [before, after] = [last.before, last.after].map((side) =>
      cutAtBlank(same === 0 ? side : `…${side.slice(same)}`, MAX_SIDE_CHARS),
    );
    return `: \`${before}\` → \`${after}\``;
  }
  const line = added.find((each) => each.length <= MAX_SIDE_CHARS && !each.includes('`') && /\s/.test(each));
  return line === undefined || createdLines !== null ? '' : `: \`${line}\``;
}

/** The functions in which a file was changed, unless they are named already. */
function placesOf(named: string, places: ReadonlySet<string>): string {
  const names = [...places].filter((name) => !named.includes(`\`${name}\``)).map((name) => `\`${quoted(name)}\``);
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return names.length === 0 ? '' : `; in ${names.slice(-MAX_NAMES).join(', ')}${more}`;
}

/** Where two lines begin to differ, at a word near it; 0: early enough to show both from their beginning. */
function sharedStart(before: string, after: string): number {
  let same = 0;
  while (same < before.length && before.charAt(same) === after.charAt(same)) same += 1;
  const start = before.lastIndexOf(' ', same - MIN_CONTEXT_CHARS) + 1;
  return same < MAX_SIDE_CHARS / 2 || start <= 0 ? 0 : start;
}

const MIN_CONTEXT_CHARS = 15;

/** The signatures and constants that an edited file has now; of a new file, its names say enough. */
function declarationsOf({ path, added, createdLines }: FileChange): string {
  // The tests of a test file stand by their names.
  if (createdLines !== null || IS_TEST.test(path)) return '';
  const lines = added.filter(
    (line) =>
      line.length <= MAX_SIGNATURE_CHARS &&
      !line.includes('`') &&
      (SIGNATURE.test(line) || (nameIn(line, path) !== null && isConstant(line, path))),
  );
  return lines.length === 0 ? '' : `; has now ${codeLines([...new Set(lines)].slice(-MAX_DECLARATIONS))}`;
}

export const IS_TEST = /(?:^|[/\\._-])(?:tests?|specs?|__tests__)(?:[/\\._-]|$)/i;
/** It declares more than a name: parameters, fields or a type. */
const SIGNATURE =
  /^(?:export |default |pub(?:\(\w+\))? |public |private |protected |static |async |abstract |override )*(?:func(?:tion)?\*?|fn|def|class|interface|type)\s.*\(\S/;

function codeLines(lines: readonly string[]): string {
  return lines.map((line) => `\`${line.replace(/\s*[;,{:]+$/, '')}\``).join(', ');
}

const WORD = /[^\s`"'“”‘’()[\]{}<>*,;:/\\]+/g;
const MAX_FILE_NAME_CHARS = 255;

/** The assistant's newest statement that names each file. Of several files with one name, nobody knows which is meant. */
function statementsOn(files: readonly FileChange[], turns: readonly Turn[]): ReadonlyMap<string, string> {
  const byName = Map.groupBy(files, ({ path }) => baseName(path));
  const namedIn = (text: string): readonly FileChange[] =>
    Array.from(text.matchAll(WORD), ([word]) => word).flatMap((word) => {
      const name = word.length > MAX_FILE_NAME_CHARS ? '' : word.replace(/[.!?]+$/, '');
      const [file, other] = byName.get(name) ?? [];
      return file === undefined || other !== undefined ? [] : [file];
    });
  const found = new Map<string, string>();
  const used = new Set<string>();
  for (const { number, steps } of turns.toReversed()) {
    for (const step of steps.toReversed()) {
      if (step.kind !== 'said' || found.size === files.length) continue;
      if (namedIn(step.text).length === 0) continue;
      for (const { text } of readPieces(step.text)) {
        const bare = text.replace(/^(?:[-*+•]|\d{1,3}[.)])\s+/, '');
        if (wordsIn(bare) < MIN_STATEMENT_WORDS || worthOfStatement(bare) < MIN_STATEMENT_WORTH || used.has(bare))
          continue;
        if (isAnnouncement(bare) || bare.endsWith('?')) continue;
        // What was said before the last change may be over.
        const file = namedIn(bare).find(({ path, turn }) => !found.has(path) && number >= turn);
        if (file === undefined) continue;
        used.add(bare);
        found.set(file.path, cutAtBlank(bare, MAX_STATEMENT_CHARS));
      }
    }
  }
  return found;
}

/** Files by their last names; with their folders, where several have the same name. */
export function shortNames(paths: readonly string[]): readonly string[] {
  const counts = Map.groupBy(paths, baseName);
  return paths.map((path) => {
    const isUnique = (counts.get(baseName(path))?.length ?? 0) < 2;
    return `\`${isUnique ? baseName(path) : path.split(/[/\\]/).slice(-2).join('/')}\``;
  });
}

export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

function sharedFolder(paths: readonly string[]): string {
  const [first = '', ...others] = paths;
  if (others.length === 0) return '';
  let end = baseStart(first, first.length);
  for (const path of others) while (end > 0 && !path.startsWith(first.slice(0, end))) end = baseStart(first, end - 1);
  return end > 1 ? first.slice(0, end) : '';
}

/** Where the last name of the first `end` characters begins. */
function baseStart(path: string, end: number): number {
  let start = end;
  while (start > 0 && path.charAt(start - 1) !== '/' && path.charAt(start - 1) !== '\\') start -= 1;
  return start;
}
