import { isCamelName, isNoValue, isPlainWord, looksGenerated, looksSpoken } from './judge.ts';
import labels from './labels.json' with { type: 'json' };
import type { SecretRule, SecretSpan } from './rule.ts';

const anyOf = (words: readonly string[]): string => words.join('|');
/** A label in any language, with the endings of its grammar; not within another word of its script. */
const LABEL = new RegExp(
  String.raw`(?:(?=[^A-Za-z])|(?<![\w+/-]|public |host ))(?:(?<password>${anyOf(labels.password)})|(?<key>${anyOf(labels.key)}))(?<ending>(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}])\p{L}\p{M}*){0,5})`,
  'giu',
);
/** What stands between a label and its value: it ends in a word such as "is", a sign or a quote, or there is next to nothing. */
const LINKED = new RegExp(
  String.raw`(?:(?:^|[\s\p{Script=Han}])(?:${anyOf(labels.is)})|[:=：＝—–→]|^|^['’]s\s)[\s"'\x60“”„«»‹›「『*(]*$`,
  'iu',
);
const OPENED = /["'`“”„«‹「『]$/u;
const CLOSING = /^["'`“”»›」』]/u;
const WORD = /[\x21-\x7e]+/g;
const LEADING = /^["'`([{<>*:]+/;
const TRAILING = /["'`)\]}>*.,:;?]+$/;
const SENTENCE_END = /[.!?;,。！？；，](?:\s|$)|\n/u;
/** These labels are in code and its documentation all the time, so more must speak for a secret. */
const ENGLISH = /^(?:pass(?:word|phrase|code|wd)?|pwd|pw|\w+ code)$/i;
/** As far as a value stands from its label, and how many words are looked at. */
const MAX_CHARS = 96;
const MAX_WORDS = 8;
/** Farther from a label, hexadecimal digits are a hash or an id. */
const MAX_HASH_DISTANCE = 12;
const MAX_PARTICLE_DISTANCE = 4;

/** Secrets in sentences and notes, in any language: `the password for x is …`, `Пароль: …`, `パスワードは…です`. */
export const LABEL_RULE: SecretRule = {
  keywords: [...labels.password, ...labels.key].map((label) => label.toLowerCase()),
  *find(text) {
    for (const match of text.matchAll(LABEL)) {
      const from = match.index + match[0].length;
      if (/^(?:pwd|pw(?!d))\p{L}/iu.test(match[0]) || (/\w$/.test(match[0]) && /[\w+/-]/.test(text.charAt(from))))
        continue;
      const { password, key } = match.groups ?? {};
      const found = key === undefined ? passwordAfter(text, from, !ENGLISH.test(password ?? '')) : keyAfter(text, from);
      if (found !== null) yield found;
    }
  },
};

function passwordAfter(text: string, from: number, isForeign: boolean): SecretSpan | null {
  for (const { start, value, between, isLast } of wordsAfter(text, from)) {
    // A particle far behind the label may belong to something else.
    const isLinked =
      LINKED.test(between) &&
      !(/[はがは이가은는]$/u.test(between) && between.length > MAX_PARTICLE_DISTANCE && !isUnmistakable(value));
    const end = start + value.length;
    const isQuoted =
      OPENED.test(between.trimEnd() + text.slice(start - 1, start).trim()) && CLOSING.test(text.slice(end, end + 1));
    const accepts = isLinked
      ? (/\bto\s*$/i.test(between) && !isSet(text, from) ? isStrong(value) : isSpoken(value, between)) ||
        (isQuoted && /^[A-Za-z]{5,32}$/.test(value) && !isNoValue(value)) ||
        (isLoneWord(value, between, isForeign) && ENDS_SENTENCE.test(text.slice(end, end + 8)))
      : isUnmistakable(value) && (isForeign || !/\w/.test(between));
    if (accepts) return { start, end, kind: 'password' };
    if (isLast) break;
  }
  return null;
}

function keyAfter(text: string, from: number): SecretSpan | null {
  for (const { start, value, between } of wordsAfter(text, from)) {
    const near = between.trim().length <= MAX_HASH_DISTANCE || !/^[0-9a-f]+$/i.test(value);
    const isKey = near && LINKED.test(between) && /^[\w.~+/-][\w.~+/=-]+$/.test(value) && looksGenerated(value);
    if (isKey) return { start, end: start + value.length, kind: 'token' };
  }
  return null;
}

/** `set the password to …`, `changed the password for x to …` */
function isSet(text: string, from: number): boolean {
  return /\b(?:set|sets|chang\w+|reset\w*|updat\w+)\b[^\n.]{0,40}$/i.test(text.slice(Math.max(0, from - 60), from));
}

/** Directly after the label, and without a sign or a quote, only what holds a digit. */
function isSpoken(value: string, between: string): boolean {
  return looksSpoken(value) && !/^[=&|?@/.]|[\\`"<>]/.test(value) && (/\d/.test(value) || between.trim() !== '');
}

/** Nothing but a password, wherever it stands in the sentence. */
function isUnmistakable(value: string): boolean {
  return (
    isStrong(value) &&
    (/[!#%*+=~^?@$&_.-]/.test(value) || (value.length >= 10 && /\d.*\d/.test(value))) &&
    !isCamelName(value)
  );
}

/** Both cases and a digit, or a digit and a sign: no name of a file or a host. */
function isStrong(value: string): boolean {
  if (!looksSpoken(value) || !/\d/.test(value) || /^[=&|?@/.]|[\\`"<>]/.test(value)) return false;
  return /[!#%*+=~^?@$&]/.test(value) || (/[a-z]/.test(value) && /[A-Z]/.test(value));
}

/** An ordinary word that a label and a colon, or "is", introduce and that ends the sentence: `Passwort: sunshine`, `the password is sunshine.` */
function isLoneWord(word: string, between: string, isForeign: boolean): boolean {
  if (!isPlainWord(word) || word.length < MIN_LONE_CHARS) return false;
  return isForeign
    ? /(?:[:：=—–]|^\s?(?:lautet|ist|est|es|é|è|is|это|to|är))[ \t]{0,2}$/iu.test(between)
    : /^\s?(?:is|was):?\s$/i.test(between);
}

const MIN_LONE_CHARS = 7;
const ENDS_SENTENCE = /^[.。]?[ \t]*(?:\r?\n|$)/u;

type Word = { readonly start: number; readonly value: string; readonly between: string; readonly isLast: boolean };

/** The words of ASCII after a label, up to the end of the sentence, and that in the next lines if it ends in a colon. */
function* wordsAfter(text: string, from: number): Iterable<Word> {
  const near = text.slice(from, from + MAX_CHARS);
  let count = 0;
  for (const { 0: word, index } of near.matchAll(WORD)) {
    const before = near.slice(0, index);
    const brk = before.search(SENTENCE_END);
    if (brk >= 0 && !/^[^\n]{0,64}(?:[:：]|\b(?:is|ist|est|es))[ \t]*\r?\n\s*(?:```\w{0,12}\s*\n\s*)?$/u.test(before))
      return;
    WHOLE_WORD.lastIndex = from + index;
    const whole = index + word.length === near.length ? (WHOLE_WORD.exec(text)?.[0] ?? '') : word;
    const lead = LEADING.exec(whole)?.[0].length ?? 0;
    const value = whole.slice(lead).replace(TRAILING, '');
    count += 1;
    const isLast = count >= MAX_WORDS;
    yield { start: from + index + lead, value, between: brk >= 0 ? ':\n' : before + whole.slice(0, lead), isLast };
    if (isLast || brk >= 0) return;
  }
}

const WHOLE_WORD = /[\x21-\x7e]{1,1024}/y;
