import type { Entry } from '../../../core/transcript.ts';
import type { ContextView, CutProblem } from '../../../ports/codec.ts';
import type { NoteOf } from '../session.ts';
import type { CodexNote } from './decode.ts';

type CodexNotes = NoteOf<CodexNote>;

/**
 * What Codex would send on resuming the rollout: what its last compaction left, and everything since that was not
 * taken back.
 */
export function readContext(entries: readonly Entry[], noteOf: CodexNotes): ContextView {
  const isTakenBack = findTakenBack(entries, noteOf);
  const compaction = findCompaction(entries, isTakenBack);
  const start = compaction?.line ?? 0;
  const anchorOf = findAnchors(entries, noteOf);
  const keepsPrompts = noteOf(start)?.kind === 'keeps-prompts';
  const isStale = (entry: Entry): boolean => {
    if (isTakenBack(entry.line)) return true;
    if (entry.line >= start) return false;
    // An older version rebuilds the history from the prompts before the compaction, and adds the instructions again.
    return (
      entry.kind === 'summary' ||
      !keepsPrompts ||
      (entry.kind === 'message' && turnPartOf(noteOf(entry.line)) !== 'opens')
    );
  };
  const mustDrop = (entry: Entry): boolean => {
    if (noteOf(entry.line)?.kind === 'context-size') return true;
    // The compaction made the model forget this record of the environment; Codex must not assume that the model still
    // knows it.
    if (entry.line < start && /^(?:turn_context$|world_state)/.test(entry.latestKey ?? '')) return true;
    return isTakenBack(entry.line) || isTakenBack(anchorOf(entry) ?? 0);
  };
  return { priorLine: compaction?.line ?? null, isStale, anchorOf, mustDrop };
}

/** Only the order matters in a rollout: the kept part can begin at any message after the last compaction. */
export function legalCuts(entries: readonly Entry[], noteOf: CodexNotes): (line: number) => CutProblem {
  const obstacle = entries.map(({ line }) => noteOf(line)).find((note) => note?.kind === 'obstacle')?.reason ?? null;
  const lastCompaction = findCompaction(entries, findTakenBack(entries, noteOf))?.line ?? 0;
  return (line) => obstacle ?? (line < lastCompaction ? "it is before the conversation's last compaction" : null);
}

/** The compaction where Codex's context begins: the last one that was not taken back with its turn. */
function findCompaction(entries: readonly Entry[], isTakenBack: (line: number) => boolean): Entry | null {
  return entries.findLast((entry) => entry.kind === 'summary' && !isTakenBack(entry.line)) ?? null;
}

/** A record that matters for counting turns. */
type Mark = { readonly line: number; readonly kind: 'start' | 'opens' | 'update' | 'compaction' | 'other' };

/**
 * Whether a line belongs to a turn that was taken back, or is the event that says so (`thread_rolled_back
 * {num_turns}`). Codex counts back over the messages that open a turn and removes everything from there on. It also
 * removes what it had written for that turn right before it (changed settings), and a compaction made since the turn
 * began, so that the compacted messages are back. If the number exceeds the turns, all turns are removed.
 */
function findTakenBack(entries: readonly Entry[], noteOf: CodexNotes): (line: number) => boolean {
  if (!entries.some(({ line }) => noteOf(line)?.kind === 'rollback')) return () => false;
  const gone = new Set<number>();
  let marks: Mark[] = [];
  for (const entry of entries) {
    const note = noteOf(entry.line);
    if (note?.kind !== 'rollback') {
      const kind = markOf(entry, note);
      if (kind !== null) marks.push({ line: entry.line, kind });
      continue;
    }
    const cut = findCut(marks, note.turns);
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

function markOf(entry: Entry, note: CodexNote | undefined): Mark['kind'] | null {
  if (note?.kind === 'turn') return 'start';
  if (entry.kind === 'summary') return 'compaction';
  if (entry.kind !== 'message' && entry.kind !== 'instruction') return null;
  return turnPartOf(note) ?? 'other';
}

function turnPartOf(note: CodexNote | undefined): 'opens' | 'update' | undefined {
  return note?.kind === 'said' ? note.turnPart : undefined;
}

/** The index of the first mark to remove. Settings before the first turn belong to no turn and stay. */
function findCut(marks: readonly Mark[], turns: number): number {
  const opening = marks.flatMap(({ kind }, at) => (kind === 'opens' ? [at] : []));
  const first = opening[0];
  if (first === undefined || turns === 0) return marks.length;
  let cut = opening[Math.max(0, opening.length - turns)] ?? first;
  while (cut > first && marks[cut - 1]?.kind === 'update') cut -= 1;
  return cut;
}

/** A mirror is at most this many records away from its message. */
const NEAR_RECORDS = 30;

type Place = { readonly line: number; readonly position: number };

/**
 * Finds the message that a record goes or stays with; null: there is none, or the record stands alone. A record of a call goes with the latest
 * call of its id before it, else the next one, else the result. Each message has one mirror with the same words, in either order.
 */
export function findAnchors(entries: readonly Entry[], noteOf: CodexNotes): (entry: Entry) => number | null {
  const anchors = new Map<number, number>();
  /** Records that wait for a message that may come, by what they wait for. */
  const waiting = new Map<string, number[]>();
  const calls = new Map<string, number>();
  const results = new Map<string, number>();
  const mirrored = { message: new Map<string, Place>(), record: new Map<string, Place>() };
  let turnLine: number | null = null;
  let lastMessage: number | null = null;
  let lastOfTurn: number | null = null;

  const pair = (line: number | null, message: number | null): void => {
    if (line !== null && message !== null) anchors.set(line, message);
  };
  const wait = (what: string, line: number): void => {
    const lines = waiting.get(what);
    if (lines === undefined) waiting.set(what, [line]);
    else lines.push(line);
  };
  const settle = (what: string, message: number | null): void => {
    for (const line of waiting.get(what) ?? []) pair(line, message);
    waiting.delete(what);
  };
  const mirror = (side: 'message' | 'record', key: string, place: Place): void => {
    const others = mirrored[side === 'message' ? 'record' : 'message'];
    const other = others.get(key);
    others.delete(key);
    if (other === undefined || place.position - other.position > NEAR_RECORDS) mirrored[side].set(key, place);
    else if (side === 'message') pair(other.line, place.line);
    else pair(place.line, other.line);
  };
  const addMessage = ({ line, role, calls: made = [], results: answered = [] }: Entry): void => {
    lastMessage = line;
    lastOfTurn = line;
    settle('next', line);
    if (role === 'assistant') settle('answer', line);
    else if (role === 'user') settle('answer', null);
    for (const id of answered) results.set(id, line);
    for (const id of made) {
      calls.set(id, line);
      settle(`call ${id}`, line);
    }
  };
  for (const [position, entry] of entries.entries()) {
    const { line } = entry;
    const note = noteOf(line);
    if (entry.kind === 'message') {
      if (note?.kind === 'said' && note.wordsKey !== undefined) mirror('message', note.wordsKey, { line, position });
      addMessage(entry);
    } else if (note?.kind === 'words') mirror('record', note.key, { line, position });
    else if (note?.kind === 'call') {
      if (calls.has(note.id)) pair(line, calls.get(note.id) ?? null);
      else wait(`call ${note.id}`, line);
    } else if (note?.kind === 'answer' || note?.kind === 'next') wait(note.kind, line);
    else if (note?.kind === 'last') pair(line, lastMessage);
    else if (note?.kind === 'turn') {
      pair(turnLine, lastOfTurn);
      turnLine = line;
      lastOfTurn = null;
    }
  }
  pair(turnLine, lastOfTurn);
  settle('next', lastMessage);
  for (const [id, line] of results) settle(`call ${id}`, line);
  return ({ line }) => anchors.get(line) ?? null;
}
