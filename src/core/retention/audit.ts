import { type Span, splitLong, splitSentences } from '../extract/sentence.ts';
import { linesOf, messageText, type Segment, segmentsOf } from '../extract/units.ts';
import type { ConversationMessage } from '../message.ts';
import { type Fact, type KeyedFact, keyWords, MAX_STRETCH_CHARS, namesIn, sentenceKey } from './facts.ts';
import { safeCut } from '../extract/character.ts';
import type { Stemmer } from '../extract/terms.ts';
import { readMessages } from '../extract/passage.ts';
import { writeFacts } from '../handover/handover.ts';
import { selectUnits } from '../extract/select-units.ts';
import { renderLines } from '../extract/summary-lines.ts';

/** How many facts of the messages are in their summary, and which are not, in order. */
export type Retention = {
  readonly kept: number;
  readonly total: number;
  /** As a share of all facts; 1 if there are none. */
  readonly share: number;
  readonly lost: readonly Fact[];
};

type AuditInput = {
  readonly summary: string;
  readonly messages: readonly ConversationMessage[];
  /** A summary that stands next to this one. What it says counts as kept. */
  readonly previousSummary?: string | null;
};

/** Measures what a summary lost. Deterministic, in time linear in the text. */
export function auditRetention({ summary, messages, previousSummary = null }: AuditInput): Retention {
  const facts = findFacts(messages);
  const isSaid = readSummaries(previousSummary === null ? [summary] : [previousSummary, summary]);
  const lost = facts.filter((fact) => !isSaid(fact));
  const kept = facts.length - lost.length;
  return {
    kept,
    total: facts.length,
    share: facts.length === 0 ? 1 : kept / facts.length,
    lost: lost.map(({ kind, text, messageId }) => ({ kind, text, messageId })),
  };
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * Reads summaries, for finding facts in them. A name is found in any form (a path by its end, a commit by its first digits, a quantity without
 * separators), and a sentence if one sentence contains all its content words.
 */
function readSummaries(texts: readonly string[]): (fact: KeyedFact) => boolean {
  const keys = new Set<string>();
  const fileNames = new Set<string>();
  const sentencesOf = new Map<string, number[]>();
  let sentences = 0;
  const addSentence = (sentence: string): void => {
    for (const word of new Set(keyWords(sentence))) {
      const places = sentencesOf.get(word) ?? [];
      places.push(sentences);
      sentencesOf.set(word, places);
    }
    sentences += 1;
  };
  for (const text of texts) {
    for (const line of linesOf(text, { start: 0, end: text.length })) {
      for (const { start, end } of splitLong(text, line, MAX_STRETCH_CHARS)) {
        for (const { kind, key } of namesIn(text.slice(start, end))) {
          keys.add(`${kind} ${key}`);
          if (kind === 'path') fileNames.add(fileNameOf(key));
        }
      }
      for (const { start, end } of splitSentences(text, line)) addSentence(text.slice(start, end));
    }
  }
  const whole = texts.map(sentenceKey).join('\n');
  return ({ kind, key, text }) => {
    if (kind === 'error' || kind === 'rule')
      return UNSPACED.test(text) ? whole.includes(key) : sentencesIn(text).every((words) => hasAll(sentencesOf, words));
    // Summaries often name a file without its folder.
    return keys.has(`${kind} ${key}`) || (kind === 'path' && fileNames.has(fileNameOf(key)));
  };
}

function fileNameOf(pathKey: string): string {
  return pathKey.slice(pathKey.lastIndexOf('/') + 1);
}

function sentencesIn(text: string): readonly (readonly string[])[] {
  return splitSentences(text, { start: 0, end: text.length })
    .map(({ start, end }) => keyWords(text.slice(start, end)))
    .filter((words) => words.length > 0);
}

function hasAll(sentencesOf: ReadonlyMap<string, readonly number[]>, words: readonly string[]): boolean {
  const places = words.map((word) => sentencesOf.get(word) ?? []).sort((a, b) => a.length - b.length);
  const [rarest = [], ...others] = places;
  return rarest.some((place) => others.every((other) => other.includes(place)));
}

// The beginning of a call says what it is about; the rest is text that it writes.
const MAX_CALL_CHARS = 400;
// Tool output can be megabytes long; its beginning and end show how it ended.
const MAX_RESULT_CHARS = 24_000;
const MAX_ERROR_CHARS = 240;

/**
 * Finds the distinct facts of messages in order of appearance: names and quantities that people and models wrote or used in calls, failures
 * in results, and what the user said must always or never be. Names that only appear in tool output do not count, because nobody used them.
 */
function findFacts(messages: readonly ConversationMessage[]): readonly KeyedFact[] {
  const facts = new Map<string, KeyedFact>();
  for (const message of messages) {
    if (message.role === 'system') continue;
    const text = messageText(message);
    const add = (kind: Fact['kind'], written: string, key: string): void => {
      const id = `${kind} ${key}`;
      if (key !== '' && !facts.has(id)) facts.set(id, { kind, text: written, messageId: message.id, key });
    };
    for (const segment of segmentsOf(message, text, MAX_RESULT_CHARS)) addFacts(text, { segment, message, add });
  }
  return [...facts.values()];
}

type AddOptions = {
  readonly segment: Segment;
  readonly message: ConversationMessage;
  readonly add: (kind: Fact['kind'], text: string, key: string) => void;
};

function addFacts(text: string, { segment, message, add }: AddOptions): void {
  const { kind, start, end } = segment;
  if (kind === 'call') {
    const head = text.slice(start, safeCut(text, Math.min(end, start + MAX_CALL_CHARS)));
    // A name may be cut off at the end, and a letter after a backslash belongs to a JSON escape.
    const whole = end - start > MAX_CALL_CHARS ? head.replace(/[^\s"\\]*$/, '') : head;
    for (const name of namesIn(whole.replace(/\\["\\nrt]/g, '  '))) add(name.kind, name.text, name.key);
    return;
  }
  for (const line of linesOf(text, segment).flatMap((whole) => splitLong(text, whole, MAX_STRETCH_CHARS))) {
    const written = text.slice(line.start, line.end);
    if (isErrorLine(written)) {
      const [{ start, end } = line] = splitLong(text, line, MAX_ERROR_CHARS);
      const error = text.slice(start, end);
      add('error', error, sentenceKey(error));
    } else if (kind === 'prose') {
      for (const name of namesIn(written)) add(name.kind, name.text, name.key);
      if (message.role !== 'user') continue;
      for (const rule of rulesIn(text, line)) add('rule', rule, sentenceKey(rule));
    }
  }
}

/** A failure with its message: `TypeError: …`, `error TS2345: …`, `FATAL: …`, `exit code 1`. */
const ERROR_LINE =
  /(?<![\w.-])(?:[A-Z][A-Za-z]{0,60}(?:Error|Exception)|[Ee]rror|ERROR|FATAL|[Ff]atal|panic|FAILED|ERR!?|E[A-Z]{4,20})(?: [A-Z]{1,6}\d{1,6})?(?:\[[\w-]{1,40}\])?(?: \([^)\n]{1,60}\))?:\s|\b(?:exit(?:ed with)?|returned) (?:code|status) [1-9]/;
/** Source code, which mentions errors that did not happen. */
const CODE_LINE =
  /\b(?:throw|catch|instanceof|extends|import|return|const|class|def|raise|except)\b|\bnew [A-Z]|\.(?:error|warn)\(|f\(["'`]|%[vsdw]\b|^\s*(?:\/\/|\*|#)|^\d{1,7}[→\t]|^["'`{[]/;
const ERROR_HEAD_CHARS = 300;

function isErrorLine(line: string): boolean {
  const head = line.slice(0, ERROR_HEAD_CHARS);
  return ERROR_LINE.test(head) && !CODE_LINE.test(head);
}

// Words for what must always or never be, but not for what happened ("it never worked", "I don't know").
const ENGLISH =
  /\bmust(?:n['’]t)?\b|(?<!\b(?:i|we|you|he|she|it|they|that|this|which|who|has|have|had|was|is|are|['’]ve|['’]s|to) )\b(?:never|always)\b(?!\s+\p{L}+(?:ed|[^s\s]s)\b)|(?:^|[.,;:(–—-]\s*|\b(?:please|and|but|so|then|also|just) )(?:do not|don['’]t)\b|\b(?:under no circumstances|at all costs|no matter what|make sure|be sure to|is not allowed|are not allowed|not ever)\b/iu;
const OTHERS =
  /(?<![\p{L}])(?:muss|müssen|musst|darf(?:st)? (?:nicht|kein\p{L}*)|dürfen (?:nicht|kein\p{L}*)|nie|niemals|immer|auf keinen fall|unbedingt|nunca|siempre|debes?|deben|tienes? que|jamás|jamais|toujours|doit|doivent|il faut|ne (?:\p{L}+ )?pas)(?![\p{L}])/iu;
const IDEOGRAPHIC =
  /必须|必須|务必|不要|不得|不能|不可以|绝不|絕不|永远|永遠|总是|總是|一定要|禁止|必ず|絶対|常に|決して|しないで|ないでください|てはいけない|なければならない/;
const QUESTION = /[?？]["'”’)\]]*$/;
const MIN_CHARS = 8;
const MAX_CHARS = 400;

/** The sentences of a line that state what must always or never be. */
function rulesIn(text: string, line: Span): readonly string[] {
  return splitSentences(text, line)
    .map(({ start, end }) => text.slice(start, end))
    .filter((sentence) => sentence.length <= MAX_CHARS && isRule(sentence));
}

function isRule(sentence: string): boolean {
  if (QUESTION.test(sentence)) return false;
  if (IDEOGRAPHIC.test(sentence)) return true;
  return sentence.length >= MIN_CHARS && (ENGLISH.test(sentence) || OTHERS.test(sentence));
}

export const APPENDIX_HEAD = 'Details kept verbatim';

type AppendixOptions = {
  readonly summary: string;
  /** The messages that were summarized, in order. */
  readonly messages: readonly ConversationMessage[];
  /** The maximum length of the appendix with its heading, as a share of the summary's length. */
  readonly share: number;
  /** The maximum length of summary and appendix together. */
  readonly maxChars: number;
  readonly stem: Stemmer;
  /** Summaries that will stand next to this one. What they say is kept already. */
  readonly earlier?: readonly string[];
};

/**
 * Says what the summary does not: of work with tools its facts, of a talk sentences word for word. Empty if nothing worthwhile is missing or no
 * room is left. Begins with a blank line and its heading, so that it can be appended directly.
 */
export function buildAppendix({ summary, messages, share, maxChars, stem, earlier = [] }: AppendixOptions): string {
  const head = `\n\n${APPENDIX_HEAD}\n`;
  const budgetChars = Math.min(Math.floor(summary.length * share), maxChars - summary.length) - head.length;
  if (budgetChars <= 0) return '';
  const beside = [...earlier, summary];
  const facts = writeFacts({ messages, beside }, { maxChars: budgetChars, stem });
  if (facts !== null) return facts === '' ? '' : head + facts;
  const chosen = selectUnits(readMessages(messages), { budgetChars, stem, earlier: beside, onlyNovel: true });
  // What a line only announces is not there.
  const units = chosen.filter(({ text }) => !/[:：]\s*$/.test(text));
  return units.length === 0 ? '' : head + renderLines(units.map(({ line }) => line));
}
