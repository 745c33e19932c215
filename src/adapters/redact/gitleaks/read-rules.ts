import { parse, TomlError } from 'smol-toml';
import { err, ok, type Result } from '../../../core/result.ts';
import type { RuleFileProblem } from '../../../ports/model.ts';
import { createGoPattern } from '../go-pattern.ts';
import type { SecretRule } from '../rule.ts';
import { readAllowlist, type ReadAllowlist, toSecretRule } from './rule.ts';
import { type FileRule, KNOWN_KEYS, type RuleFile, ruleFileSchema } from './schema.ts';

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
  const shared = [file.allowlist ?? [], file.allowlists ?? []]
    .flat()
    .map((list) => readAllowlist(list, 'the allowlist of all rules'));
  const read = (file.rules ?? []).map((rule) => readRule(rule, shared));
  const names = (file.rules ?? []).map(({ id }) => id);
  const targets = shared.flatMap(({ targetRules }) => targetRules).filter((id) => !names.includes(id));
  return {
    rules: read.flatMap(({ rule }) => (rule === null ? [] : [rule])),
    warnings: [
      ...fileWarnings(file),
      ...shared.flatMap(({ warnings }) => warnings),
      ...targets.map((id) => `an allowlist names the rule ${id}, which is not in the file`),
      ...read.flatMap(({ warnings }) => warnings),
    ],
  };
}

function fileWarnings(file: RuleFile): readonly string[] {
  const { useDefault, path, url, disabledRules } = file.extend ?? {};
  const others = [path, url].filter((other) => other !== undefined);
  return [
    ...unknownKeys(file, KNOWN_KEYS.file).map((key) => `the key ${key} is unknown and has no effect`),
    ...(useDefault === true ? ["extend.useDefault has no effect: gitleaks' default rules are always used"] : []),
    ...others.map((other) => `extend does not read ${other}: only the rules of this one file are used`),
    ...(disabledRules === undefined ? [] : ['extend.disabledRules has no effect, because nothing is extended']),
    ...((file.rules ?? []).length === 0 ? ['there is no rule in the file'] : []),
  ];
}

function unknownKeys(table: object, known: readonly string[]): readonly string[] {
  return Object.keys(table).filter((key) => !known.includes(key));
}

function readRule(
  rule: FileRule,
  shared: readonly ReadAllowlist[],
): { readonly rule: SecretRule | null; readonly warnings: readonly string[] } {
  const { id, regex, path, secretGroup = 0, entropy: minEntropy = 0, keywords = [] } = rule;
  const name = `rule ${id}`;
  const unknown = unknownKeys(rule, KNOWN_KEYS.rule).map(
    (key) => `${name}: the key ${key} is unknown and has no effect`,
  );
  const unused = (why: string) => ({ rule: null, warnings: [...unknown, `${name} is not used: ${why}`] });
  if (regex === undefined || regex === '') {
    return unused(path === undefined ? 'it has no regex' : 'it matches paths of files, and a conversation has none');
  }
  const pattern = createGoPattern(regex);
  if (!pattern.ok) {
    return unused(`its regex ${pattern.error}`);
  }
  const { groupCount } = pattern.value;
  if (secretGroup > groupCount) return unused(`its secretGroup is ${secretGroup}, and its regex has ${groupCount}`);
  const own = [rule.allowlist ?? [], rule.allowlists ?? []]
    .flat()
    .map((list) => readAllowlist(list, `${name}, allowlist`));
  const allowlists = [
    ...own,
    ...shared.filter(({ targetRules }) => targetRules.length === 0 || targetRules.includes(id)),
  ].map(({ allows }) => allows);
  return {
    rule: toSecretRule({ id, pattern: () => pattern.value, secretGroup, minEntropy, keywords, allowlists }),
    warnings: [
      ...unknown,
      ...(path === undefined ? [] : [`${name}: its path has no effect, it is used on all text`]),
      ...own.flatMap(({ warnings }) => warnings),
    ],
  };
}
