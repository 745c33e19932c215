/** What became of a message: it is still in the file, only quoted there, only summarized there, or left without a summary. */
export const OUTCOMES = ['kept', 'quoted', 'summarized', 'archived'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What the strip needs of a message. `score`: null if it was never scored. */
export type StripMessage = { readonly tokens: number; readonly score: number | null; readonly outcome: Outcome };

/** One cell of the strip: a message, or neighboring messages. */
export type StripCell = {
  /** Positions among the messages, from 0; `last` is included. */
  readonly first: number;
  readonly last: number;
  readonly tokens: Readonly<Record<Outcome, number>>;
  /** How many messages have this outcome. */
  readonly counts: Readonly<Record<Outcome, number>>;
  /** The highest score in the cell; 0 if no message has one. */
  readonly score: number;
};

/** Groups messages, in order, into at most `maxCells` cells that differ by at most one message. */
export function groupIntoCells(messages: readonly StripMessage[], maxCells: number): readonly StripCell[] {
  const count = Math.min(messages.length, maxCells);
  return Array.from({ length: count }, (_, at) => {
    const first = Math.floor((at * messages.length) / count);
    const last = Math.floor(((at + 1) * messages.length) / count) - 1;
    const tokens = { kept: 0, quoted: 0, summarized: 0, archived: 0 };
    const counts = { kept: 0, quoted: 0, summarized: 0, archived: 0 };
    let score = 0;
    for (const message of messages.slice(first, last + 1)) {
      tokens[message.outcome] += message.tokens;
      counts[message.outcome] += 1;
      score = Math.max(score, message.score ?? 0);
    }
    return { first, last, tokens, counts, score };
  });
}
