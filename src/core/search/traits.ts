/** What ranking wants to know of a message besides its words. */
export type MessageTraits = {
  /** It ends as a question: what is asked there is answered elsewhere. */
  readonly isQuestion: boolean;
  /** It says when. */
  readonly namesTime: boolean;
};

/** Beyond this nobody tells when: it was pasted. */
const MAX_TIME_CHARS = 4000;
const MAX_END_CHARS = 400;

/** A question mark at the end, behind which only attachments and closing marks may stand. */
const QUESTION_END = /[?？؟](?:\s|["'”’)*_]|\[[^\][]{0,300}\])*$/u;
const TIME =
  /\b(?:yesterday|today|tomorrow|tonight|ago|last|next|week(?:s|end|ends)?|months?|years?|days?|mornings?|evenings?|recently|soon|since|mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thurs?(?:day)?|fri(?:day)?|satur(?:day)|sunday|january|february|march|april|may|june|july|august|september|october|november|december|(?:1[5-9]|20)\d\d|\d{1,2}(?:st|nd|rd|th))\b|\d{1,2}:\d\d|[年月日号]/iu;

export function readTraits(text: string): MessageTraits {
  return {
    isQuestion: QUESTION_END.test(text.slice(-MAX_END_CHARS)),
    namesTime: TIME.test(text.slice(0, MAX_TIME_CHARS)),
  };
}
