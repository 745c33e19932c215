import type { Role } from '../../core/message.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { OutputOptions } from '../invocation.ts';
import type { CliContext, CommandRequest, Session } from '../session.ts';

/** A command as data: its operands and flags, how they become a request, and how the request is run. */
export type CommandSpec<T> = {
  /** Several are parsed one after the other. */
  readonly operands: Operands | readonly Operands[];
  /** In the order in which help lists them. */
  readonly flags: readonly Flag[];
  /** Two or more lines that work as they are, and what each does. Help ends with them. */
  readonly examples: readonly [Example, Example, ...Example[]];
  /** The values of its first operand, for commands that have actions. */
  readonly actions?: readonly string[];
  /** Without operands it reads what is piped in. */
  readonly takesPipe?: true;
  readonly read: (line: ParsedLine) => T;
  /** Why flags and operands cannot be combined; null: they can. Looks only at the command line. */
  readonly findConflict?: (request: T) => string | null;
  readonly run: (context: CliContext, request: T) => Promise<ExitCode>;
};

/** A command whose requests can be run by code that does not know their type. */
export type Command<T = unknown> = Omit<CommandSpec<T>, 'read' | 'findConflict' | 'run'> & {
  /** The error names options that cannot be combined. */
  readonly read: (line: ParsedLine) => Result<Call<T>, string>;
};

export type Call<T> = { readonly request: T; readonly run: (context: CliContext) => Promise<ExitCode> };

export function defineCommand<T>({ read, findConflict, run, ...command }: CommandSpec<T>): Command<T> {
  return {
    ...command,
    read: (line) => {
      const request = read(line);
      const conflict = findConflict?.(request) ?? null;
      return conflict === null ? ok({ request, run: (context) => run(context, request) }) : err(conflict);
    },
  };
}

/** Runs `work` with settings and use cases. They are imported only here, because help does not need them. */
export async function inSession(
  context: CliContext,
  request: CommandRequest,
  work: (session: Session) => Promise<ExitCode>,
): Promise<ExitCode> {
  const session = await import('../session.ts');
  return session.inSession(context, request, work);
}

/** `syntax` is `<one>`, `[one-or-none]`, `<several...>` or `[any-number...]`. */
export type Operands = {
  readonly syntax: string;
  readonly description: string;
  readonly choices?: readonly string[];
};

export type Example = readonly [line: string, meaning: string];

export type Flag = {
  /** As help shows it: `-o, --output <path>`. A name in <> is a required value; `--no-x` turns x off. */
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly default?: string;
  /** The options (`inPlace`) that it cannot be used with. */
  readonly conflicts?: keyof Options | readonly (keyof Options)[];
  /** Returns the value, or a sentence that says what is wrong with it. */
  readonly parse?: ParseValue;
  /** The flag may be repeated; the option is the list of its values. */
  readonly isRepeatable?: true;
};

export function takesValue({ flags }: Flag): boolean {
  return flags.endsWith('>');
}

/** `-o, --output <path>` → `-o` and `--output`. */
export function namesOf({ flags }: Flag): readonly string[] {
  return flags.split(/[ ,]+/).filter((word) => word.startsWith('-'));
}

/** `nowMs`: the time of the run, in Unix milliseconds. */
export type ParseValue = (text: string, nowMs: number) => Result<string | number, string>;

export type ParsedLine = {
  readonly options: Options;
  readonly args: readonly string[];
  /** The operand is standard input: none was given, and something is piped in. */
  readonly isStdinImplied: boolean;
};

/** The values of all flags of all commands; a command gets only its own. */
export type Options = {
  /** The program's own version is asked for; or which version of a captured file. */
  readonly version?: boolean | number;
  readonly captured?: string;
  readonly captures?: boolean;
  /** Unix milliseconds. */
  readonly at?: number;
  readonly reread?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly progress: boolean;
  readonly color: OutputOptions['color'];
  readonly config?: string;
  readonly archive?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly trustConfig?: boolean;
  readonly list?: boolean;
  readonly revoke?: boolean;
  readonly user?: boolean;
  readonly local?: boolean;
  readonly project?: string;
  readonly allowCompact?: boolean;
  readonly undo?: boolean;
  readonly status?: boolean;
  readonly transcript?: string;
  readonly session?: string;
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
  readonly fresh?: boolean;
  /** False with --no-rules. */
  readonly rules?: boolean;
  readonly rule?: readonly string[];
  readonly folder?: readonly string[];
  readonly dropRule?: readonly string[];
  readonly output?: string;
  readonly inPlace?: boolean;
  readonly dryRun?: boolean;
  readonly ifOver?: number;
  readonly ifOverBudget?: boolean;
  readonly target?: number;
  readonly format?: string;
  readonly maxUnpacked?: number;
  readonly maxLine?: number;
  readonly filesFrom?: string;
  readonly add?: boolean;
  readonly retry?: boolean;
  readonly concurrency?: number;
  readonly keepRunning?: boolean;
  /** '2/4'. */
  readonly shard?: string;
  readonly conversation?: string;
  readonly formats?: boolean;
  readonly explain?: boolean;
  readonly message?: string;
  readonly plan?: boolean;
  readonly raw?: boolean;
  readonly limit?: number;
  readonly sort?: string;
  readonly largerThan?: number;
  /** Unix milliseconds. */
  readonly olderThan?: number;
  readonly reason?: string;
  readonly match?: string;
  readonly yes?: boolean;
  readonly despiteHold?: boolean;
  readonly partial?: boolean;
  readonly maxSize?: number;
  readonly keepLast?: number;
  readonly null?: boolean;
  readonly all?: boolean;
  readonly messages?: boolean;
  readonly batches?: boolean;
  readonly newest?: boolean;
  readonly role?: Role;
  /** Unix milliseconds. */
  readonly since?: number;
  readonly until?: number;
  readonly jsonl?: string;
  readonly parquet?: string;
  readonly source?: string;
};
