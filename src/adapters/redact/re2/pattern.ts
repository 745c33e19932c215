import { ok } from '../../../core/result.ts';
import type { Result } from '../../../core/result.ts';
import { compileExpression } from './compile.ts';
import { findMatch } from './match.ts';
import type { Match } from './match.ts';
import { parseExpression } from './parse.ts';
import { pointAt } from './context.ts';
import { createPrefilter } from './prefilter.ts';
import type { Prefilter } from './prefilter.ts';
import type { SyntaxProblem } from './syntax.ts';

/** A regular expression of Go's syntax. Matching takes time in proportion to the text, whatever the expression and the text. */
export type Pattern = {
  readonly groupCount: number;
  /** Whether it matches anywhere. */
  readonly test: (text: string) => boolean;
  /** All matches that are not empty, in order, none within another. */
  readonly matches: (text: string) => Iterable<Match>;
};

const LOOKAHEAD_SHARE = 16;

export function createPattern(source: string): Result<Pattern, SyntaxProblem> {
  const parsed = parseExpression(source);
  if (!parsed.ok) return parsed;
  const compiled = compileExpression(parsed.value);
  if (!compiled.ok) return compiled;
  const program = compiled.value;
  // Made when the first text comes: of many rules only a few ever meet one that has their keywords.
  const made: Prefilter[] = [];
  const mayMatch: Prefilter = (text, from) => {
    const prefilter = made[0] ?? createPrefilter(program);
    made[0] = prefilter;
    return prefilter(text, from);
  };
  return ok({
    groupCount: parsed.value.groupCount,
    test: (text) => mayMatch(text, 0) && findMatch(program, text, { from: 0, lookahead: { chars: 0 } }) !== null,
    *matches(text) {
      const lookahead = { chars: LOOKAHEAD_SHARE * text.length };
      for (let from = 0; from < text.length && mayMatch(text, from);) {
        const match = findMatch(program, text, { from, lookahead });
        if (match === null) return;
        if (match.end > match.start) yield match;
        from = match.end > match.start ? match.end : match.end + (pointAt(text, match.end) > 0xffff ? 2 : 1);
      }
    },
  });
}
