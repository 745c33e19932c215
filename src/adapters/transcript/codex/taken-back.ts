import type { Entry } from '../../../core/transcript.ts';

/** A record that the counting of turns has to do with. */
type Mark = { readonly line: number; readonly kind: 'start' | 'opens' | 'update' | 'compaction' | 'other' };

/**
 * Tells of any line whether it belongs to a turn that was taken back, or is the event that says so (`thread_rolled_back {num_turns}`). Codex counts back over the
 * messages that open a turn, takes away everything from there on, and what it had written for that turn right before it: changed
 * settings, and a compaction since the turn began, so that what was compacted is there again. More turns than there are: all of them.
 */
export function findTakenBack(entries: readonly Entry[]): (line: number) => boolean {
  if (!entries.some((entry) => entry.turnsTakenBack !== undefined)) return () => false;
  const gone = new Set<number>();
  let marks: Mark[] = [];
  for (const entry of entries) {
    if (entry.turnsTakenBack === undefined) {
      const kind = markOf(entry);
      if (kind !== null) marks.push({ line: entry.line, kind });
      continue;
    }
    const cut = findCut(marks, entry.turnsTakenBack);
    const from = marks[cut];
    for (let line = from?.line ?? entry.line; line <= entry.line; line += 1) gone.add(line);
    if (from === undefined) continue;
    const kept = marks.slice(0, cut);
    const start = kept.findLastIndex(({ kind }) => kind === 'start');
    marks = kept.filter(({ kind, line }, at) => {
      const isUndone = kind === 'compaction' && start >= 0 && at > start;
      if (isUndone) gone.add(line);
      return !isUndone;
    });
  }
  return (line) => gone.has(line);
}

function markOf(entry: Entry): Mark['kind'] | null {
  if (entry.attachedTo?.kind === 'turn') return 'start';
  if (entry.kind === 'summary') return 'compaction';
  if (entry.kind !== 'message' && entry.kind !== 'instruction') return null;
  return entry.turnPart ?? 'other';
}

/** The place of the first mark that goes. Settings before the first turn are not a turn's own and stay. */
function findCut(marks: readonly Mark[], turns: number): number {
  const opening = marks.flatMap(({ kind }, at) => (kind === 'opens' ? [at] : []));
  const first = opening[0];
  if (first === undefined || turns === 0) return marks.length;
  let cut = opening[Math.max(0, opening.length - turns)] ?? first;
  while (cut > first && marks[cut - 1]?.kind === 'update') cut -= 1;
  return cut;
}
