import { givesOrders } from '../extract/quoting.ts';
import type { Fact } from './fact.ts';
import type { FalseQuotation } from './quotations.ts';

// Enough to see what is meant; all of them would be a summary of their own.
const MAX_QUOTATIONS = 5;
const MAX_FACTS = 30;
const MAX_CHARS = 120;

/** What a model is told of its summary, completing "it could not be used: …". Text of the transcript stands in it as JSON strings, and none that gives orders. */
export function describeFlaws({
  quotations,
  lost,
}: {
  readonly quotations: readonly FalseQuotation[];
  readonly lost: readonly Fact[];
}): string {
  const words = listed(quotations.map(({ text }) => text).slice(0, MAX_QUOTATIONS));
  const facts = listed(
    lost
      .map(({ text }) => text)
      .filter((text) => !givesOrders(text))
      .slice(0, MAX_FACTS),
  );
  const flaws = [
    ...(quotations.length === 0
      ? []
      : [
          `it quotes the user with words that no message of the user has (${words}): quote exactly what was said, or tell it without quotation marks`,
        ]),
    ...(lost.length === 0 ? [] : [`it leaves out what is needed later${facts === '' ? '' : `, such as ${facts}`}`]),
  ];
  return flaws.join('; and ');
}

function listed(texts: readonly string[]): string {
  return texts
    .map((text) => JSON.stringify(text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS)}…`))
    .join(', ');
}
