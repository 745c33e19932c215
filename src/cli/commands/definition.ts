import type { Role } from '../../core/message.ts';
import type { Result } from '../../core/result.ts';
import type { Manner, ScanInvocation, ScoreOrder } from '../invocation.ts';

/** A command as data: what may stand on its line, and how what stood there becomes an invocation. */
export type CommandDefinition<T> = {
  /** Several: one after the other. */
  readonly operands: Operands | readonly Operands[];
  /** In the order in which help lists them. */
  readonly flags: readonly Flag[];
  /** Without operands it takes what is piped in. */
  readonly takesPipe?: true;
  readonly read: (line: ParsedLine) => T;
};

/** `syntax` is `<one>`, `[one-or-none]`, `<several...>` or `[any-number...]`. */
export type Operands = {
  readonly syntax: string;
  readonly description: string;
  readonly choices?: readonly string[];
};

export type Flag = {
  /** As help shows it: `-o, --output <path>`. A name in <> is a value, which must follow; `--no-x` turns x off. */
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly default?: string;
  /** The options (`inPlace`) that it cannot stand beside. */
  readonly conflicts?: keyof Options | readonly (keyof Options)[];
  /** Gives the value, or a sentence about what is wrong with it. */
  readonly parse?: ParseValue;
  /** It may be given several times; the option is the list of its values. */
  readonly isRepeatable?: true;
};

/** `nowMs`: the time of the run, in Unix milliseconds. */
export type ParseValue = (text: string, nowMs: number) => Result<string | number, string>;

type ParsedLine = {
  readonly options: Options;
  readonly args: readonly string[];
  /** The operands that could have been meant as a command: none behind `run` or `--`. */
  readonly openWords: readonly string[];
  /** The operand is standard input, because there is none and something is piped in. */
  readonly isStdinImplied: boolean;
};

/** What the flags of all commands give; a command sees only its own. */
export type Options = {
  readonly version?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly progress: boolean;
  readonly color: Manner['color'];
  readonly config?: string;
  readonly archive?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly trustConfig?: boolean;
  readonly list?: boolean;
  readonly revoke?: boolean;
  readonly allowCompact?: boolean;
  readonly redact?: boolean;
  readonly preview?: boolean;
  /** From 0 to 1. */
  readonly minRetention?: number;
  readonly jobs?: number;
  readonly keepRecent?: number;
  readonly keepRecentTokens?: number;
  readonly chunkSize?: number;
  readonly maxSummaryTokens?: number;
  readonly summaryTokens?: number;
  readonly keepInvalid?: boolean;
  /** False with --no-rules. */
  readonly rules?: boolean;
  readonly rule?: readonly string[];
  readonly dropRule?: readonly string[];
  readonly output?: string;
  readonly inPlace?: boolean;
  readonly dryRun?: boolean;
  readonly ifOver?: number;
  readonly ifOverBudget?: boolean;
  readonly target?: number;
  readonly format?: string;
  readonly maxUnpacked?: number;
  readonly filesFrom?: string;
  readonly conversation?: string;
  readonly formats?: boolean;
  readonly explain?: boolean;
  readonly limit?: number;
  readonly sort?: ScoreOrder | ScanInvocation['sort'];
  readonly largerThan?: number;
  /** Unix milliseconds. */
  readonly olderThan?: number;
  readonly null?: boolean;
  readonly all?: boolean;
  readonly messages?: boolean;
  readonly batches?: boolean;
  readonly newest?: boolean;
  readonly role?: Role;
  /** Unix milliseconds. */
  readonly since?: number;
  readonly until?: number;
  readonly source?: string;
};
