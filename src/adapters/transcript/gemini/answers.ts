import type { MessageReading } from './message.ts';

/** Which results have been told so far, and on which line. */
export type Answers = {
  /** The line of the message that holds the results of one that says nothing else; null: it says something new. */
  readonly toldAt: (reading: MessageReading) => number | null;
  readonly add: (reading: MessageReading, line: number) => void;
};

/**
 * Gemini CLI records a result twice: with its call, in the message of the model, and as the message that brought it to the model. The first
 * place counts.
 */
export function createAnswers(): Answers {
  const lines = new Map<string, number>();
  return {
    toldAt: ({ decoded, isOnlyResults }) => {
      const ids = isOnlyResults ? (decoded.results ?? []) : [];
      const [line = null, ...others] = new Set(ids.map((id) => lines.get(id) ?? null));
      return others.length === 0 ? line : null;
    },
    add: ({ decoded, isOnlyResults }, line) => {
      if (!isOnlyResults) for (const call of decoded.results ?? []) lines.set(call, line);
    },
  };
}
