import type { CharSet } from './char-set.ts';
import type { Program } from './compile.ts';
import { holds, isWord, OUTSIDE, pointAt, pointBefore } from './context.ts';

/** A state: where the threads are, and where each kind of character leads. Made when it is met. */
type State = { readonly threads: readonly number[]; readonly next: (State | 'match' | undefined)[] };

export type Prefilter = (text: string, from: number) => boolean;

// Some expressions have more states than there is text; those are then matched without.
const MAX_STATES = 4_000;
const ASCII = 128;

/**
 * Whether a match may begin at or after `from`. True may be wrong, false never is. It reads some fifty million characters a second where `findMatch`
 * reads one: what most rules find in most texts is nothing.
 */
export function createPrefilter(program: Program): Prefilter {
  const kinds = createKinds(program);
  const states = new Map<string, State>();
  const made = { count: 0 };
  const stateOf = (threads: readonly number[], before: number): State => {
    const key = edgeOf(before) + threads.join();
    const known = states.get(key);
    if (known !== undefined) return known;
    const state = { threads, next: [] };
    states.set(key, state);
    made.count += 1;
    return state;
  };
  const stepFrom = (state: State, before: number, point: number): State | 'match' => {
    const reached = follow(program, state.threads, (what) => holds(what, before, point));
    if (reached.some((at) => program.instructions[at]?.op === 'match')) return 'match';
    const threads = reached.flatMap((at) => {
      const instruction = program.instructions[at];
      return instruction?.op === 'set' && point !== OUTSIDE && instruction.set.has(point) ? [at + 1] : [];
    });
    return stateOf(
      [...new Set([...threads, 0])].sort((a, b) => a - b),
      point,
    );
  };
  return (text, from) => {
    let before = pointBefore(text, from);
    let state = stateOf([0], before);
    for (let place = from; place <= text.length;) {
      const point = pointAt(text, place);
      const kind = kinds.of(point);
      let next = state.next[kind];
      if (next === undefined) {
        if (made.count > MAX_STATES) return true;
        next = stepFrom(state, before, point);
        state.next[kind] = next;
      }
      if (next === 'match') return true;
      state = next;
      before = point;
      place += point > 0xffff ? 2 : 1;
    }
    return false;
  };
}

/** From the threads through all that reads nothing. */
function follow(
  { instructions }: Program,
  threads: readonly number[],
  isHeld: (what: Parameters<typeof holds>[0]) => boolean,
): readonly number[] {
  const seen = new Set<number>();
  const stack = [...threads];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    const instruction = instructions[at];
    if (instruction?.op === 'jump') stack.push(instruction.next);
    else if (instruction?.op === 'split') stack.push(instruction.next, instruction.other);
    else if (instruction?.op === 'save') stack.push(at + 1);
    else if (instruction?.op === 'assert' && isHeld(instruction.what)) stack.push(at + 1);
  }
  return [...seen];
}

/** What assertions ask of a character. */
function edgeOf(point: number): string {
  if (point === OUTSIDE) return 'outside';
  return point === 10 ? 'line-end' : isWord(point) ? 'word' : 'other';
}

/** Numbers the kinds of characters: those of one kind are in the same sets and alike to assertions. */
function createKinds({ instructions }: Program): { readonly of: (point: number) => number } {
  const sets = [...new Set(instructions.flatMap((one): readonly CharSet[] => (one.op === 'set' ? [one.set] : [])))];
  const byTraits = new Map<string, number>();
  const known = new Map<number, number>();
  const classify = (point: number): number => {
    const traits = edgeOf(point) + sets.map((set) => (point !== OUTSIDE && set.has(point) ? 1 : 0)).join('');
    const kind = byTraits.get(traits) ?? byTraits.size;
    byTraits.set(traits, kind);
    return kind;
  };
  const table = Int32Array.from({ length: ASCII }, (_, point) => classify(point));
  return {
    of: (point) => {
      if (point >= 0 && point < ASCII) return table[point] ?? 0;
      const found = known.get(point) ?? classify(point);
      known.set(point, found);
      return found;
    },
  };
}
