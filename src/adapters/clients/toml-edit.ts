import { parse, TomlError } from 'smol-toml';
import { err, ok, type Result } from '../../core/result.ts';
import type { EditProblem, FileEdit } from '../../ports/clients.ts';

const BEGIN = '# >>> written by compact install';
const END = '# <<< compact install';

type TomlEditOptions = {
  readonly path: string;
  /** `mcp_servers.compact`: what is written under it belongs to the user if it has no marks around it. */
  readonly table: string;
  readonly lines: readonly string[];
};

/** Adds a table between two marks to the end of a TOML file, and removes it again. */
export function createTomlEdit({ path, table, lines }: TomlEditOptions): FileEdit {
  const block = [BEGIN, `[${table}]`, ...lines, END];
  const add = (text: string): string => {
    const eol = eolOf(text);
    const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
    return text + gap + block.map((line) => line + eol).join('');
  };
  const remove = (text: string): string => {
    const eol = eolOf(text);
    const whole = block.map((line) => line + eol).join('');
    const at = text.indexOf(whole);
    if (at >= 0) return text.slice(0, at).replace(/(?<=\n)\r?\n$/, '') + text.slice(at + whole.length);
    return removeLines(text, table);
  };
  return {
    path,
    inspect: (text) => {
      const root = parseToml(text ?? '');
      if (!root.ok) return root;
      const whole = block.join(eolOf(text ?? ''));
      if (text?.includes(whole) === true) return ok({ state: 'installed', taken: [] });
      if (text?.includes(BEGIN) === true) return ok({ state: 'changed', taken: [] });
      return ok({ state: 'absent', taken: hasTable(root.value, table) ? [table] : [] });
    },
    add: (text) => {
      const root = parseToml(text ?? '');
      if (!root.ok) return root;
      const bare = remove(text ?? '');
      const rest = parseToml(bare);
      if (!rest.ok) return rest;
      if (hasTable(rest.value, table)) return ok(bare);
      // A file that has the table's parent as an inline table cannot be extended.
      const added = add(bare);
      const result = parseToml(added);
      if (result.ok) return ok(added);
      return err({ ...result.error, problem: `[${table}] cannot be added to it: ${result.error.problem}` });
    },
    remove: (text) => {
      const rest = remove(text);
      return { text: rest, isEmpty: rest.trim() === '' };
    },
  };
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function parseToml(text: string): Result<object, EditProblem> {
  try {
    return ok(parse(text.replace(/^\uFEFF/, '')));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ''] = error.message.replace('Invalid TOML document: ', '').split('\n');
    return err({ line: error.line, column: error.column, problem: `it is not valid TOML (${reason})` });
  }
}

function hasTable(root: object, table: string): boolean {
  let value: unknown = root;
  for (const name of table.split('.')) {
    if (typeof value !== 'object' || value === null || !(name in value)) return false;
    value = Object.entries(value).find(([key]) => key === name)?.[1];
  }
  return true;
}

/** For a block that was edited: removes its marks and its table. Other tables that a client put between the marks stay. */
function removeLines(text: string, table: string): string {
  const lines = text.split(/(?<=\n)/);
  const begin = lines.findIndex((line) => line.trim() === BEGIN);
  if (begin < 0) return text;
  const isHeader = (line: string): boolean => line.trimStart().startsWith('[');
  const isManagedHeader = (line: string): boolean => {
    const name = /^\s*\[+\s*([^\]]*?)\s*\]/.exec(line)?.[1] ?? '';
    return name === table || name.startsWith(`${table}.`);
  };
  let isOurs = true;
  const kept = lines.filter((line, at) => {
    if (at < begin) return true;
    if (line.trim() === BEGIN || line.trim() === END) {
      isOurs = line.trim() === BEGIN;
      return false;
    }
    if (isHeader(line)) isOurs = isOurs && isManagedHeader(line);
    return !isOurs;
  });
  return kept.join('');
}
