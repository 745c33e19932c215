import type { Entry } from '../../../core/transcript.ts';
import type { ContextView, CutProblem } from '../../../ports/codec.ts';
import { type CodexNote, isBaseline, type NoteOf } from './content.ts';

/**
 * What Codex would send on resuming the rollout: what its last compaction left, and everything since that was not
 * taken back.
 */
export function readContext(entries: readonly Entry[], noteOf: NoteOf): ContextView {
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
    if (entry.line < start && isBaseline(entry.latestKey)) return true;
    return isTakenBack(entry.line) || isTakenBack(anchorOf(entry) ?? 0);
  };
  return { priorLine: compaction?.line ?? null, isStale, anchorOf, mustDrop };
}

/** Only the order matters in a rollout: the kept part can begin at any message after the last compaction. */
export function legalCuts(entries: readonly Entry[], noteOf: NoteOf): (line: number) => CutProblem {
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
function findTakenBack(entries: readonly Entry[], noteOf: NoteOf): (line: number) => boolean {
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

type Waiting = { readonly line: number; readonly position: number };

/** Finds the message that a record goes or stays with; null: there is none, or the record stands alone. */
export function findAnchors(entries: readonly Entry[], noteOf: NoteOf): (entry: Entry) => number | null {
  const messageOf = new Map<number, number>();
  const pair = (line: number, message: number | null): void => {
    if (message !== null) messageOf.set(line, message);
  };
  const words = createWordsPairing(pair);
  const calls = createCallPairing(pair);
  const order = createOrderPairing(pair);
  entries.forEach((entry, position) => {
    const { line } = entry;
    const note = noteOf(line);
    if (entry.kind === 'message') {
      if (note?.kind === 'said' && note.wordsKey !== undefined) words.addMessage(note.wordsKey, { line, position });
      calls.addMessage(entry);
      order.addMessage(entry);
      return;
    }
    switch (note?.kind) {
      case 'words':
        return words.addRecord(note.key, { line, position });
      case 'call':
        return calls.addRecord(note.id, line);
      case 'answer':
      case 'next':
      case 'turn':
      case 'last':
        return order.addRecord(note.kind, line);
      default:
        return undefined;
    }
  });
  calls.finish();
  order.finish();
  return ({ line }) => messageOf.get(line) ?? null;
}

type Pair = (line: number, message: number | null) => void;

/** Pairs equal words near each other, in either order; each message has one mirror, each mirror one message. */
function createWordsPairing(pair: Pair): {
  readonly addMessage: (key: string, message: Waiting) => void;
  readonly addRecord: (key: string, record: Waiting) => void;
} {
  const messages = new Map<string, Waiting>();
  const records = new Map<string, Waiting>();
  const takeNear = (waiting: Map<string, Waiting>, key: string, position: number): Waiting | null => {
    const found = waiting.get(key);
    waiting.delete(key);
    return found !== undefined && position - found.position <= NEAR_RECORDS ? found : null;
  };
  return {
    addMessage: (key, message) => {
      const record = takeNear(records, key, message.position);
      if (record === null) messages.set(key, message);
      else pair(record.line, message.line);
    },
    addRecord: (key, record) => {
      const message = takeNear(messages, key, record.position);
      if (message === null) records.set(key, record);
      else pair(record.line, message.line);
    },
  };
}

/**
 * Pairs a record with the latest call of its id before it, else the next one, else (if the call is missing) the
 * result.
 */
function createCallPairing(pair: Pair): {
  readonly addMessage: (entry: Entry) => void;
  readonly addRecord: (id: string, line: number) => void;
  readonly finish: () => void;
} {
  const callLines = new Map<string, number>();
  const resultLines = new Map<string, number>();
  const waiting = new Map<string, number[]>();
  return {
    addMessage: ({ line, calls = [], results = [] }) => {
      for (const id of results) resultLines.set(id, line);
      for (const id of calls) {
        callLines.set(id, line);
        for (const record of waiting.get(id) ?? []) pair(record, line);
        waiting.delete(id);
      }
    },
    addRecord: (id, line) => {
      const call = callLines.get(id);
      if (call === undefined) waiting.set(id, [...(waiting.get(id) ?? []), line]);
      else pair(line, call);
    },
    finish: () => {
      for (const [id, lines] of waiting) for (const line of lines) pair(line, resultLines.get(id) ?? null);
    },
  };
}

/** Pairs a record with a message before or after it. */
function createOrderPairing(pair: Pair): {
  readonly addMessage: (entry: Entry) => void;
  readonly addRecord: (kind: 'answer' | 'next' | 'turn' | 'last', line: number) => void;
  readonly finish: () => void;
} {
  const waiting: { answer: number[]; next: number[] } = { answer: [], next: [] };
  const turn: { start: number | null; lastMessage: number | null } = { start: null, lastMessage: null };
  let lastMessage: number | null = null;
  const finishTurn = (): void => {
    if (turn.start !== null) pair(turn.start, turn.lastMessage);
  };
  const settle = (kind: 'answer' | 'next', message: number | null): void => {
    for (const line of waiting[kind].splice(0)) pair(line, message);
  };
  return {
    addMessage: ({ line, role }) => {
      lastMessage = line;
      turn.lastMessage = line;
      settle('next', line);
      if (role === 'assistant') settle('answer', line);
      else if (role === 'user') settle('answer', null);
    },
    addRecord: (kind, line) => {
      if (kind === 'last') return pair(line, lastMessage);
      if (kind !== 'turn') return void waiting[kind].push(line);
      finishTurn();
      turn.start = line;
      turn.lastMessage = null;
    },
    finish: () => {
      finishTurn();
      settle('next', lastMessage);
    },
  };
}
