import { isDeepStrictEqual } from 'node:util';
import {
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { err, ok, type Result } from '../../core/result.ts';
import type { EditProblem, FileEdit, Presence } from '../../ports/clients.ts';

/** A value of ours in a client's settings. */
export type JsonEntry = {
  /** The way to the value, or to the list that it is an item of. */
  readonly keys: readonly string[];
  readonly kind: 'value' | 'item';
  readonly value: object;
  /** Recognizes what this or another version of the program has written. */
  readonly isOurs: (value: unknown) => boolean;
  /** The ways within an item to what is ours in it; by default all of it. */
  readonly findParts?: (value: unknown) => readonly Way[];
};

type Way = readonly (string | number)[];

type JsonEditOptions = {
  readonly path: string;
  readonly entries: readonly JsonEntry[];
  /** The client accepts comments and trailing commas. */
  readonly allowsComments: boolean;
};

const BOM = '\uFEFF';
const EMPTY = '{}\n';

/** Adds values to a JSON file and removes them, and keeps comments, order, indentation, line ends and a BOM. */
export function createJsonEdit({ path, entries, allowsComments }: JsonEditOptions): FileEdit {
  const inspect = (text: string): Result<Presence, EditProblem> => {
    const root = parse(text, allowsComments);
    if (!root.ok) return root;
    const states: Presence['state'][] = [];
    const taken: string[] = [];
    for (const entry of entries) {
      const found = findEntry(text, root.value, entry);
      if (!found.ok) return found;
      if (found.value === 'taken') taken.push(entry.keys.join('.'));
      else states.push(found.value);
    }
    const [first = 'absent'] = states;
    return ok({ state: states.every((state) => state === first) ? first : 'changed', taken });
  };
  const remove = (text: string): Result<string, EditProblem> => {
    let rest = text;
    for (const entry of entries) {
      const root = parse(rest, allowsComments);
      if (!root.ok) return root;
      rest = removeEntry(rest, entry, root.value);
    }
    return ok(rest);
  };
  const add = (text: string): Result<string, EditProblem> => {
    let extended = text;
    for (const entry of entries) {
      const root = parse(extended, allowsComments);
      if (!root.ok) return root;
      const found = findEntry(extended, root.value, entry);
      if (!found.ok) return found;
      if (found.value !== 'taken') extended = insertEntry(extended, entry, root.value);
    }
    return ok(extended);
  };
  return {
    path,
    inspect: (text) => inspect(withoutBom(text ?? '')),
    add: (text) => {
      const bare = withoutBom(text ?? '');
      const present = inspect(bare);
      if (!present.ok) return present;
      if (present.value.state === 'installed') return ok(text ?? '');
      const removed = remove(bare);
      if (!removed.ok) return removed;
      const added = add(removed.value.trim() === '' ? EMPTY : removed.value);
      return added.ok ? ok(bomOf(text) + added.value) : added;
    },
    remove: (text) => {
      const removed = remove(withoutBom(text));
      if (!removed.ok) return removed;
      return ok({ text: bomOf(text) + removed.value, isEmpty: /^\s*(?:\{\s*\})?\s*$/.test(removed.value) });
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
function parse(text: string, allowsComments: boolean): Result<Node | null, EditProblem> {
  if (text.trim() === '') return ok(null);
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

function findEntry(
  text: string,
  root: Node | null,
  { keys, kind, value, isOurs }: JsonEntry,
): Result<Presence['state'] | 'taken', EditProblem> {
  if (root === null) return ok('absent');
  const misplaced = keys
    .slice(0, -1)
    .map((_, at) => keys.slice(0, at + 1))
    .map((parents) => ({ parents, node: findNodeAtLocation(root, [...parents]) }))
    .find(({ node }) => node !== undefined && node.type !== 'object');
  if (misplaced?.node !== undefined) {
    const problem = `"${misplaced.parents.join('.')}" is not an object`;
    return err({ ...positionOf(text, misplaced.node.offset), problem });
  }
  const node = findNodeAtLocation(root, [...keys]);
  if (node === undefined) return ok('absent');
  if (kind === 'value') {
    const found = valueOf(node);
    if (!isOurs(found)) return ok('taken');
    return ok(isDeepStrictEqual(found, value) ? 'installed' : 'changed');
  }
  if (node.type !== 'array') {
    return err({ ...positionOf(text, node.offset), problem: `"${keys.join('.')}" is not a list` });
  }
  const ours = (node.children ?? []).map(valueOf).filter(isOurs);
  if (ours.length === 0) return ok('absent');
  return ok(ours.length === 1 && isDeepStrictEqual(ours[0], value) ? 'installed' : 'changed');
}

/** `getNodeValue` makes objects without a prototype, which equal no others. */
function valueOf(node: Node): unknown {
  return JSON.parse(JSON.stringify(getNodeValue(node)));
}

function insertEntry(text: string, { keys, kind, value }: JsonEntry, root: Node | null): string {
  if (root === null) return text;
  const depth = keys.findLastIndex((_, at) => findNodeAtLocation(root, keys.slice(0, at + 1)) !== undefined) + 1;
  const container = depth === 0 ? root : findNodeAtLocation(root, keys.slice(0, depth));
  if (container === undefined) return text;
  const missing = keys.slice(depth);
  const [key, ...inner] = missing;
  const whole = inner.reduceRight<unknown>(
    (held, name) => ({ [name]: held }),
    kind === 'item' && missing.length > 0 ? [value] : value,
  );
  return insertChild(text, container, { key: key ?? null, value: whole });
}

/** Appends a member to an object or, without a key, an item to a list, in the style of what is around it. */
function insertChild(
  text: string,
  container: Node,
  { key, value }: { readonly key: string | null; readonly value: unknown },
): string {
  const last = container.children?.at(-1);
  const inside = text.slice(container.offset, endOf(container));
  const name = key === null ? '' : `${JSON.stringify(key)}: `;
  const isInline = last === undefined ? !text.trim().includes('\n') && text.trim() !== '{}' : !inside.includes('\n');
  const { commaEnd, contentEnd } = tokensAfter(text, last === undefined ? container.offset + 1 : endOf(last));
  const comma = last === undefined || commaEnd !== null ? '' : ',';
  const tail = last === undefined ? contentEnd : Math.max(contentEnd, commaEnd ?? endOf(last));
  const commaAt = last === undefined ? tail : endOf(last);
  if (isInline)
    return splice(text, {
      from: tail,
      to: tail,
      by: `${comma}${last === undefined ? '' : ' '}${name}${JSON.stringify(value)}`,
    });
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  const outer = indentOf(text, container.offset);
  const indent = last === undefined ? outer + unit : indentOf(text, last.offset);
  const json = JSON.stringify(value, null, unit).replaceAll('\n', eol + indent);
  const closing = last === undefined && /^[^\S\n]*[}\]]/.test(text.slice(tail)) ? eol + outer : '';
  const inserted = `${eol}${indent}${name}${json}${closing}`;
  const blank = closing === '' ? tail : tail + (/^[^\S\n]*/.exec(text.slice(tail))?.[0].length ?? 0);
  const extended = splice(text, { from: tail, to: blank, by: inserted });
  return splice(extended, { from: commaAt, to: commaAt, by: comma });
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

function indentOf(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';
}

function splice(
  text: string,
  { from, to, by }: { readonly from: number; readonly to: number; readonly by: string },
): string {
  return text.slice(0, from) + by + text.slice(to);
}

// Of the scanner's kinds of tokens; the package declares them as a const enum.
const COMMA = 5;
const LINE_COMMENT = 12;
const BLOCK_COMMENT = 13;
const BLANK: readonly number[] = [14, 15];

/** What follows a member: the end of its comma, and of the comments before the next member or bracket. */
function tokensAfter(text: string, offset: number): { readonly commaEnd: number | null; readonly contentEnd: number } {
  const scanner = createScanner(text, false);
  scanner.setPosition(offset);
  let commaEnd: number | null = null;
  let contentEnd = offset;
  for (;;) {
    const kind: number = scanner.scan();
    const end = scanner.getTokenOffset() + scanner.getTokenLength();
    if (kind === COMMA && commaEnd === null) commaEnd = end;
    else if (kind === LINE_COMMENT || kind === BLOCK_COMMENT) contentEnd = end;
    else if (!BLANK.includes(kind)) return { commaEnd, contentEnd };
  }
}

/** Removes what is ours, and objects and lists that are empty then. */
function removeEntry(text: string, { keys, kind, isOurs, findParts }: JsonEntry, root: Node | null): string {
  const node = root === null ? undefined : findNodeAtLocation(root, [...keys]);
  if (node === undefined) return text;
  if (kind === 'value') return isOurs(valueOf(node)) ? removeWithParents(text, keys) : text;
  let rest = text;
  const items = node.type === 'array' ? (node.children ?? []) : [];
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item === undefined || !isOurs(valueOf(item))) continue;
    const parts = findParts?.(valueOf(item)) ?? [[]];
    for (const way of parts.toReversed()) rest = removeWithParents(rest, [...keys, at, ...way]);
  }
  return rest;
}

function removeWithParents(text: string, way: Way): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const node = root === undefined ? undefined : findNodeAtLocation(root, [...way]);
  const child = typeof way.at(-1) === 'number' ? node : node?.parent;
  const container = child?.parent;
  if (child === undefined || container === undefined) return text;
  const siblings = container.children ?? [];
  const at = siblings.indexOf(child);
  const before = at === 0 ? undefined : siblings[at - 1];
  const { commaEnd } = tokensAfter(text, endOf(child));
  const opening = before === undefined ? container.offset + 1 : endOf(before);
  const leading = tokensAfter(text, opening);
  const from = Math.max(leading.contentEnd, leading.commaEnd ?? opening);
  const rest = splice(text, { from, to: commaEnd ?? endOf(child), by: '' });
  if (before !== undefined && commaEnd === null && leading.commaEnd !== null) {
    return splice(rest, { from: leading.commaEnd - 1, to: leading.commaEnd, by: '' });
  }
  if (siblings.length > 1) return rest;
  const blank = /^\s*(?=[}\]])/.exec(rest.slice(container.offset + 1))?.[0];
  const closed =
    blank === undefined
      ? rest
      : splice(rest, { from: container.offset + 1, to: container.offset + 1 + blank.length, by: '' });
  return blank === undefined || way.length < 2 ? closed : removeWithParents(closed, way.slice(0, -1));
}
