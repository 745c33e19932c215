import type { Entry } from '../../../core/transcript.ts';

/** A record that names its parent, by its position among the entries. */
export type Link = {
  readonly id: string;
  readonly parentId: string | null;
  readonly position: number;
  readonly line: number;
};

/** How the records of one conversation hang together. Of several records with one id the last counts, as for the producer. */
export type Chain = {
  /** The records of the main thread, in file order. */
  readonly links: readonly Link[];
  /** The line at which an id stands last; 0: nowhere in the file. */
  readonly lastLineOf: (id: string) => number;
  /** The last line, side threads included, that names this parent; 0: none does. */
  readonly lastChildLineOf: (parentId: string) => number;
  /** From the tip of the main thread to its root, a parent that is not in the file, or the last record before a circle closes. */
  readonly active: readonly Link[];
};

/**
 * Tells which records are of the thread that the file is about: the main one, or in a subagent's own file, where all messages are of
 * a side thread, that one.
 */
export function findOwnThread(entries: readonly Entry[]): (entry: Entry) => boolean {
  const hasMain = entries.some(({ kind, isSide }) => (kind === 'message' || kind === 'summary') && isSide !== true);
  return hasMain ? ({ isSide }) => isSide !== true : () => true;
}

/**
 * The tip is the last message of the main thread: system rows and progress records may hang anywhere after it, and the client does not
 * take up the thread at them. Where a person went back and said nothing since, it is the record that they went back to.
 */
export function buildChain(entries: readonly Entry[]): Chain {
  const byId = new Map<string, Link>();
  const lastChildLines = new Map<string, number>();
  const links: Link[] = [];
  const isOwn = findOwnThread(entries);
  let tip: Link | undefined;
  let wentBackTo: string | undefined;
  entries.forEach((entry, position) => {
    wentBackTo = entry.tipId ?? wentBackTo;
    if (entry.recordId === undefined || entry.parentId === undefined) return;
    const link = { id: entry.recordId, parentId: entry.parentId, position, line: entry.line };
    byId.set(link.id, link);
    if (link.parentId !== null) lastChildLines.set(link.parentId, link.line);
    if (!isOwn(entry)) return;
    links.push(link);
    wentBackTo = undefined;
    if (entry.kind === 'message' && entry.isAside !== true) tip = link;
  });
  return {
    links,
    lastLineOf: (id) => byId.get(id)?.line ?? 0,
    lastChildLineOf: (parentId) => lastChildLines.get(parentId) ?? 0,
    active: walk((wentBackTo === undefined ? undefined : byId.get(wentBackTo)) ?? tip, byId),
  };
}

function walk(tip: Link | undefined, byId: ReadonlyMap<string, Link>): readonly Link[] {
  const path = new Set<Link>();
  let link = tip;
  while (link !== undefined && !path.has(link)) {
    path.add(link);
    link = link.parentId === null ? undefined : byId.get(link.parentId);
  }
  return [...path];
}
