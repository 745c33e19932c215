import type { CharSet } from './char-set.ts';

export type Assertion = 'line-start' | 'line-end' | 'text-start' | 'text-end' | 'word-edge' | 'no-word-edge';

/** A regular expression of Go's syntax, as a tree. */
export type Node =
  | { readonly kind: 'empty' }
  | { readonly kind: 'set'; readonly set: CharSet }
  | { readonly kind: 'assert'; readonly what: Assertion }
  /** Groups count from 1. */
  | { readonly kind: 'group'; readonly index: number; readonly node: Node }
  | { readonly kind: 'sequence'; readonly nodes: readonly Node[] }
  | { readonly kind: 'choice'; readonly nodes: readonly Node[] }
  | {
      readonly kind: 'repeat';
      readonly node: Node;
      readonly min: number;
      readonly max: number;
      readonly isGreedy: boolean;
    };

/** What is wrong with an expression, completing "its regex …". */
export type SyntaxProblem = { readonly problem: string; readonly at: number };

export type Flags = {
  readonly ignoresCase: boolean;
  readonly isMultiline: boolean;
  readonly dotMatchesLineEnd: boolean;
  readonly isUngreedy: boolean;
};
