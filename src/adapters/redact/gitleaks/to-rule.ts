import type { GoPattern, Match, Span } from '../go-pattern.ts';
import type { SecretRule } from '../rule.ts';
import { windowsOf } from '../windows.ts';
import type { Allowlist, Finding } from './allowlist.ts';
import { entropyOf } from './entropy.ts';

export type RuleParts = {
  readonly id: string;
  /** Compiled when the first text comes that it has to look at. */
  readonly pattern: () => GoPattern;
  /** 0: the first group that took part, or the whole match where there is none. */
  readonly secretGroup: number;
  /** Bits a character that a secret must have more than; 0: any. */
  readonly minEntropy: number;
  readonly keywords: readonly string[];
  readonly allowlists: readonly Allowlist[];
};

/** A rule of gitleaks' kind: what its expression finds, unless that is too regular or allowed to stay. */
export function toSecretRule(parts: RuleParts): SecretRule {
  const { secretGroup, minEntropy, allowlists } = parts;
  const keywords = parts.keywords.map((keyword) => keyword.toLowerCase());
  const kind = parts.id.replaceAll(/[^\w.-]+/g, '-').slice(0, MAX_KIND_CHARS);
  return {
    keywords,
    *find(text, folded) {
      for (const window of windowsOf(folded, keywords)) {
        const piece = text.slice(window.start, window.end);
        for (const match of parts.pattern().matches(piece)) {
          const span = withoutQuotes(piece, secretOf(match, secretGroup));
          if (span === null || span.end === span.start) continue;
          const secret = piece.slice(span.start, span.end);
          if (minEntropy > 0 && entropyOf(secret) <= minEntropy) continue;
          const finding: Finding = {
            secret,
            match: piece.slice(match.start, match.end),
            line: () => lineAround(piece, match.start, match.end),
          };
          if (allowlists.some((allows) => allows(finding))) continue;
          yield { start: window.start + span.start, end: window.start + span.end, kind };
        }
      }
    },
  };
}

const MAX_KIND_CHARS = 64;
// As much of a line as a person would read; a transcript may have megabytes in one.
const MAX_LINE_CHARS = 2000;

function secretOf(match: Match, secretGroup: number): Span | null {
  const { start, end, groups } = match;
  if (secretGroup > 0) return groups[secretGroup - 1] ?? null;
  return groups.find((group) => group !== null && group.end > group.start) ?? { start, end };
}

/** Some expressions take the quotes around a secret along. */
function withoutQuotes(text: string, span: Span | null): Span | null {
  if (span === null || !/^(["'`])[^]*\1$/.test(text.slice(span.start, span.end))) return span;
  return span.end - span.start < 2 ? span : { start: span.start + 1, end: span.end - 1 };
}

function lineAround(text: string, start: number, end: number): string {
  const lineStart = text.lastIndexOf('\n', Math.max(0, start - 1)) + 1;
  const next = text.indexOf('\n', end);
  const lineEnd = next < 0 ? text.length : next;
  return text.slice(Math.max(lineStart, start - MAX_LINE_CHARS), Math.min(lineEnd, end + MAX_LINE_CHARS));
}
