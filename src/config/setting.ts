/**
 * The values that are allowed. A `whole-number` may also be a string: "30k". `min` and `max` are included, `above` is
 * not.
 */
export type Form =
  | { readonly kind: 'string' | 'url' | 'secret' | 'path' | 'strings' | 'boolean' | 'database' | 'age' | 'size' }
  | { readonly kind: 'whole-number'; readonly min: 0 | 1; readonly max?: number | undefined }
  | ({ readonly kind: 'number' } & Range)
  | { readonly kind: 'choice'; readonly choices: readonly string[]; readonly aliases: Aliases };

/** What people also type, and which choice they mean. */
type Aliases = { readonly [alias: string]: string };

/**
 * What a command uses a setting for. selection: which messages stay, and the order of summaries; model: requests to a
 * service, and their cost; archive: which archive is opened; embedding: vectors; retention: what is pruned.
 */
export type SettingsUse = 'selection' | 'model' | 'archive' | 'embedding' | 'retention';

type Facts<V, D extends V | null> = {
  /** Null: not set. `doc` then says what happens without it. */
  readonly default: D;
  /** One line, for people who write a configuration file. */
  readonly doc: string;
  /** What a number counts. */
  readonly unit?: string;
  /** Shown if there is no default. */
  readonly example?: V;
  /** What applies to most people, if the default depends on the environment. */
  readonly usual?: V;
  /** ['selection'] if omitted. */
  readonly uses?: readonly SettingsUse[];
  /**
   * What a project's file may set before the user trusts it; nothing if omitted. 'lower': not more than the default.
   */
  readonly untrusted?: 'any' | 'lower';
  /** The flag that sets it, if its name differs from the key's. */
  readonly flag?: string;
};

export type Setting<V = unknown, D extends V | null = V | null> = Facts<V, D> & { readonly form: Form };

/** The value that applies; null if the default is null. */
export type ValueOf<S> = S extends Setting<infer V, infer D> ? (null extends D ? V | null : V) : never;
/** The value as a file sets it. */
export type FileValueOf<S> = S extends Setting<infer V, infer _D> ? V : never;

const ofKind =
  (kind: 'string' | 'url' | 'secret' | 'path' | 'database' | 'age' | 'size') =>
  <D extends string | null>(facts: Facts<string, D>): Setting<string, D> => ({ form: { kind }, ...facts });

export const text = ofKind('string');
export const url = ofKind('url');
/** The URL of a Postgres database, without a password. */
export const database = ofKind('database');
/** How long ago, or a day: '180d', '2026-03-02'. */
export const age = ofKind('age');
/** '20GB' */
export const size = ofKind('size');
/** Never shown. */
export const secret = ofKind('secret');
/** Relative to the file that sets it; `~` is the user's home. */
export const path = ofKind('path');

type Texts = readonly string[];
export const texts = (facts: Facts<Texts, Texts>): Setting<Texts, Texts> => ({ form: { kind: 'strings' }, ...facts });
export const yesOrNo = (facts: Facts<boolean, boolean>): Setting<boolean, boolean> => ({
  form: { kind: 'boolean' },
  ...facts,
});

type Range = {
  readonly min?: number | undefined;
  readonly above?: number | undefined;
  readonly max?: number | undefined;
};

export type WholeNumber<D extends number | null> = Facts<number, D> & {
  readonly min: 0 | 1;
  readonly max?: number | undefined;
};

export function wholeNumber<D extends number | null>({ min, max, ...facts }: WholeNumber<D>): Setting<number, D> {
  return { form: { kind: 'whole-number', min, max }, ...facts };
}

export function decimal<D extends number | null>({
  min,
  above,
  max,
  ...facts
}: Facts<number, D> & Range): Setting<number, D> {
  return { form: { kind: 'number', min, above, max }, ...facts };
}

export function oneOf<const C extends string, D extends C | null>(
  choices: readonly C[],
  { aliases = {}, ...facts }: Facts<C, D> & { aliases?: Aliases },
): Setting<C, D> {
  return { form: { kind: 'choice', choices, aliases }, ...facts };
}

/** Everything that can be written for a choice. */
export function namesOfChoice({ choices, aliases }: Extract<Form, { kind: 'choice' }>): readonly string[] {
  return [...choices, ...Object.keys(aliases)];
}

/** "a whole number of 1 or more": completes "must be …". */
export function describeForm(form: Form): string {
  switch (form.kind) {
    case 'whole-number':
      return form.max === undefined
        ? `a whole number of ${form.min} or more (30000, "30k", "1.5M")`
        : `a whole number from ${form.min} to ${form.max}`;
    case 'number':
      return `a number ${describeRange(form)}`;
    case 'choice':
      return `one of ${namesOfChoice(form)
        .map((choice) => `"${choice}"`)
        .join(', ')}`;
    case 'boolean':
      return 'true or false';
    case 'strings':
      return 'a list of strings';
    case 'url':
      return 'an http or https URL';
    case 'database':
      return 'a URL like postgres://user@host/database, without a password (set PGPASSWORD, or add a line to ~/.pgpass)';
    case 'age':
      return 'an age or a day ("180d", "26w", "6mo", "1y", "2026-03-02")';
    case 'size':
      return 'a size ("20GB", "500MB", "5GiB")';
    default:
      return 'a string';
  }
}

function describeRange({ min, above, max }: Extract<Form, { kind: 'number' }>): string {
  if (above !== undefined) return max === undefined ? `above ${above}` : `above ${above} and at most ${max}`;
  return max === undefined ? `of ${min ?? 0} or more` : `from ${min ?? 0} to ${max}`;
}

/** A URL as it may be shown: without a name and a password before the host. Works on any string. */
export function hideCredentials(url: string): string {
  const start = /^(?:https?:[/\\]*|[a-z][a-z\d+.-]*:\/\/)/i.exec(url)?.[0].length ?? 0;
  const authority = /^[^/\\?#]*/.exec(url.slice(start))?.[0] ?? '';
  const at = authority.lastIndexOf('@');
  return at === -1 ? url : `${url.slice(0, start)}…${url.slice(start + at)}`;
}
