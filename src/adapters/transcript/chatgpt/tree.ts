import type { Entry } from '../../../core/transcript.ts';

/**
 * A conversation as it hangs together. Its members stand in any order; what was said is the way from the root to the node that the export
 * names as the current one.
 */
export type Tree = {
  /** The way from the root to the current node. */
  readonly way: readonly Entry[];
  /** The place on the way of the first node that says something: before it stand roots, empty nodes and instructions. */
  readonly firstSaid: number;
  /** Where a member stands, or hangs, on the way; null: it hangs elsewhere. */
  readonly placeOf: (entry: Entry) => number | null;
};

export function buildTree(entries: readonly Entry[], currentId: string | undefined): Tree {
  const nodes = entries.filter((entry) => entry.recordId !== undefined);
  // Of members with one key the last counts, as for whoever parses the file.
  const byId = new Map(nodes.map((entry) => [entry.recordId ?? '', entry]));
  const parents = new Set(nodes.map(({ parentId }) => parentId));
  const current =
    byId.get(currentId ?? '') ?? nodes.findLast(({ kind, recordId }) => kind === 'message' && !parents.has(recordId));
  const places = new Map<Entry, number>();
  const way = walkUp(current, byId).toReversed();
  way.forEach((entry, place) => places.set(entry, place));
  const known = new Map<Entry, number | null>(places);
  const placeOf = (entry: Entry): number | null => {
    const asked: Entry[] = [];
    let at: Entry | undefined = entry;
    while (at !== undefined && !known.has(at)) {
      asked.push(at);
      known.set(at, null); // a circle of parents hangs nowhere
      at = parentOf(at, byId);
    }
    const place = at === undefined ? null : (known.get(at) ?? null);
    for (const one of asked) known.set(one, place);
    return place;
  };
  const said = way.findIndex(({ kind }) => kind === 'message' || kind === 'summary');
  return { way, firstSaid: said < 0 ? way.length : said, placeOf };
}

function walkUp(from: Entry | undefined, byId: ReadonlyMap<string, Entry>): readonly Entry[] {
  const way = new Set<Entry>();
  for (let at = from; at !== undefined && !way.has(at); at = parentOf(at, byId)) way.add(at);
  return [...way];
}

function parentOf({ parentId }: Entry, byId: ReadonlyMap<string, Entry>): Entry | undefined {
  return typeof parentId === 'string' ? byId.get(parentId) : undefined;
}
