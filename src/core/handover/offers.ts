import { opensWithConsent } from '../languages/pattern.ts';
import { cutAtBlank } from './excerpt.ts';
import { type HandoverLine, quoted } from './line.ts';
import { type Piece, readPieces } from './prose.ts';
import type { AssistantText, Turn } from './turns.ts';

const CHOICE =
  /^(?:(?:ok(?:ay)?|yes|yeah|sure|go(?: with)?|let['’]?s (?:do|go with|try)|do|option|try|use|i (?:choose|pick|prefer|want))[,.!\s]+)*(?:option |number |#)?(\d{1,2}|[A-H])(?:[).!,:](?=\s|$)|(?=\s*$|\s+(?:[-–—&+]|(?:and|or|now|please|but|with|then|first|too|is|sounds|looks|works)\b)))/i;
const CONSENT =
  /^(?:yes|yep|yeah|y|ok(?:ay)?|sure|go(?: ahead| on| for it)?|do it|do that|please do|proceed|continue|sounds good|agreed?|correct|right|perfect|great|both|all|no|nope)\b/i;
/** An option by its name, anywhere in a request. An article is none. */
const NAMED = /\b(?:option|approach|variant|alternative|proposal|direction|plan)\s+#?(\d{1,2}|[B-H]|A(?!\s+\w))\b/i;
const MAX_CONSENT_CHARS = 120;
const MAX_NAMING_CHARS = 700;
const MAX_OFFER_CHARS = 300;
/** How many turns ago an option may have been offered. */
export const OFFER_TURNS = 3;

/**
 * What a choice or a short consent answers: the chosen option, or the last question of the assistant before it. `turnsBefore`: the nearest
 * first.
 */
export function offerOf({ request }: Turn, turnsBefore: readonly Turn[]): HandoverLine | null {
  const before = turnsBefore.slice(0, OFFER_TURNS);
  const words = request?.text.trim() ?? '';
  const numbers = numbersIn(words);
  if (numbers.length >= MIN_ITEMS) return itemsAnswered(numbers, before[0]?.ending ?? null);
  const isShort = words.length <= MAX_CONSENT_CHARS;
  const choice = (isShort ? CHOICE.exec(words)?.[1] : undefined) ?? NAMED.exec(words.slice(0, MAX_NAMING_CHARS))?.[1];
  if (choice === undefined && !(isShort && (CONSENT.test(words) || opensWithConsent(words)))) return null;
  const offers = before.flatMap(({ ending }) => (ending === null ? [] : [ending]));
  const offered = choice === undefined ? undefined : optionIn(offers, choice);
  if (offered !== undefined) return offered;
  const [last] = offers;
  const asked =
    !isShort || last === undefined ? undefined : readPieces(last.text).findLast(({ text }) => ASKS.test(text));
  return asked === undefined || last === undefined ? null : offerLine(asked.text, last);
}

const NUMBERED = /^(\d{1,2})[.)]\s/gm;
const MIN_ITEMS = 2;
const MAX_READ_CHARS = 4_000;
const MAX_ITEM_CHARS = 110;

/** The numbers of a text that begins with a numbered line. */
function numbersIn(words: string): readonly string[] {
  const places = [...words.slice(0, MAX_READ_CHARS).matchAll(NUMBERED)];
  return places[0]?.index === 0 ? [...new Set(places.map(([, number = '']) => number))] : [];
}

/** The items of a text with questions that a reply takes up by their numbers; null: it is a list of its own. */
function itemsAnswered(numbers: readonly string[], offer: AssistantText | null): HandoverLine | null {
  if (offer === null) return null;
  const pieces = readPieces(offer.text);
  if (!pieces.some(({ text }) => ASKS.test(text))) return null;
  const items = numbers.map((number) => labeled(pieces, new RegExp(`^\\**(?:[A-Za-z]+ )?${number}[.):]`)));
  if (items.some((item) => item === null)) return null;
  const quotes = items.map((item) => `“${cutAtBlank(item ?? '', MAX_ITEM_CHARS)}”`);
  return { text: `   (answers: ${quoted(quotes.join('; '), '     ')})`, messageIds: [offer.messageId] };
}

const ASKS = /[?？؟]["'”’)*_]*$/;

const OPTION_WORD = '(?:option|approach|variant|alternative|proposal|direction|plan|phase|step) ';

/** The option with this number or letter, from the newest text that offers one. */
function optionIn(offers: readonly AssistantText[], choice: string): HandoverLine | undefined {
  for (const word of [OPTION_WORD, '']) {
    const label = new RegExp(`^(?:[-*+•]\\s+)?\\**${word}${choice}(?:[.):]|\\s+[-—–])`, 'i');
    for (const said of offers) {
      const option = labeled(readPieces(said.text), label);
      if (option !== null) return offerLine(option, said);
    }
  }
  return undefined;
}

/** The last piece with a label, since what is offered stands at the end, or the first one under such a heading. */
function labeled(pieces: readonly Piece[], label: RegExp): string | null {
  const own = pieces.findLast(({ text }) => label.test(text));
  if (own !== undefined) return own.text;
  const headed = pieces.find(({ heading }) => label.test(heading));
  return headed === undefined ? null : `${headed.heading} ${headed.text}`;
}

function offerLine(offer: string, { messageId }: AssistantText): HandoverLine {
  return {
    text: `   (answers: “${quoted(cutAtBlank(offer, MAX_OFFER_CHARS), '     ')}”)`,
    messageIds: [messageId],
  };
}
