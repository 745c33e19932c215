import { splitLong, splitSentences } from '../extract/sentence.ts';
import { linesOf } from '../extract/units.ts';
import type { ConversationMessage } from '../message.ts';
import { type Fact, type KeyedFact, keyWords, MAX_STRETCH_CHARS, namesIn, sentenceKey } from './facts.ts';
import { findFacts } from './find-facts.ts';

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
  /** The messages that were summarized. */
  readonly messages: readonly ConversationMessage[];
  /** A summary that stands next to this one. What it says counts as kept. */
  readonly previousSummary?: string | null;
};

/** Measures what a summary lost. Deterministic, in time linear in the text. */
export function auditRetention({ summary, messages, previousSummary = null }: AuditInput): Retention {
  const facts = findFacts(messages);
  const said = readSummaries(previousSummary === null ? [summary] : [previousSummary, summary]);
  const lost = facts.filter((fact) => !said.has(fact));
  const kept = facts.length - lost.length;
  return {
    kept,
    total: facts.length,
    share: facts.length === 0 ? 1 : kept / facts.length,
    lost: lost.map(({ kind, text, messageId }) => ({ kind, text, messageId })),
  };
}

/** The content of summaries, which can be searched for facts. */
type SummaryFacts = { readonly has: (fact: KeyedFact) => boolean };

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * Reads summaries. A name is found in any form (a path by its end, a commit by its first digits, a quantity without separators), and a
 * sentence if one sentence contains all its content words.
 */
function readSummaries(texts: readonly string[]): SummaryFacts {
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
  return {
    has: ({ kind, key, text }) => {
      if (kind === 'error' || kind === 'rule') {
        return UNSPACED.test(text)
          ? whole.includes(key)
          : sentencesIn(text).every((words) => hasAll(sentencesOf, words));
      }
      // Summaries often name a file without its folder.
      return keys.has(`${kind} ${key}`) || (kind === 'path' && fileNames.has(fileNameOf(key)));
    },
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

/** Whether one sentence contains all of the words. */
function hasAll(sentencesOf: ReadonlyMap<string, readonly number[]>, words: readonly string[]): boolean {
  const places = words.map((word) => sentencesOf.get(word) ?? []).sort((a, b) => a.length - b.length);
  const [rarest = [], ...others] = places;
  return rarest.some((place) => others.every((other) => other.includes(place)));
}
