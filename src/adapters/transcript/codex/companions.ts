import type { Entry } from '../../../core/transcript.ts';

/** A mirror stands within so many records of what it mirrors. */
const NEAR_RECORDS = 30;

type Waiting = { readonly line: number; readonly position: number };

/** Finds for every record that is attached to a message the line of that message; null: there is none, or the record stands for itself. */
export function findCompanions(entries: readonly Entry[]): (entry: Entry) => number | null {
  const messageOf = new Map<number, number>();
  const pair = (line: number, message: number | null): void => {
    if (message !== null) messageOf.set(line, message);
  };
  const words = createWordsPairing(pair);
  const calls = createCallPairing(pair);
  const order = createOrderPairing(pair);
  entries.forEach((entry, position) => {
    if (entry.kind === 'message') {
      words.addMessage(entry, position);
      calls.addMessage(entry);
      order.addMessage(entry);
    } else if (entry.attachedTo?.kind === 'words') {
      words.addRecord(entry.attachedTo.key, { line: entry.line, position });
    } else if (entry.attachedTo?.kind === 'call') {
      calls.addRecord(entry.attachedTo.id, entry.line);
    } else if (entry.attachedTo !== undefined) {
      order.addRecord(entry.attachedTo.kind, entry.line);
    }
  });
  calls.finish();
  order.finish();
  return ({ line }) => messageOf.get(line) ?? null;
}

type Pair = (line: number, message: number | null) => void;

/** Equal words near each other, before or after; each message has one mirror and each mirror one message. */
function createWordsPairing(pair: Pair): {
  readonly addMessage: (entry: Entry, position: number) => void;
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
    addMessage: ({ line, wordsKey }, position) => {
      if (wordsKey === undefined) return;
      const record = takeNear(records, wordsKey, position);
      if (record === null) messages.set(wordsKey, { line, position });
      else pair(record.line, line);
    },
    addRecord: (key, record) => {
      const message = takeNear(messages, key, record.position);
      if (message === null) records.set(key, record);
      else pair(record.line, message.line);
    },
  };
}

/** The latest call of that id before the record, else the next; the result where the call is missing. */
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

/** By what comes before or after. */
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
