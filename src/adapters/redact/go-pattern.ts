import { RE2JS, RE2JSException } from 're2js';
import { err, ok, type Result } from '../../core/result.ts';

export type Span = { readonly start: number; readonly end: number };

/** A match and its groups in order; null: the group did not match. */
export type Match = Span & { readonly groups: readonly (Span | null)[] };

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
  const compiled = compile(source);
  if (!compiled.ok) return compiled;
  const expression = compiled.value;
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

function compile(source: string): Result<RE2JS, string> {
  try {
    return ok(RE2JS.compile(source));
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return err(`is not valid in Go's syntax: ${error.message.replace(/^error parsing regexp: /, '')}`);
  }
}
