import { err, ok, type Result } from '../../core/result.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { CliContext, CommandRequest, Session } from '../session.ts';

/** A command as data: its operands and flags, how they become a request, and how the request is run. */
export type CommandSpec<F extends readonly Flag[], T> = {
  /** Several are parsed one after the other. */
  readonly operands: Operands | readonly Operands[];
  /** In the order in which help lists them. */
  readonly flags: F;
  /** Two or more lines that work as they are, and what each does. Help ends with them. */
  readonly examples: readonly [Example, Example, ...Example[]];
  /** The values of its first operand, for commands that have actions. */
  readonly actions?: readonly string[];
  /** Without operands it reads what is piped in. */
  readonly takesPipe?: true;
  readonly read: (line: ParsedLine<OptionsOf<F>>) => T;
  /** Why flags and operands cannot be combined; null: they can. Looks only at the command line. */
  readonly findConflict?: (request: T) => string | null;
  readonly run: (context: CliContext, request: T) => Promise<ExitCode>;
};

/** A command whose requests can be run by code that does not know their type. */
export type Command<T = unknown> = Omit<CommandSpec<readonly Flag[], T>, 'read' | 'findConflict' | 'run'> & {
  /** The error names options that cannot be combined. */
  readonly read: (line: ParsedLine<object>) => Result<Call<T>, string>;
};

export type Call<T> = { readonly request: T; readonly run: (context: CliContext) => Promise<ExitCode> };

export function defineCommand<const F extends readonly Flag[], T>({
  read,
  findConflict,
  run,
  ...command
}: CommandSpec<F, T>): Command<T> {
  return {
    ...command,
    read: (line) => {
      // They were parsed as these flags say.
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
  readonly conflicts?: string | readonly string[];
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

type ParsedLine<Options> = {
  readonly options: Options;
  readonly args: readonly string[];
  /** The flags that stand on the line, in the command's order. */
  readonly given: readonly Flag[];
  /** The operand is standard input: none was given, and something is piped in. */
  readonly isStdinImplied: boolean;
};

/** The values that a line has for these flags: `--keep-recent <n>` is `keepRecent`, and `--no-rules` is `rules`. */
export type OptionsOf<F extends readonly Flag[]> = {
  readonly [One in F[number] as NameOf<One['flags']>]?: ValueOf<One> | undefined;
};

type NameOf<Flags extends string> = Flags extends `${string}--${infer Long}`
  ? Long extends `${infer Name} <${string}` | `no-${infer Name}`
    ? CamelCase<Name>
    : CamelCase<Long>
  : never;

type CamelCase<Name extends string> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;

type ValueOf<One extends Flag> = One extends { readonly parse: (...given: never) => Result<infer Value, string> }
  ? Value
  : One extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : One extends { readonly isRepeatable: true }
      ? readonly string[]
      : One['flags'] extends `${string}>`
        ? string
        : boolean;
