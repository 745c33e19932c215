import { parse, TomlError } from 'smol-toml';
import { z } from 'zod';
import { err, ok, type Result } from '../../../core/result.ts';
import type { RuleFileProblem } from '../../../ports/model.ts';
import type { SecretRule } from '../rule.ts';
import { readAllowlist, toSecretRule, createGoPattern } from './rule.ts';

// Each message completes "KEY …".
const text = z.string('must be a string');
const texts = z.array(text, 'must be a list of strings');
const countOrZero = z.int('must be a whole number of 0 or more').min(0, 'must be a whole number of 0 or more');
const bits = z.number('must be a number of 0 or more').min(0, 'must be a number of 0 or more');

const allowlist = z.looseObject(
  {
    description: text.optional(),
    condition: z.enum(['OR', 'AND', 'or', 'and', '||', '&&'], 'must be "OR" or "AND"').optional(),
    commits: texts.optional(),
    paths: texts.optional(),
    regexTarget: z.enum(['secret', 'match', 'line', ''], 'must be "secret", "match" or "line"').optional(),
    regexes: texts.optional(),
    stopwords: texts.optional(),
    targetRules: texts.optional(),
  },
  'must be a table',
);

const rule = z.looseObject(
  {
    id: z.string('must be a string').min(1, 'must not be empty'),
    description: text.optional(),
    regex: text.optional(),
    secretGroup: countOrZero.optional(),
    entropy: bits.optional(),
    keywords: texts.optional(),
    path: text.optional(),
    tags: texts.optional(),
    skipReport: z.boolean('must be true or false').optional(),
    allowlist: allowlist.optional(),
    allowlists: z.array(allowlist, 'must be a list of tables').optional(),
  },
  'must be a table',
);

/** The file format as gitleaks documents it. Keys of later versions are accepted, with a warning. */
const ruleFileSchema = z.looseObject(
  {
    title: text.optional(),
    description: text.optional(),
    minVersion: text.optional(),
    extend: z
      .looseObject(
        {
          useDefault: z.boolean('must be true or false').optional(),
          path: text.optional(),
          url: text.optional(),
          disabledRules: texts.optional(),
        },
        'must be a table',
      )
      .optional(),
    rules: z.array(rule, 'must be a list of tables').optional(),
    allowlist: allowlist.optional(),
    allowlists: z.array(allowlist, 'must be a list of tables').optional(),
  },
  'must be a table',
);

type RuleFile = z.infer<typeof ruleFileSchema>;
type FileAllowlist = z.infer<typeof allowlist>;

/** The usable rules, and a sentence for each thing in the file that has no effect. */
export type ReadRules = { readonly rules: readonly SecretRule[]; readonly warnings: readonly string[] };

/**
 * Reads rules in gitleaks' format; `path` only names the file in problems. An unusable rule is a warning, an unusable
 * file a problem.
 */
export function readGitleaksRules(toml: string, path: string): Result<ReadRules, readonly RuleFileProblem[]> {
  const parsed = parseToml(toml, path);
  if (!parsed.ok) return err([parsed.error]);
  const checked = ruleFileSchema.safeParse(parsed.value);
  if (!checked.success) {
    return err(checked.error.issues.map((issue) => ({ path, place: keyOf(issue.path), problem: issue.message })));
  }
  return ok(toRules(checked.data));
}

function parseToml(toml: string, path: string): Result<unknown, RuleFileProblem> {
  try {
    return ok(parse(toml, { unsafeKeyBehaviour: 'throw' }));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const problem = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
    return err({ path, place: `line ${error.line}, column ${error.column}`, problem: `is not valid TOML: ${problem}` });
  }
}

/** `rules[3].regex`, counted from 1, as people count tables. */
function keyOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((key, part) => {
    if (typeof part === 'number') return `${key}[${part + 1}]`;
    return key === '' ? String(part) : `${key}.${String(part)}`;
  }, '');
}

function toRules(file: RuleFile): ReadRules {
  const { rules = [] } = file;
  const shared = readAllowlists(file, 'the allowlist of all rules');
  const read = rules.map((rule) => readRule(rule, shared));
  const targets = shared
    .flatMap(({ targetRules }) => targetRules)
    .filter((id) => !rules.some((rule) => rule.id === id));
  return {
    rules: read.flatMap(({ rule }) => rule ?? []),
    warnings: [
      ...fileWarnings(file),
      ...shared.flatMap(({ warnings }) => warnings),
      ...targets.map((id) => `an allowlist names the rule ${id}, which is not in the file`),
      ...read.flatMap(({ warnings }) => warnings),
    ],
  };
}

/** Older files have one allowlist, newer ones a list of them. No target: all rules. */
function readAllowlists({ allowlist: one, allowlists: several }: RuleFile, name: string) {
  return [one ?? [], several ?? []].flat().map((list: FileAllowlist) => {
    const { allows, warnings } = readAllowlist(list, name);
    const unknown = unknownKeys(list, allowlist).map((key) => `${name}: the key ${key} is unknown and has no effect`);
    return { allows, targetRules: list.targetRules ?? [], warnings: [...unknown, ...warnings] };
  });
}

function fileWarnings(file: RuleFile): readonly string[] {
  const { useDefault, path, url, disabledRules } = file.extend ?? {};
  const others = [path, url].filter((other) => other !== undefined);
  return [
    ...unknownKeys(file, ruleFileSchema).map((key) => `the key ${key} is unknown and has no effect`),
    ...(useDefault === true ? ["extend.useDefault has no effect: gitleaks' default rules are always used"] : []),
    ...others.map((other) => `extend does not read ${other}: only the rules of this one file are used`),
    ...(disabledRules === undefined ? [] : ['extend.disabledRules has no effect, because nothing is extended']),
    ...((file.rules ?? []).length === 0 ? ['there is no rule in the file'] : []),
  ];
}

function unknownKeys(table: object, { shape }: { readonly shape: object }): readonly string[] {
  return Object.keys(table).filter((key) => !Object.hasOwn(shape, key));
}

function readRule(
  source: z.infer<typeof rule>,
  shared: ReturnType<typeof readAllowlists>,
): { readonly rule: SecretRule | null; readonly warnings: readonly string[] } {
  const { id, regex, path, secretGroup = 0 } = source;
  const name = `rule ${id}`;
  const unknown = unknownKeys(source, rule).map((key) => `${name}: the key ${key} is unknown and has no effect`);
  const unused = (why: string) => ({ rule: null, warnings: [...unknown, `${name} is not used: ${why}`] });
  if (regex === undefined || regex === '') {
    return unused(path === undefined ? 'it has no regex' : 'it matches paths of files, and a conversation has none');
  }
  const pattern = createGoPattern(regex);
  if (!pattern.ok) return unused(`its regex ${pattern.error}`);
  const { groupCount } = pattern.value;
  if (secretGroup > groupCount) return unused(`its secretGroup is ${secretGroup}, and its regex has ${groupCount}`);
  const own = readAllowlists(source, `${name}, allowlist`);
  const others = shared.filter(({ targetRules }) => targetRules.length === 0 || targetRules.includes(id));
  const allowlists = [...own, ...others];
  return {
    rule: toSecretRule(
      source,
      () => pattern.value,
      (finding) => allowlists.some(({ allows }) => allows(finding)),
    ),
    warnings: [
      ...unknown,
      ...(path === undefined ? [] : [`${name}: its path has no effect, it is used on all text`]),
      ...own.flatMap(({ warnings }) => warnings),
    ],
  };
}
