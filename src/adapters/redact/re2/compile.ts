import { err, ok } from '../../../core/result.ts';
import type { Result } from '../../../core/result.ts';
import type { CharSet } from './char-set.ts';
import type { Expression } from './parse.ts';
import type { Assertion, Node, SyntaxProblem } from './syntax.ts';
import { assertNever } from '../../../core/result.ts';

/** split: first `next`, then `other`. save: the place goes to `slot`. */
type Instruction =
  | { readonly op: 'set'; readonly set: CharSet }
  | { readonly op: 'assert'; readonly what: Assertion }
  | { readonly op: 'split'; next: number; other: number }
  | { readonly op: 'jump'; next: number }
  | { readonly op: 'save'; readonly slot: number }
  | { readonly op: 'match' };

/** What follows an instruction that names no other is the next one. Slots 0 and 1 are the whole match. */
export type Program = { readonly instructions: readonly Instruction[]; readonly slotCount: number };

// A matcher visits at most all of them at each character.
const MAX_INSTRUCTIONS = 8_000;

export function compileExpression({ node, groupCount }: Expression): Result<Program, SyntaxProblem> {
  const instructions: Instruction[] = [];
  const isComplete = emit({ kind: 'group', index: 0, node }, instructions);
  if (!isComplete) return err({ problem: 'is too large with its repetitions written out', at: 0 });
  instructions.push({ op: 'match' });
  return ok({ instructions, slotCount: 2 * (groupCount + 1) });
}

/** False: it became too large. */
function emit(node: Node, code: Instruction[]): boolean {
  if (code.length > MAX_INSTRUCTIONS) return false;
  switch (node.kind) {
    case 'empty':
      return true;
    case 'set':
      code.push({ op: 'set', set: node.set });
      return true;
    case 'assert':
      code.push({ op: 'assert', what: node.what });
      return true;
    case 'group': {
      code.push({ op: 'save', slot: 2 * node.index });
      const isComplete = emit(node.node, code);
      code.push({ op: 'save', slot: 2 * node.index + 1 });
      return isComplete;
    }
    case 'sequence':
      return node.nodes.every((one) => emit(one, code));
    case 'choice':
      return emitChoice(node.nodes, code);
    case 'repeat':
      return emitRepeat(node, code);
    default:
      return assertNever(node);
  }
}

function emitChoice(nodes: readonly Node[], code: Instruction[]): boolean {
  const jumps: { op: 'jump'; next: number }[] = [];
  const isComplete = nodes.every((node, index) => {
    if (index === nodes.length - 1) return emit(node, code);
    const split = pushSplit(code);
    split.next = code.length;
    const isWhole = emit(node, code);
    const jump = { op: 'jump' as const, next: 0 };
    code.push(jump);
    jumps.push(jump);
    split.other = code.length;
    return isWhole;
  });
  for (const jump of jumps) jump.next = code.length;
  return isComplete;
}

function emitRepeat({ node, min, max, isGreedy }: Extract<Node, { kind: 'repeat' }>, code: Instruction[]): boolean {
  const aim = (split: Split, { into, past }: { into: number; past: number }): void => {
    split.next = isGreedy ? into : past;
    split.other = isGreedy ? past : into;
  };
  const copies = max === Infinity ? Math.max(0, min - 1) : min;
  for (let times = 0; times < copies; times += 1) if (!emit(node, code)) return false;
  if (max === Infinity) {
    // `x*` is `(x+)?`, as in Go: where x can be empty, that decides what is found.
    const skip = min === 0 ? pushSplit(code) : null;
    const start = code.length;
    if (!emit(node, code)) return false;
    const again = pushSplit(code);
    aim(again, { into: start, past: code.length });
    if (skip !== null) aim(skip, { into: start, past: code.length });
    return true;
  }
  const splits: { readonly split: Split; readonly into: number }[] = [];
  for (let times = min; times < max; times += 1) {
    const split = pushSplit(code);
    splits.push({ split, into: code.length });
    if (!emit(node, code)) return false;
  }
  for (const { split, into } of splits) aim(split, { into, past: code.length });
  return true;
}

type Split = Extract<Instruction, { op: 'split' }>;

function pushSplit(code: Instruction[]): Split {
  const split: Split = { op: 'split', next: 0, other: 0 };
  code.push(split);
  return split;
}
