import { isDeepStrictEqual } from 'node:util';
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
  visit,
} from 'jsonc-parser';
import { err, ok, type Result } from '../../core/result.ts';
import type { EditProblem, FileEdit, Presence } from '../../ports/clients.ts';

/** A value of ours in a client's settings. */
export type JsonEntry = {
  /** The path to the value, or to the list that it is an item of. */
  readonly keys: readonly string[];
  readonly kind: 'value' | 'item';
  readonly value: object;
  /** Recognizes what this or another version of the program has written. */
  readonly isOurs: (value: unknown) => boolean;
  /** The paths within an item to what is ours in it; by default all of it. */
  readonly findParts?: (value: unknown) => readonly Path[];
};

type Path = readonly (string | number)[];

type JsonEditOptions = {
  readonly path: string;
  readonly entries: readonly JsonEntry[];
  /** The client accepts comments and trailing commas. */
  readonly allowsComments: boolean;
};

const BOM = '\uFEFF';
const EMPTY = '{}\n';

/**
 * Adds values to a JSON file and removes them, and keeps comments, order, indentation, line ends and a BOM. `modify` of jsonc-parser drops the
 * comments beside what it removes, and does not always leave the bytes around it.
 */
export function createJsonEdit({ path, entries, allowsComments }: JsonEditOptions): FileEdit {
  const inspect = (text: string): Result<Presence, EditProblem> => {
    const root = parse(text, allowsComments);
    if (!root.ok) return root;
    const problem = entries.map((entry) => findMisplaced(text, root.value, entry)).find((one) => one !== null);
    if (problem !== undefined && problem !== null) return err(problem);
    const found = entries.map((entry) => ({ entry, state: stateOf(root.value, entry) }));
    const states = new Set(found.flatMap(({ state }) => (state === 'taken' ? [] : state)));
    const [first = 'absent'] = states;
    const taken = found.flatMap(({ entry, state }) => (state === 'taken' ? entry.keys.join('.') : []));
    return ok({ state: states.size > 1 ? 'changed' : first, taken });
  };
  return {
    path,
    inspect: (text) => inspect(withoutBom(text ?? '')),
    add: (text) => {
      const bare = withoutBom(text ?? '');
      const present = inspect(bare);
      if (!present.ok) return present;
      if (present.value.state === 'installed') return ok(text ?? '');
      const removed = entries.reduce(removeEntry, bare);
      const extended = entries.reduce(insertEntry, removed.trim() === '' ? EMPTY : removed);
      const result = parse(extended, allowsComments);
      return result.ok ? ok(bomOf(text) + extended) : result;
    },
    remove: (text) => {
      const removed = entries.reduce(removeEntry, withoutBom(text));
      return { text: bomOf(text) + removed, isEmpty: /^\s*(?:\{\s*\})?\s*$/.test(removed) };
    },
  };
}

function bomOf(text: string | null): string {
  return text?.startsWith(BOM) === true ? BOM : '';
}

function withoutBom(text: string): string {
  return text.slice(bomOf(text).length);
}

/** An object at the top, or nothing in a file without text. */
function parse(text: string, allowsComments: boolean): Result<Node | undefined, EditProblem> {
  if (text.trim() === '') return ok(undefined);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: allowsComments, disallowComments: !allowsComments });
  const [first] = errors;
  if (first !== undefined) {
    const problem = `it is not valid JSON (${toWords(printParseErrorCode(first.error))})`;
    return err({ ...positionOf(text, first.offset), problem });
  }
  if (root?.type !== 'object') return err({ line: 1, column: 1, problem: 'it does not hold a JSON object' });
  return ok(root);
}

/** "PropertyNameExpected" → "property name expected". */
function toWords(name: string): string {
  return name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
}

function positionOf(text: string, offset: number): Pick<EditProblem, 'line' | 'column'> {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function nodeAt(root: Node | undefined, path: Path): Node | undefined {
  return root === undefined ? undefined : findNodeAtLocation(root, [...path]);
}

/** Something of another kind in the place of the objects around a value, or of a list of items. */
function findMisplaced(text: string, root: Node | undefined, { keys, kind }: JsonEntry): EditProblem | null {
  for (const at of keys.keys()) {
    const path = keys.slice(0, at + 1);
    const node = nodeAt(root, path);
    const wanted = path.length < keys.length ? 'object' : kind === 'item' ? 'array' : node?.type;
    if (node === undefined || node.type === wanted) continue;
    const problem = `"${path.join('.')}" is not ${wanted === 'object' ? 'an object' : 'a list'}`;
    return { ...positionOf(text, node.offset), problem };
  }
  return null;
}

function stateOf(root: Node | undefined, { keys, kind, value, isOurs }: JsonEntry): Presence['state'] | 'taken' {
  const node = nodeAt(root, keys);
  if (node === undefined) return 'absent';
  const values = kind === 'item' ? (node.children ?? []).map(valueOf) : [valueOf(node)];
  const [ours, ...others] = values.filter(isOurs);
  if (ours === undefined) return kind === 'item' ? 'absent' : 'taken';
  return others.length === 0 && isDeepStrictEqual(ours, value) ? 'installed' : 'changed';
}

/** `getNodeValue` makes objects without a prototype, which equal no others. */
function valueOf(node: Node): unknown {
  return JSON.parse(JSON.stringify(getNodeValue(node)));
}

function reparse(text: string): Node | undefined {
  return parseTree(text, [], { allowTrailingComma: true });
}

function insertEntry(text: string, entry: JsonEntry): string {
  const { keys, kind, value } = entry;
  const root = reparse(text);
  if (root === undefined || stateOf(root, entry) === 'taken') return text;
  const depth = keys.findLastIndex((_, at) => nodeAt(root, keys.slice(0, at + 1)) !== undefined) + 1;
  const [key = null, ...inner] = keys.slice(depth);
  const whole = inner.reduceRight<unknown>(
    (held, name) => ({ [name]: held }),
    kind === 'item' && key !== null ? [value] : value,
  );
  return insertChild(text, nodeAt(root, keys.slice(0, depth)) ?? root, { key, value: whole });
}

/** Appends a member to an object or, without a key, an item to a list, in the style of what is around it. */
function insertChild(
  text: string,
  container: Node,
  { key, value }: { readonly key: string | null; readonly value: unknown },
): string {
  const last = container.children?.at(-1);
  const from = last === undefined ? container.offset + 1 : endOf(last);
  const { comma, end } = gapAfter(text, from);
  const separator = last === undefined || comma !== null ? '' : ',';
  const name = key === null ? '' : `${JSON.stringify(key)}: `;
  const around = last === undefined ? text.trim() : text.slice(container.offset, endOf(container));
  if (!around.includes('\n') && around !== '{}') {
    const gap = last === undefined ? '' : ' ';
    return `${text.slice(0, end)}${separator}${gap}${name}${JSON.stringify(value)}${text.slice(end)}`;
  }
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  const outer = indentOf(text, container.offset);
  const indent = last === undefined ? outer + unit : indentOf(text, last.offset);
  const json = JSON.stringify(value, null, unit).replaceAll('\n', eol + indent);
  const rest = text.slice(end);
  const [closing = null] = last === undefined ? (/^[^\S\n]*(?=[}\]])/.exec(rest) ?? []) : [];
  const tail = closing === null ? rest : eol + outer + rest.slice(closing.length);
  return `${text.slice(0, from)}${separator}${text.slice(from, end)}${eol}${indent}${name}${json}${tail}`;
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

function indentOf(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';
}

function cut(text: string, from: number, to: number): string {
  return text.slice(0, from) + text.slice(to);
}

/** What stands before the next member or bracket: its comma, where that and comments end, and whether what follows needs a new line. */
function gapAfter(text: string, from: number) {
  let rest = text.slice(from);
  const lineCommentEnds = new Set<number>();
  const blankOut = (at: number, length: number): void => {
    if (at < from) return;
    rest = rest.slice(0, at - from) + ' '.repeat(length) + rest.slice(at - from + length);
    if (text.startsWith('//', at)) lineCommentEnds.add(at + length);
  };
  visit(text, { onComment: blankOut });
  const [gap = ''] = /^[\s,]*/.exec(rest) ?? [];
  const comma = gap.indexOf(',');
  const end = from + text.slice(from, from + gap.length).trimEnd().length;
  return { comma: comma < 0 ? null : from + comma, end, endsWithLineComment: lineCommentEnds.has(end) };
}

/** Removes what is ours, and objects and lists that are empty then. */
function removeEntry(text: string, { keys, kind, isOurs, findParts }: JsonEntry): string {
  const node = nodeAt(reparse(text), keys);
  if (node === undefined) return text;
  if (kind === 'value') return isOurs(valueOf(node)) ? removeWithParents(text, keys) : text;
  const paths = (node.children ?? []).flatMap((item, at) => {
    const value = valueOf(item);
    return isOurs(value) ? (findParts?.(value) ?? [[]]).map((path): Path => [...keys, at, ...path]) : [];
  });
  return paths.reduceRight(removeWithParents, text);
}

function removeWithParents(text: string, path: Path): string {
  const node = nodeAt(reparse(text), path);
  const child = typeof path.at(-1) === 'number' ? node : node?.parent;
  const container = child?.parent;
  if (child === undefined || container === undefined) return text;
  const siblings = container.children ?? [];
  const before = siblings[siblings.indexOf(child) - 1];
  const { comma } = gapAfter(text, endOf(child));
  const leading = gapAfter(text, before === undefined ? container.offset + 1 : endOf(before));
  const after = text.slice(comma === null ? endOf(child) : comma + 1);
  const gap = leading.endsWithLineComment && !/^\s*\n/.test(after) ? '\n' : '';
  const rest = text.slice(0, leading.end) + gap + after;
  if (before !== undefined && comma === null && leading.comma !== null) {
    return cut(rest, leading.comma, leading.comma + 1);
  }
  if (siblings.length > 1) return rest;
  const inside = container.offset + 1;
  const blank = /^\s*(?=[}\]])/.exec(rest.slice(inside))?.[0];
  if (blank === undefined) return rest;
  const closed = cut(rest, inside, inside + blank.length);
  return path.length < 2 ? closed : removeWithParents(closed, path.slice(0, -1));
}
