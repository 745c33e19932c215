/** What is wrong with the configuration: the user's to mend, before anything runs. */
export type ConfigProblem =
  | { readonly kind: 'config-missing'; readonly path: string; readonly namedBy: '--config' | '$COMPACT_CONFIG' }
  | { readonly kind: 'config-unreadable'; readonly path: string; readonly reason: string }
  /** Line and column count from 1. */
  | {
      readonly kind: 'config-syntax';
      readonly path: string;
      readonly line: number;
      readonly column: number;
      readonly problem: string;
    }
  | {
      readonly kind: 'config-unknown-key';
      readonly path: string;
      readonly line: number | null;
      /** Dotted, as it stands in the file. */
      readonly key: string;
      /** Dotted. */
      readonly nearest: string;
    }
  /** `problem` completes "KEY …"; `found` is the value as text. */
  | {
      readonly kind: 'config-value';
      readonly path: string;
      readonly line: number | null;
      readonly key: string;
      readonly problem: string;
      readonly found: string;
      readonly nearest: string | null;
    };
