import type { ConfigRequest } from '../../config/find.ts';
import type { SettingFlags } from '../../config/resolve.ts';
import type { Result } from '../../core/result.ts';

/** `syntax` is `<one>`, `[one-or-none]`, `<several...>` or `[any-number...]`. */
export type Operands = {
  readonly syntax: string;
  readonly description: string;
  readonly choices?: readonly string[];
};

export type Flag = {
  /** As help shows it: `-o, --output <path>`. A name in <> is a required value; `--no-x` turns x off. */
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly default?: string;
  /** The options (`inPlace`) that it cannot be used with. */
  readonly conflicts?: string | readonly string[];
  /** Returns the value, or a sentence that says what is wrong with it. `nowMs`: the time of the run, in Unix milliseconds. */
  readonly parse?: (text: string, nowMs: number) => Result<string | number, string>;
  /** The flag may be repeated; the option is the list of its values. */
  readonly isRepeatable?: true;
  /** The heading in the long help; without one it is an option of this command alone. */
  readonly group?: (typeof FLAG_GROUPS)[number];
  /** Few need it: the short help leaves it out. */
  readonly isRare?: true;
};

/** The headings of the long help, in its order. */
export const FLAG_GROUPS = ['What to compact', 'How much to keep', 'The model', 'Output', 'Safety'] as const;

export function takesValue({ flags }: Flag): boolean {
  return flags.endsWith('>');
}

/** `-o, --output <path>` → `-o` and `--output`. */
export function namesOf({ flags }: Flag): readonly string[] {
  return flags.split(/[ ,]+/).filter((word) => word.startsWith('-'));
}

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

/** What stands on the line of a command, and what follows from the flags that all commands share. */
export type Line<Options = object> = CommonRequest & {
  /** `compact score`; the command whose help explains the line. */
  readonly command: string;
  readonly operands: readonly string[];
  readonly options: Options;
  /** What stands behind `--`, for a command that passes it on. */
  readonly passed?: readonly string[];
  /** The operand is standard input: none was given, and something is piped in. */
  readonly isStdinImplied: boolean;
};

export type CommonRequest = { readonly outputOptions: OutputOptions; readonly settings: SettingsRequest };

/** How much a run prints, and how. */
export type OutputOptions = {
  readonly json: boolean;
  readonly verbosity: 'quiet' | 'normal' | 'verbose';
  readonly color: 'always' | 'never' | 'auto';
  readonly showProgress: boolean;
  /** What goes to stderr is lines of JSON, not text. */
  readonly log?: 'json';
};

/** Which settings apply. */
export type SettingsRequest = ConfigRequest & {
  readonly flags: SettingFlags;
  /** The limit for unpacking a compressed transcript; by default the file system's adapter decides. */
  readonly maxUnpackedBytes?: number;
};
