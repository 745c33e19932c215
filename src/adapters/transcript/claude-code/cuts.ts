import type { Entry } from '../../../core/transcript.ts';
import type { CutProblem } from '../../../ports/codec.ts';
import { buildChain, type Chain, findOwnThread, type Link } from './chain.ts';
import { findContextStart } from './context.ts';

/**
 * A kept part may begin at a line if the summary, which takes the id of that line's parent, becomes the one thing that everything kept
 * hangs on: no kept record has another parent outside the kept part, and the walk from the tip to the root leaves the kept part
 * through that very line. No other kept record may hang on that parent: the client moves such a record behind the tip of the
 * preserved segment, into the conversation. Linear in the entries; each answer takes constant time.
 */
export function legalCuts(entries: readonly Entry[]): (line: number) => CutProblem {
  // All answers beforehand, a byte each: what they are found with is far larger, and must not stay for as long as the answers do.
  const answers = findProblems(entries);
  return (line) => {
    const position = positionOf(entries, line);
    const answer = position === null ? undefined : answers[position];
    return answer === undefined ? 'no record of this conversation stands there' : (PROBLEMS[answer] ?? null);
  };
}

const PROBLEMS = [
  null,
  'no message of the main thread stands there',
  "it stands before the conversation's last compaction",
  'the record has no parent for the summary to take the place of',
  "the record's parent is kept too",
  'the chain of parents ends within the kept part',
  'the chain of parents leaves the kept part through another record',
  'another kept record hangs on the same parent',
  'kept records have other parents that would be gone',
] as const satisfies readonly CutProblem[];

/** For each position the index of what speaks against a cut there. */
function findProblems(entries: readonly Entry[]): Uint8Array {
  const { lastLine } = findContextStart(entries);
  const isOwn = findOwnThread(entries);
  const chain = buildChain(entries);
  const outside = countOutsideParents(chain, entries);
  const exits = findExits(chain, entries);
  const problemAt = (entry: Entry, position: number): (typeof PROBLEMS)[number] => {
    const { line } = entry;
    const isTurn = entry.kind === 'message' && isOwn(entry) && entry.isAside !== true;
    if (!isTurn) return 'no message of the main thread stands there';
    if (line <= lastLine) return "it stands before the conversation's last compaction";
    if (typeof entry.parentId !== 'string') return 'the record has no parent for the summary to take the place of';
    if (chain.lastLineOf(entry.parentId) >= line) return "the record's parent is kept too";
    if (exits[position] === undefined) return 'the chain of parents ends within the kept part';
    if (exits[position] !== line) return 'the chain of parents leaves the kept part through another record';
    if (chain.lastChildLineOf(entry.parentId) !== line) return 'another kept record hangs on the same parent';
    if (outside[position] !== 1) return 'kept records have other parents that would be gone';
    return null;
  };
  return Uint8Array.from(entries, (entry, position) => PROBLEMS.indexOf(problemAt(entry, position)));
}

/** Entries stand in the order of their lines. */
function positionOf(entries: readonly Entry[], line: number): number | null {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.line ?? 0) < line) low = middle + 1;
    else high = middle;
  }
  return entries[low]?.line === line ? low : null;
}

/**
 * For each position: how many parents of records from there on stand before it. A parent that is nowhere in the file counts only where
 * the producer would miss it, on the active chain.
 */
function countOutsideParents(chain: Chain, entries: readonly Entry[]): readonly number[] {
  const lastChild = new Map<string, Link>();
  const note = (link: Link): void => {
    if (link.parentId === null) return;
    const known = lastChild.get(link.parentId);
    if (known === undefined || known.line < link.line) lastChild.set(link.parentId, link);
  };
  chain.links.filter(({ parentId }) => parentId !== null && chain.lastLineOf(parentId) > 0).forEach(note);
  const main = new Set(chain.links);
  chain.active
    .filter((link) => main.has(link) && link.parentId !== null && chain.lastLineOf(link.parentId) === 0)
    .forEach(note);

  // A parent is outside for every cut after its own line, up to its last child's.
  const firstAfter = new Map(entries.map((entry, position) => [entry.line, position + 1]));
  const change = new Int32Array(entries.length + 1);
  for (const [parent, child] of lastChild) {
    const from = firstAfter.get(chain.lastLineOf(parent)) ?? 0;
    if (from > child.position) continue;
    change[from] = (change[from] ?? 0) + 1;
    change[child.position + 1] = (change[child.position + 1] ?? 0) - 1;
  }
  let count = 0;
  return Array.from(entries, (_, position) => (count += change[position] ?? 0));
}

/**
 * For each position: the line through which the walk along the parents leaves what stands from there on; undefined where
 * it ends inside, at a root or in a circle, or does not begin there.
 */
function findExits(chain: Chain, entries: readonly Entry[]): readonly (number | undefined)[] {
  const exits = Array.from<number | undefined>({ length: entries.length });
  let reach = chain.active[0]?.position ?? -1;
  chain.active.forEach((link, step) => {
    reach = Math.min(reach, link.position);
    const next = chain.active[step + 1];
    const isMissing = link.parentId !== null && chain.lastLineOf(link.parentId) === 0;
    const stop = next?.position ?? (isMissing ? -1 : reach);
    for (let position = reach; position > stop; position -= 1) exits[position] = link.line;
  });
  return exits;
}
