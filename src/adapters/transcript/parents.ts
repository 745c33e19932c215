import type { Entry } from '../../core/transcript.ts';
import type { ContextView, CutProblem, Json, SummaryInput } from '../../ports/codec.ts';
import { isList, isRecord, type JsonRecord } from './json.ts';
import { refuseDeepNesting } from './message-parts.ts';
import type { NoteOf } from './session.ts';

/**
 * From a record along the parents: to a root, to a parent that is not in the file, or to the last record before a cycle closes. `closing` is the
 * record at which one closes.
 */
export function followParents<T>(first: T | undefined, parentOf: (record: T) => T | undefined) {
  const found = new Set<T>();
  let at = first;
  while (at !== undefined && !found.has(at)) {
    found.add(at);
    at = parentOf(at);
  }
  return { found: [...found], closing: at };
}

/** Entries that name their parents. If several have one id, the last one counts, as for anyone who parses the file. */
type Tree = {
  readonly find: (id: string | undefined) => Entry | undefined;
  /** The entry and those above it, up to a root, to a parent that is not there, or to where a cycle closes. */
  readonly pathFrom: (entry: Entry | undefined) => readonly Entry[];
  /** An answer for every entry: the first that `answerAt` gives on the way up from it, or `otherwise`. */
  readonly askUpwards: <T>(answerAt: (entry: Entry) => T | undefined, otherwise: T) => (entry: Entry) => T;
};

export function buildTree(entries: readonly Entry[]): Tree {
  const byId = new Map(entries.flatMap((entry) => (entry.recordId === undefined ? [] : [[entry.recordId, entry]])));
  const parentOf = ({ parentId }: Entry): Entry | undefined =>
    typeof parentId === 'string' ? byId.get(parentId) : undefined;
  return {
    find: (id) => (id === undefined ? undefined : byId.get(id)),
    pathFrom: (entry) => followParents(entry, parentOf).found,
    askUpwards: <T>(answerAt: (entry: Entry) => T | undefined, otherwise: T) => {
      const answers = new Map<Entry, T>();
      return (entry) => {
        const asked: Entry[] = [];
        let answer = otherwise;
        for (let at: Entry | undefined = entry; at !== undefined; at = parentOf(at)) {
          const found = answers.has(at) ? answers.get(at) : answerAt(at);
          if (found !== undefined) {
            answer = found;
            break;
          }
          asked.push(at);
          answers.set(at, otherwise); // a cycle of parents leads nowhere
        }
        for (const one of asked) answers.set(one, answer);
        return answer;
      };
    },
  };
}

/** The path that a client reads: from the last entry of the file along the parents. */
export type Path = {
  /** In order from the last entry. */
  readonly entries: readonly Entry[];
  /** How many of them come after the newest compaction on the path. */
  readonly sinceCompaction: number;
  /** How many of them, with the compaction, it takes to reach the first entry that is still sent. */
  readonly reach: number;
  /** Without its last entry, the file would still end on the path. */
  readonly isTidy: boolean;
  /** The line of the entry at which a cycle closes; 0: there is no cycle. */
  readonly cycleLine: number;
};

type PathRules = {
  /** Of several entries with one id only the last counts, or all of them, and then the first names the parent. */
  readonly repeatedIds: 'last' | 'all';
  /** The id of the first entry before it that a compaction kept. */
  readonly keptFrom?: (line: number) => string | undefined;
};

/** Finds the path of the entries of a file, once for the same entries. */
export function createPathFinder<Note = never>(find: (entries: readonly Entry[], noteOf: NoteOf<Note>) => Path) {
  let known: { readonly entries: readonly Entry[]; readonly path: Path } | null = null;
  return {
    pathOf: (entries: readonly Entry[], noteOf: NoteOf<Note>): Path => {
      if (known?.entries !== entries) known = { entries, path: find(entries, noteOf) };
      return known.path;
    },
    /** The path that was found last. */
    latest: (): Path | undefined => known?.path,
  };
}

export function findPath(entries: readonly Entry[], { repeatedIds, keptFrom = () => undefined }: PathRules): Path {
  const byId = new Map<string, Entry>();
  const sameBefore = new Map<Entry, Entry>();
  let last: Entry | undefined;
  let beforeLast: Entry | undefined;
  for (const entry of entries) {
    if (entry.recordId === undefined) continue;
    const same = byId.get(entry.recordId);
    if (same !== undefined && repeatedIds === 'all') sameBefore.set(entry, same);
    byId.set(entry.recordId, entry);
    beforeLast = last;
    last = entry;
  }
  const { found, closing } = followParents(
    last,
    (entry) => sameBefore.get(entry) ?? (typeof entry.parentId === 'string' ? byId.get(entry.parentId) : undefined),
  );
  const compaction = found.findIndex(({ kind }) => kind === 'summary');
  const isCompacted = compaction >= 0;
  const kept = isCompacted ? keptFrom(found[compaction]?.line ?? 0) : undefined;
  const firstKept = found.findIndex(({ recordId }) => recordId === kept && kept !== undefined);
  return {
    entries: found,
    sinceCompaction: isCompacted ? compaction : found.length,
    // A compaction that keeps an earlier entry of the path reaches back to that entry, any other one to itself.
    reach: isCompacted ? Math.max(firstKept, compaction) + 1 : found.length,
    isTidy: beforeLast === found[1],
    cycleLine: closing?.line ?? 0,
  };
}

/** What the client would send: the newest summary on the path, what that compaction kept of the entries before it, and everything after it. */
export function readPathContext({ entries, sinceCompaction, reach }: Path): ContextView {
  const priorLine = entries[sinceCompaction]?.line ?? null;
  const sent = new Set(entries.slice(0, reach).map(({ line }) => line));
  const isStale = ({ kind, line, isSide }: Entry): boolean => {
    if ((kind !== 'message' && kind !== 'summary') || line === priorLine) return false;
    return kind === 'summary' || isSide === true || !sent.has(line);
  };
  const summarized = new Set(entries.slice(reach).map(({ line }) => line));
  return { priorLine, isStale, isInSummary: ({ line, isSide }) => isSide !== true && summarized.has(line) };
}

/**
 * The kept part may begin at a message that the client sends if the entries after it on the path are on later lines, and those before it on earlier
 * lines. Then the path ends there, and the summary takes its place on it. A compaction that the summary replaces does not count; an older one must
 * not stay. Entries off the path do not count either, since the client sends none of them.
 */
export function cutsOfPath(
  { entries, sinceCompaction, reach, isTidy, cycleLine }: Path,
  program: string,
): (line: number) => CutProblem {
  const older = entries.findIndex(({ kind }, step) => kind === 'summary' && step > sinceCompaction);
  const end = older < 0 ? reach : Math.min(reach, older);
  const beyond = latestFrom([...entries.map(({ line }, step) => (step === sinceCompaction ? 0 : line)), cycleLine]);
  const problems = new Map<number, CutProblem>();
  let first = Number.POSITIVE_INFINITY;
  for (const [step, { line, kind, isSide, parentId }] of entries.entries()) {
    if (step >= end) problems.set(line, "it is before the conversation's last compaction");
    else if (step !== sinceCompaction) {
      first = Math.min(first, line);
      const isBent = first < line || (beyond[step + 1] ?? 0) >= line;
      const isLost = sinceCompaction === 0 && !isTidy;
      if (kind !== 'message' || isSide === true) problems.set(line, `there is no message that ${program} sends`);
      else if (typeof parentId !== 'string')
        problems.set(line, 'the entry has no parent that the summary could replace');
      else if (isBent) problems.set(line, 'the chain of parents crosses this line more than once');
      else problems.set(line, isLost ? 'without its last compaction the file would end on another branch' : null);
    }
  }
  return (line) => {
    const problem = problems.get(line);
    return problem === undefined ? 'the entry is not on the path from the last one to the first' : problem;
  };
}

/** At each index, the largest number from there on. */
function latestFrom(lines: readonly number[]): readonly number[] {
  const latest = [...lines];
  for (let at = latest.length - 2; at >= 0; at -= 1) latest[at] = Math.max(latest[at] ?? 0, latest[at + 1] ?? 0);
  return latest;
}

/**
 * Lines that repeat settings, each the child of the one before; one that is nested too deeply to be written is left out. `lastId`: of the last
 * line, or `parentId`.
 */
export function renderChain(
  records: readonly JsonRecord[],
  {
    parentId,
    uuid,
    link,
  }: {
    readonly parentId: string | null;
    readonly uuid: SummaryInput['uuid'];
    readonly link: (record: JsonRecord, id: string, parentId: string | null) => JsonRecord;
  },
): { readonly lines: readonly string[]; readonly lastId: string | null } {
  let lastId = parentId;
  const lines = records.flatMap((record, at) => {
    const id = uuid(`setting ${at}`);
    const line = refuseDeepNesting('a setting that is', () => JSON.stringify(link(record, id, lastId)));
    if (typeof line !== 'string') return [];
    lastId = id;
    return [line];
  });
  return { lines, lastId };
}

const QWEN_TYPES = new Set(['user', 'assistant', 'tool_result', 'system']);

export function isQwenType(type: Json | undefined): type is string {
  return typeof type === 'string' && QWEN_TYPES.has(type);
}

/** A record of the chain, as Qwen Code requires it. Claude Code's have a subtype too, but their content is no list of parts. */
export function isQwenRecord(record: JsonRecord): boolean {
  const { uuid, parentUuid, sessionId, type, message } = record;
  const isChained = typeof uuid === 'string' && (typeof parentUuid === 'string' || parentUuid === null);
  if (!isChained || typeof sessionId !== 'string' || !isQwenType(type)) return false;
  if (type === 'system') return 'systemPayload' in record;
  return isRecord(message) && isList(message['parts']) && !('content' in message);
}
