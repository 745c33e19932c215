import type { Redactor } from '../../ports/redactor.ts';
import { findEncoded } from './decoded.ts';
import { isAtEdge } from './edge.ts';
import { createMasks, type Masks } from './masks.ts';
import type { SecretRule, SecretSpan } from './rule.ts';

/** A redactor for one run: masks are numbered in the order in which their secrets come. */
export function createRedactor(rules: readonly SecretRule[]): Redactor {
  const masks = createMasks();
  return {
    redact: (text) => {
      masks.reserve(text);
      const find = (plain: string) => findSecrets(plain, rules);
      const spans = joined([...find(text), ...findEncoded(text, find)]);
      for (const { start, end, kind } of spans) masks.maskFor(text.slice(start, end), kind);
      const all = joined([...spans, ...findKnown(text, masks)]);
      return all.length === 0 ? text : replaced(text, all, masks);
    },
    masked: () => masks.counts(),
  };
}

function findSecrets(text: string, rules: readonly SecretRule[]): readonly SecretSpan[] {
  const folded = foldCase(text);
  return rules.flatMap(({ keywords, find }) => {
    const isWorthALook = keywords.length === 0 || keywords.some((keyword) => folded.includes(keyword));
    return isWorthALook ? Array.from(find(text, folded)) : [];
  });
}

/** Places of secrets that were found before, in this text or in another. */
function findKnown(text: string, masks: Masks): readonly SecretSpan[] {
  const found: SecretSpan[] = [];
  for (const { secret, kind } of masks.remembered()) {
    for (let start = text.indexOf(secret); start >= 0; start = text.indexOf(secret, start + secret.length)) {
      const end = start + secret.length;
      if (isAtEdge(text, start) && !/[A-Za-z0-9_]/.test(text.charAt(end))) found.push({ start, end, kind });
    }
  }
  return found;
}

/** In order, without overlaps: spans that overlap become one, of the kind of the one that was found first. */
function joined(spans: readonly SecretSpan[]): readonly SecretSpan[] {
  const ranked = spans.map((span, rank) => ({ span, rank }));
  ranked.sort((a, b) => a.span.start - b.span.start || a.rank - b.rank);
  const result: { start: number; end: number; kind: string; rank: number }[] = [];
  for (const { span, rank } of ranked) {
    const last = result.at(-1);
    if (last === undefined || span.start >= last.end) {
      result.push({ ...span, rank });
      continue;
    }
    last.end = Math.max(last.end, span.end);
    if (rank < last.rank) {
      last.rank = rank;
      last.kind = span.kind;
    }
  }
  return result;
}

function replaced(text: string, spans: readonly SecretSpan[], masks: Masks): string {
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end, kind } of spans) {
    pieces.push(text.slice(from, start), masks.maskFor(text.slice(start, end), kind));
    from = end;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}

/** The text in lower case, at the same places: a few letters, such as İ, become two, and then only ASCII is changed. */
function foldCase(text: string): string {
  const folded = text.toLowerCase();
  return folded.length === text.length ? folded : text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
