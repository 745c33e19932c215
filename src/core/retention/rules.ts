import { type Span, splitSentences } from '../extract/sentence.ts';

// Words by which somebody says what must always or never be: not what happened to be so ("it never worked", "I don't know").
const ENGLISH =
  /\bmust(?:n['’]t)?\b|(?<!\b(?:i|we|you|he|she|it|they|that|this|which|who|has|have|had|was|is|are|['’]ve|['’]s|to) )\b(?:never|always)\b(?!\s+\p{L}+(?:ed|[^s\s]s)\b)|(?:^|[.,;:(–—-]\s*|\b(?:please|and|but|so|then|also|just) )(?:do not|don['’]t)\b|\b(?:under no circumstances|at all costs|no matter what|make sure|be sure to|is not allowed|are not allowed|not ever)\b/iu;
const OTHERS =
  /(?<![\p{L}])(?:muss|müssen|musst|darf(?:st)? (?:nicht|kein\p{L}*)|dürfen (?:nicht|kein\p{L}*)|nie|niemals|immer|auf keinen fall|unbedingt|nunca|siempre|debes?|deben|tienes? que|jamás|jamais|toujours|doit|doivent|il faut|ne (?:\p{L}+ )?pas)(?![\p{L}])/iu;
const IDEOGRAPHIC =
  /必须|必須|务必|不要|不得|不能|不可以|绝不|絕不|永远|永遠|总是|總是|一定要|禁止|必ず|絶対|常に|決して|しないで|ないでください|てはいけない|なければならない/;
const QUESTION = /[?？]["'”’)\]]*$/;
const MIN_CHARS = 8;
const MAX_CHARS = 400;

/** The sentences of a line that say what must always or never be. */
export function rulesIn(text: string, line: Span): readonly string[] {
  return splitSentences(text, line)
    .map(({ start, end }) => text.slice(start, end))
    .filter((sentence) => sentence.length <= MAX_CHARS && isRule(sentence));
}

function isRule(sentence: string): boolean {
  if (QUESTION.test(sentence)) return false;
  if (IDEOGRAPHIC.test(sentence)) return true;
  return sentence.length >= MIN_CHARS && (ENGLISH.test(sentence) || OTHERS.test(sentence));
}
