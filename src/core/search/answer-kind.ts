/** What a question wants to be told. Questions about time are a trait of their own: `MessageTraits.namesTime`. */
export type AnswerKind = 'person' | 'place' | 'number' | 'title' | 'reason';

/** What a message of the wanted kind gains, as a share of the best score by words. */
export const KIND_SHARE = 0.2;
/** So many of the best by words are read for it. */
export const KIND_MESSAGES = 30;
const MAX_QUERY_CHARS = 500;
const MAX_TEXT_CHARS = 4000;

const ASKED_BY: { readonly [kind in AnswerKind]: RegExp } = {
  person: /\bwho\b|\bnames?\b/i,
  place:
    /\bwhere\b|\b(?:which|what) (?:\w{1,20} )?(?:place|city|cities|country|countries|state|town|park|location|area)/i,
  number: /\bhow (?:many|much|often|old|far|long)\b|\bnumber of\b/i,
  title: /\b(?:which|what)\b.*\b(?:book|movie|film|song|novel|game|band|show|series|name|title)s?\b/i,
  reason: /\bwhy\b|\breason\b/i,
};

/** A capital inside a sentence. */
const NAME = String.raw`(?<=[a-z,;] )(?!I\b)[A-Z][a-z]`;

const TOLD_BY: { readonly [kind in AnswerKind]: RegExp } = {
  person: new RegExp(
    String.raw`${NAME}|\b(?:mom|dad|mother|father|sister|brother|husband|wife|friend|son|daughter|family|aunt|uncle|cousin|grandma|boss|coach|teacher|neighbor|colleague)s?\b`,
  ),
  place: /\b(?:in|at|to|from|near|around|visit(?:ed|ing)?) (?:the )?[A-Z][a-z]/,
  number:
    /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|dozen|once|twice|second|third|fourth|fifth|few|couple|several|every|weekly|daily)\b/i,
  title: new RegExp(String.raw`["“][^"”]{2,60}["”]|${NAME}`),
  reason: /\b(?:because|since|so that|to help|reason|inspired|made me|wanted to|that's why|in order)\b/i,
};

const KINDS = ['person', 'place', 'number', 'title', 'reason'] as const satisfies readonly AnswerKind[];

/** The kinds of answer that a query asks for; none for most. English only. */
export function readAnswerKinds(query: string): readonly AnswerKind[] {
  const asked = query.slice(0, MAX_QUERY_CHARS);
  return KINDS.filter((kind) => ASKED_BY[kind].test(asked));
}

/** Of how many of the kinds a text tells something. */
export function countToldKinds(text: string, kinds: readonly AnswerKind[]): number {
  const told = text.slice(0, MAX_TEXT_CHARS);
  return kinds.filter((kind) => TOLD_BY[kind].test(told)).length;
}
