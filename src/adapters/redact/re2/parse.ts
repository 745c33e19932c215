import { err, ok } from '../../../core/result.ts';
import type { Result } from '../../../core/result.ts';
import { foldedSet, negated, rangeSet } from './char-set.ts';
import type { CharSet } from './char-set.ts';
import { classAt } from './parse-class.ts';
import { createReader } from './reader.ts';
import type { Reader } from './reader.ts';
import type { Assertion, Flags, Node, SyntaxProblem } from './syntax.ts';

/** A tree, its number of groups, and their names. */
export type Expression = { readonly node: Node; readonly groupCount: number };

const NO_FLAGS: Flags = { ignoresCase: false, isMultiline: false, dotMatchesLineEnd: false, isUngreedy: false };
const MAX_REPEATS = 1000; // Go's own bound

/**
 * Reads a regular expression of Go's syntax (https://pkg.go.dev/regexp/syntax), which knows no references back and no looking around, so that it can be
 * matched in time that grows with the text only.
 */
export function parseExpression(source: string): Result<Expression, SyntaxProblem> {
  const reader = createReader(source);
  const groups = { count: 0 };
  const { node } = readChoice(reader, groups, NO_FLAGS);
  if (!reader.isAtEnd()) reader.fail('closes a group that is not open');
  const problem = reader.problem();
  return problem === null ? ok({ node, groupCount: groups.count }) : err(problem);
}

type Groups = { count: number };
type Read = { readonly node: Node; readonly flags: Flags };

/** Up to the end of the group; flags that are set inside hold from there to its end, over `|` too. */
function readChoice(reader: Reader, groups: Groups, outer: Flags): Read {
  const nodes: Node[] = [];
  let flags = outer;
  do {
    const read = readSequence(reader, groups, flags);
    flags = read.flags;
    nodes.push(read.node);
  } while (reader.take('|'));
  const [only] = nodes;
  return { node: nodes.length === 1 && only !== undefined ? only : { kind: 'choice', nodes }, flags };
}

function readSequence(reader: Reader, groups: Groups, outer: Flags): Read {
  const nodes: Node[] = [];
  let flags = outer;
  while (!reader.isAtEnd() && !reader.sees('|') && !reader.sees(')')) {
    const changed = readFlags(reader, flags);
    if (changed !== null) {
      flags = changed;
      continue;
    }
    if (reader.take('\\Q')) {
      const letters = readQuoted(reader, flags);
      nodes.push(...letters.slice(0, -1));
      const last = letters.at(-1);
      if (last !== undefined) nodes.push(readRepeats(reader, last, flags));
      continue;
    }
    nodes.push(readRepeats(reader, readAtom(reader, groups, flags), flags));
  }
  return { node: { kind: 'sequence', nodes }, flags };
}

const FLAGS = /\(\?([imsU]*)(?:-([imsU]+))?([:)])/y;

/** `(?i)`: for the rest of the group. Null: there is none here. */
function readFlags(reader: Reader, flags: Flags): Flags | null {
  const match = reader.match(FLAGS);
  if (match === null || match[3] !== ')') return null;
  reader.skip(match[0].length);
  return withFlags(flags, match);
}

function withFlags(flags: Flags, [, on = '', off = '']: RegExpExecArray): Flags {
  const isOn = (letter: string, before: boolean): boolean =>
    off.includes(letter) ? false : on.includes(letter) || before;
  return {
    ignoresCase: isOn('i', flags.ignoresCase),
    isMultiline: isOn('m', flags.isMultiline),
    dotMatchesLineEnd: isOn('s', flags.dotMatchesLineEnd),
    isUngreedy: isOn('U', flags.isUngreedy),
  };
}

function readAtom(reader: Reader, groups: Groups, flags: Flags): Node {
  if (reader.sees('(')) return readGroup(reader, groups, flags);
  if (reader.sees('[')) return setNode(classAt(reader, flags.ignoresCase));
  if (reader.take('.')) return setNode(flags.dotMatchesLineEnd ? ANYTHING : NO_LINE_END);
  if (reader.take('^')) return assertion(flags.isMultiline ? 'line-start' : 'text-start');
  if (reader.take('$')) return assertion(flags.isMultiline ? 'line-end' : 'text-end');
  for (const [sign, what] of ASSERTIONS) if (reader.take(sign)) return assertion(what);
  if (reader.sees('*') || reader.sees('+') || reader.sees('?')) {
    reader.fail('repeats nothing');
    return { kind: 'empty' };
  }
  if (reader.sees('\\')) {
    const set = reader.escapedClass();
    if (set !== null) return setNode(set);
  }
  return literal(reader.character(), flags);
}

const ANYTHING = rangeSet([[0, 0x10ffff]]);
const NO_LINE_END = negated(rangeSet([[10, 10]]));
const ASSERTIONS: readonly (readonly [string, Assertion])[] = [
  ['\\A', 'text-start'],
  ['\\z', 'text-end'],
  ['\\b', 'word-edge'],
  ['\\B', 'no-word-edge'],
];

function readGroup(reader: Reader, groups: Groups, flags: Flags): Node {
  const withOwnFlags = reader.match(FLAGS);
  const named = reader.match(/\(\?P?<([A-Za-z_]\w*)>/y);
  const opening = withOwnFlags ?? named;
  if (opening === null && reader.sees('(?')) {
    reader.fail('uses `(?…`, which Go has not (it cannot look around)');
    return { kind: 'empty' };
  }
  reader.skip(opening === null ? 1 : opening[0].length);
  const isNumbered = withOwnFlags === null;
  if (isNumbered) groups.count += 1;
  const index = groups.count;
  const inner = withOwnFlags === null ? flags : withFlags(flags, withOwnFlags);
  const { node } = readChoice(reader, groups, inner);
  if (!reader.take(')')) reader.fail('opens a group that it does not close');
  return isNumbered ? { kind: 'group', index, node } : node;
}

const REPEAT = /\{(\d{1,9})(?:(,)(\d{1,9})?)?\}/y;

function readRepeats(reader: Reader, node: Node, { isUngreedy }: Flags): Node {
  const bounds = readBounds(reader);
  if (bounds === null) return node;
  const isGreedy = reader.take('?') === isUngreedy;
  if (readBounds(reader) !== null) reader.fail('repeats what is repeated already');
  const { min, max } = bounds;
  if (min > MAX_REPEATS || (max !== Infinity && max > MAX_REPEATS) || min > max) {
    reader.fail(`repeats more than ${MAX_REPEATS} times, or backwards`);
  }
  return { kind: 'repeat', node, min, max, isGreedy };
}

/** Braces that bound nothing are literal. */
function readBounds(reader: Reader): { readonly min: number; readonly max: number } | null {
  if (reader.take('*')) return { min: 0, max: Infinity };
  if (reader.take('+')) return { min: 1, max: Infinity };
  if (reader.take('?')) return { min: 0, max: 1 };
  const match = reader.match(REPEAT);
  if (match === null) return null;
  reader.skip(match[0].length);
  const min = Number(match[1]);
  return { min, max: match[3] !== undefined ? Number(match[3]) : match[2] === undefined ? min : Infinity };
}

function readQuoted(reader: Reader, flags: Flags): readonly Node[] {
  return Array.from(reader.until('\\E'), (letter) => literal(letter.codePointAt(0) ?? 0, flags));
}

function literal(codePoint: number, { ignoresCase }: Flags): Node {
  const set = rangeSet([[codePoint, codePoint]]);
  return setNode(ignoresCase ? foldedSet(set) : set);
}

function setNode(set: CharSet): Node {
  return { kind: 'set', set };
}

function assertion(what: Assertion): Node {
  return { kind: 'assert', what };
}
