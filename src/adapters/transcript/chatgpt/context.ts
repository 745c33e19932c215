import type { Entry } from '../../../core/transcript.ts';
import type { ContextView, CutProblem } from '../../../ports/codec.ts';

/**
 * The path to the current node is the conversation. Everything else goes or stays with the node that it depends on:
 * empty nodes, instructions between messages, and branches that were replaced by new questions or answers. So a kept
 * node never names one that is gone.
 */
export function readContext({ path, firstSaid, placeOf }: Tree, entries: readonly Entry[]): ContextView {
  const frame = entries[0]?.line ?? 0;
  const first = path[firstSaid];
  // For each place on the path, the line that decides: of the message there, or of the last one before it.
  const deciding: number[] = [];
  for (const [place, entry] of path.entries()) {
    const isSaid = entry === first || entry.kind === 'message';
    deciding.push(isSaid ? entry.line : (deciding[place - 1] ?? frame));
  }
  const orderOf = (entry: Entry): number => placeOf(entry) ?? 0;
  return {
    priorLine: first?.kind === 'summary' ? first.line : null,
    isStale: (entry) => {
      const place = placeOf(entry);
      if (place === null || path[place] !== entry) return true;
      return entry.kind === 'instruction' && place > firstSaid;
    },
    anchorOf: (entry) => {
      const place = placeOf(entry);
      return place === null ? frame : (deciding[place] ?? frame);
    },
    orderOf,
  };
}

/** The summary takes the id that the first kept node names as its parent. The only problem can be a tool's answer. */
export function findCuts({ path, firstSaid }: Tree): (line: number) => CutProblem {
  const problems = new Map(
    path.slice(firstSaid).flatMap((entry, place): readonly [number, CutProblem][] => {
      if (entry.kind !== 'message') return [];
      if (place === 0) return [[entry.line, 'it is the first message of the conversation']];
      return [[entry.line, entry.role === 'tool' ? 'it answers a call that would be gone' : null]];
    }),
  );
  return (line) => {
    const problem = problems.get(line);
    return problem === undefined ? 'there is no message of the current branch' : problem;
  };
}

/**
 * The structure of a conversation. Its members may be in any order; the conversation is the path from the root to the
 * node that the export names as the current one.
 */
export type Tree = {
  /** The path from the root to the current node. */
  readonly path: readonly Entry[];
  /** The place on the path of the first message: before it there are only roots, empty nodes and instructions. */
  readonly firstSaid: number;
  /** The place on the path of a member, or of the node that it depends on; null: it is not connected to the path. */
  readonly placeOf: (entry: Entry) => number | null;
};

export function buildTree(entries: readonly Entry[], currentId: string | undefined): Tree {
  const nodes = entries.filter((entry) => entry.recordId !== undefined);
  // If members share a key, the last one counts, as for anyone who parses the file.
  const byId = new Map(nodes.map((entry) => [entry.recordId ?? '', entry]));
  const parents = new Set(nodes.map(({ parentId }) => parentId));
  const current =
    byId.get(currentId ?? '') ?? nodes.findLast(({ kind, recordId }) => kind === 'message' && !parents.has(recordId));
  const places = new Map<Entry, number>();
  const path = walkUp(current, byId).toReversed();
  path.forEach((entry, place) => places.set(entry, place));
  const known = new Map<Entry, number | null>(places);
  const placeOf = (entry: Entry): number | null => {
    const asked: Entry[] = [];
    let at: Entry | undefined = entry;
    while (at !== undefined && !known.has(at)) {
      asked.push(at);
      known.set(at, null); // a cycle of parents is not connected to the path
      at = parentOf(at, byId);
    }
    const place = at === undefined ? null : (known.get(at) ?? null);
    for (const one of asked) known.set(one, place);
    return place;
  };
  const said = path.findIndex(({ kind }) => kind === 'message' || kind === 'summary');
  return { path, firstSaid: said < 0 ? path.length : said, placeOf };
}

function walkUp(from: Entry | undefined, byId: ReadonlyMap<string, Entry>): readonly Entry[] {
  const path = new Set<Entry>();
  for (let at = from; at !== undefined && !path.has(at); at = parentOf(at, byId)) path.add(at);
  return [...path];
}

function parentOf({ parentId }: Entry, byId: ReadonlyMap<string, Entry>): Entry | undefined {
  return typeof parentId === 'string' ? byId.get(parentId) : undefined;
}
