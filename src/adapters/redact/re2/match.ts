import type { Program } from './compile.ts';
import { holds, OUTSIDE, pointAt, pointBefore } from './context.ts';

/** Where a match stands, and its groups from 1; null: a group that took no part. */
export type Match = {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly ({ readonly start: number; readonly end: number } | null)[];
};

type Thread = { readonly at: number; readonly slots: readonly number[] };

/** Characters that may be read behind matches for the sake of longer ones: all matches of a text share it, or many would cost their square. */
export type Lookahead = { chars: number };

/**
 * The first match at or after `from`, of those that begin there the one that a backtracking matcher would find; null: none. All ways are followed at
 * once (Thompson's construction, as Pike extended it), so that each character costs at most the program's length.
 */
export function findMatch(
  { instructions, slotCount }: Program,
  text: string,
  { from, lookahead }: { readonly from: number; readonly lookahead: Lookahead },
): Match | null {
  const noSlots: readonly number[] = Array.from({ length: slotCount }, () => -1);
  const visited = new Int32Array(instructions.length).fill(-1);
  let threads: Thread[] = [];
  let best: readonly number[] | null = null;
  let before = pointBefore(text, from);
  for (let place = from; place <= text.length;) {
    const point = pointAt(text, place);
    const width = point > 0xffff ? 2 : 1;
    const reached: Thread[] = [];
    // Threads are followed through what reads nothing here, in the order of what is preferred.
    const follow = (first: Thread): void => {
      const stack = [first];
      for (let thread = stack.pop(); thread !== undefined; thread = stack.pop()) {
        const { at, slots } = thread;
        if (visited[at] === place) continue;
        visited[at] = place;
        const instruction = instructions[at];
        if (instruction === undefined) continue;
        if (instruction.op === 'jump') stack.push({ at: instruction.next, slots });
        else if (instruction.op === 'split') {
          stack.push({ at: instruction.other, slots }, { at: instruction.next, slots });
        } else if (instruction.op === 'save') {
          stack.push({ at: at + 1, slots: slots.with(instruction.slot, place) });
        } else if (instruction.op !== 'assert') reached.push(thread);
        else if (holds(instruction.what, before, point)) stack.push({ at: at + 1, slots });
      }
    };
    for (const thread of threads) follow(thread);
    if (best === null) follow({ at: 0, slots: noSlots });
    const next: Thread[] = [];
    for (const { at, slots } of reached) {
      const instruction = instructions[at];
      if (instruction?.op === 'match') {
        best = slots;
        break;
      }
      if (instruction?.op === 'set' && point !== OUTSIDE && instruction.set.has(point))
        next.push({ at: at + 1, slots });
    }
    threads = next;
    if (best !== null) {
      lookahead.chars -= 1;
      if (threads.length === 0 || lookahead.chars < 0) break;
    }
    before = point;
    place += width;
  }
  return best === null ? null : toMatch(best);
}

function toMatch(slots: readonly number[]): Match {
  const spans = Array.from({ length: slots.length / 2 }, (_, group) => {
    const start = slots[2 * group] ?? -1;
    const end = slots[2 * group + 1] ?? -1;
    return start < 0 || end < 0 ? null : { start, end };
  });
  const whole = spans[0] ?? { start: 0, end: 0 };
  return { ...whole, groups: spans.slice(1) };
}
