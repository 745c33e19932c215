type OpenCall = { readonly id: string; readonly name: string };

/** Tells which call a result without an id answers: some producers leave it to the order, or to the function's name. */
export type Pairing = {
  /** A record of the conversation makes these calls, or none. */
  readonly noteCalls: (conversation: string, calls: readonly OpenCall[]) => void;
  /** The call with this id is answered. */
  readonly noteResult: (conversation: string, id: string) => void;
  /** The unanswered call of that name, or the first one; null: none is open. */
  readonly takeCall: (conversation: string, name: string | undefined) => string | null;
};

/** Only the calls of one turn are open: an answer never reaches back over other messages to a call that was given up. */
export function createPairing(): Pairing {
  const open = new Map<string, { calls: readonly OpenCall[]; isCalling: boolean }>();
  const stateOf = (conversation: string): { calls: readonly OpenCall[]; isCalling: boolean } => {
    const known = open.get(conversation);
    if (known !== undefined) return known;
    const fresh = { calls: [], isCalling: false };
    open.set(conversation, fresh);
    return fresh;
  };
  const answer = (conversation: string, id: string): void => {
    const state = stateOf(conversation);
    state.calls = state.calls.filter((call) => call.id !== id);
    state.isCalling = false;
  };
  return {
    noteCalls: (conversation, calls) => {
      const state = stateOf(conversation);
      if (calls.length > 0) state.calls = state.isCalling ? [...state.calls, ...calls] : calls;
      state.isCalling = calls.length > 0;
    },
    noteResult: answer,
    takeCall: (conversation, name) => {
      const { calls } = stateOf(conversation);
      const call = calls.find((one) => one.name === name) ?? calls[0];
      if (call !== undefined) answer(conversation, call.id);
      return call?.id ?? null;
    },
  };
}

/** Gives the call that a result without an id answers: of one line, each time it is asked, of its next such result. */
export type FindCall = (name: string | undefined) => string | null;

/** Remembers what was found when a line was new, so that it is the same whenever the line is read again. */
export function createCallFinder(): (
  pairing: Pairing,
  place: { readonly line: number; readonly conversation: string; readonly isNew: boolean },
) => FindCall {
  const answered = new Map<string, string>();
  return (pairing, { line, conversation, isNew }) => {
    let position = 0;
    return (name) => {
      position += 1;
      const key = `${line}:${position}`;
      if (!isNew) return answered.get(key) ?? null;
      const taken = pairing.takeCall(conversation, name);
      if (taken !== null) answered.set(key, taken);
      return taken;
    };
  };
}
