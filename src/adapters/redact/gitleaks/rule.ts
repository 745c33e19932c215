import { lazily } from '../../../core/lazy.ts';
import { entropyOf } from '../judge.ts';
import type { SecretRule } from '../rule.ts';
import data from './default-rules.json' with { type: 'json' };
import { RE2JS, RE2JSException } from 're2js';
import { err, ok, type Result } from '../../../core/result.ts';

/** gitleaks' default rules, except those listed as `leftOut` in the data. Expressions are compiled on first use. */
export function createDefaultRules(): readonly SecretRule[] {
  const shared = lazily(() => readAllowlist(data.allowlist, 'the shared allowlist').allows);
  return data.rules.map((rule) => {
    const own = lazily(() => (rule.allowlists ?? []).map((list) => readAllowlist(list, rule.id).allows));
    const pattern = lazily(() => {
      const compiled = createGoPattern(rule.regex);
      if (!compiled.ok) throw new Error(`a built-in rule does not compile: ${rule.regex} ${compiled.error}`);
      return compiled.value;
    });
    return toSecretRule(rule, pattern, (finding) => [...own(), shared()].some((allows) => allows(finding)));
  });
}

type RuleFacts = {
  readonly id: string;
  /** 0: the first group that matched, or the whole match if there is none. */
  readonly secretGroup?: number | undefined;
  /** Bits per character that a secret must exceed; 0: any. */
  readonly entropy?: number | undefined;
  readonly keywords?: readonly string[] | undefined;
};

/** A rule of gitleaks' kind: finds what its expression matches, unless that is too regular or allowed. */
export function toSecretRule(
  { id, secretGroup = 0, entropy = 0, keywords: words = [] }: RuleFacts,
  pattern: () => GoPattern,
  allows: Allowlist,
): SecretRule {
  const keywords = words.map((keyword) => keyword.toLowerCase());
  const kind = id.replaceAll(/[^\w.-]+/g, '-').slice(0, MAX_KIND_CHARS);
  return {
    keywords,
    *find(text, folded) {
      for (const window of windowsOf(folded, keywords)) {
        const piece = text.slice(window.start, window.end);
        for (const match of pattern().matches(piece)) {
          const span = withoutQuotes(piece, secretOf(match, secretGroup));
          if (span === null || span.end === span.start) continue;
          const secret = piece.slice(span.start, span.end);
          if (entropy > 0 && entropyOf(secret) <= entropy) continue;
          const line = () => lineAround(piece, match.start, match.end);
          if (allows({ secret, match: piece.slice(match.start, match.end), line })) continue;
          yield { start: window.start + span.start, end: window.start + span.end, kind };
        }
      }
    },
  };
}

const MAX_KIND_CHARS = 64;
// As much of a line as a person would read; a transcript's line may have megabytes.
const MAX_LINE_CHARS = 2000;

function secretOf(match: Match, secretGroup: number): Span | null {
  const { start, end, groups } = match;
  if (secretGroup > 0) return groups[secretGroup - 1] ?? null;
  return groups.find((group) => group !== null && group.end > group.start) ?? { start, end };
}

/** Some expressions match the quotes around a secret too. */
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

/** What a rule found, and where. */
type Finding = { readonly secret: string; readonly match: string; readonly line: () => string };

/** Whether a finding is allowed and should not be masked. */
type Allowlist = (finding: Finding) => boolean;

type AllowlistFacts = {
  readonly [list in 'regexes' | 'stopwords' | 'paths' | 'commits']?: readonly string[] | undefined;
} & { readonly condition?: string | undefined; readonly regexTarget?: string | undefined };

/**
 * `name` says whose allowlist it is, and starts the warnings. Paths and commits have no effect, because a conversation
 * has none.
 */
export function readAllowlist(list: AllowlistFacts, name: string) {
  const { regexes = [], stopwords = [], paths = [], commits = [] } = list;
  const warnings: string[] = [];
  const patterns: GoPattern[] = [];
  for (const source of regexes) {
    const pattern = createGoPattern(source);
    if (pattern.ok) patterns.push(pattern.value);
    else warnings.push(`${name}: the regex "${source}" is left out, it ${pattern.error}`);
  }
  const words = stopwords.map((word) => word.toLowerCase());
  const needsAll = ['AND', 'and', '&&'].includes(list.condition ?? 'OR');
  // Conditions that cannot be checked must not widen what is allowed.
  const isNever = needsAll && (paths.length > 0 || commits.length > 0 || patterns.length < regexes.length);
  if (isNever) warnings.push(`${name}: it is ignored, because not all of its conditions can be met in a conversation`);
  else if (paths.length > 0 || commits.length > 0) {
    warnings.push(`${name}: its paths and commits have no effect, because a conversation has none`);
  }
  const checks: Allowlist[] = [];
  if (patterns.length > 0) {
    const target = list.regexTarget ?? 'secret';
    checks.push((finding) => {
      const text = target === 'line' ? finding.line() : target === 'match' ? finding.match : finding.secret;
      return patterns.some((pattern) => pattern.test(text));
    });
  }
  if (words.length > 0) {
    checks.push(({ secret }) => {
      const folded = secret.toLowerCase();
      return words.some((word) => folded.includes(word));
    });
  }
  const allows: Allowlist = (finding) => {
    if (isNever || checks.length === 0) return false;
    return needsAll ? checks.every((check) => check(finding)) : checks.some((check) => check(finding));
  };
  return { allows, warnings };
}

/** Before a keyword there is at most a name that ends with it; after it come signs, spaces and the secret. */
const CHARS_BEFORE = 128;
const CHARS_AFTER = 1024;
/** A window ends at white space, so that no key is cut; no key is longer. */
const MAX_KEY_CHARS = 4096;
/**
 * Finding all matches can take quadratic time even with a linear engine, because each search may run to the end and
 * fail. So no search gets more text than this.
 */
const MAX_WINDOW_CHARS = 16_384;
const OVERLAP_CHARS = 2048;

/**
 * The parts of a text in which a rule can find something: around its keywords, or everywhere if it has none. Long parts
 * are cut into overlapping ones. `folded` and the keywords are in lower case.
 */
function windowsOf(folded: string, keywords: readonly string[]): readonly Span[] {
  if (keywords.length === 0) return cutLong({ start: 0, end: folded.length });
  const places: number[] = [];
  for (const keyword of keywords) {
    const step = Math.max(keyword.length, 64); // closer places are inside the previous window
    for (let at = folded.indexOf(keyword); at >= 0; at = folded.indexOf(keyword, at + step)) places.push(at);
  }
  const stretches: { start: number; end: number }[] = [];
  for (const place of places.sort((a, b) => a - b)) {
    const start = Math.max(0, place - CHARS_BEFORE);
    const last = stretches.at(-1);
    if (last !== undefined && place + CHARS_AFTER <= last.end) continue;
    const end = endOfWord(folded, place + CHARS_AFTER);
    if (last !== undefined && start <= last.end) last.end = end;
    else stretches.push({ start, end });
  }
  return stretches.flatMap(cutLong);
}

function endOfWord(text: string, from: number): number {
  if (from >= text.length) return text.length;
  const limit = Math.min(text.length, from + MAX_KEY_CHARS);
  for (let at = from; at < limit; at += 1) if (/\s/.test(text.charAt(at))) return at + 1;
  return limit;
}

function cutLong({ start, end }: Span): readonly Span[] {
  if (end - start <= MAX_WINDOW_CHARS) return [{ start, end }];
  const step = MAX_WINDOW_CHARS - OVERLAP_CHARS;
  const count = Math.ceil((end - start - OVERLAP_CHARS) / step);
  return Array.from({ length: count }, (_, index) => {
    const from = start + index * step;
    return { start: from, end: Math.min(end, from + MAX_WINDOW_CHARS) };
  });
}

type Span = { readonly start: number; readonly end: number };

/** A match and its groups in order; null: the group did not match. */
type Match = Span & { readonly groups: readonly (Span | null)[] };

/** A regular expression in Go's syntax. Matching always takes linear time. */
export type GoPattern = {
  readonly groupCount: number;
  /** Whether it matches anywhere in the text. */
  readonly test: (text: string) => boolean;
  /** All non-empty matches, in order, without overlaps. */
  readonly matches: (text: string) => Iterable<Match>;
};

/** The error completes "its regex …". */
export function createGoPattern(source: string): Result<GoPattern, string> {
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(source);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return err(`is not valid in Go's syntax: ${error.message.replace(/^error parsing regexp: /, '')}`);
  }
  const groupCount = expression.groupCount();
  return ok({
    groupCount,
    test: (text) => expression.test(text),
    *matches(text) {
      const matcher = expression.matcher(text);
      while (matcher.find()) {
        const start = matcher.start(0);
        const end = matcher.end(0);
        if (end === start) continue;
        const groups = Array.from({ length: groupCount }, (_, index): Span | null => {
          const groupStart = matcher.start(index + 1);
          return groupStart < 0 ? null : { start: groupStart, end: matcher.end(index + 1) };
        });
        yield { start, end, groups };
      }
    },
  });
}
