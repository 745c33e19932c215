import type { Pattern } from '../re2/pattern.ts';
import type { SecretRule } from '../rule.ts';
import type { Allowlist, Finding } from './allowlist.ts';
import { entropyOf } from './entropy.ts';

export type RuleParts = {
  readonly id: string;
  readonly pattern: Pattern;
  /** 0: the first group that took part, or the whole match where there is none. */
  readonly secretGroup: number;
  /** Bits a character that a secret must have more than; 0: any. */
  readonly minEntropy: number;
  readonly keywords: readonly string[];
  readonly allowlists: readonly Allowlist[];
};

/** A rule of gitleaks' kind: what its expression finds, unless that is too regular or allowed to stay. */
export function toSecretRule(parts: RuleParts): SecretRule {
  const { pattern, secretGroup, minEntropy, allowlists } = parts;
  const kind = parts.id.replaceAll(/[^\w.-]+/g, '-').slice(0, MAX_KIND_CHARS);
  return {
    keywords: parts.keywords.map((keyword) => keyword.toLowerCase()),
    *find(text) {
      for (const match of pattern.matches(text)) {
        const span = secretOf(match, secretGroup);
        if (span === null || span.end === span.start) continue;
        const secret = text.slice(span.start, span.end);
        if (minEntropy > 0 && entropyOf(secret) <= minEntropy) continue;
        const finding: Finding = {
          secret,
          match: text.slice(match.start, match.end),
          line: () => lineAround(text, match.start, match.end),
        };
        if (!allowlists.some((allows) => allows(finding))) yield { ...span, kind };
      }
    },
  };
}

const MAX_KIND_CHARS = 64;
// As much of a line as a person would read; a transcript may have megabytes in one.
const MAX_LINE_CHARS = 2000;

type Span = { readonly start: number; readonly end: number };

function secretOf(match: Span & { readonly groups: readonly (Span | null)[] }, secretGroup: number): Span | null {
  const { start, end, groups } = match;
  if (secretGroup > 0) return groups[secretGroup - 1] ?? null;
  return groups.find((group) => group !== null && group.end > group.start) ?? { start, end };
}

function lineAround(text: string, start: number, end: number): string {
  const lineStart = text.lastIndexOf('\n', Math.max(0, start - 1)) + 1;
  const next = text.indexOf('\n', end);
  const lineEnd = next < 0 ? text.length : next;
  return text.slice(Math.max(lineStart, start - MAX_LINE_CHARS), Math.min(lineEnd, end + MAX_LINE_CHARS));
}
