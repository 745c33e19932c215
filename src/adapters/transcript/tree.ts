import type { Entry } from '../../core/transcript.ts';

/** Entries that name their parents. If several have one id, the last one counts, as for anyone who parses the file. */
export type Tree = {
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
    pathFrom: (entry) => {
      const path = new Set<Entry>();
      for (let at = entry; at !== undefined && !path.has(at); at = parentOf(at)) path.add(at);
      return [...path];
    },
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
