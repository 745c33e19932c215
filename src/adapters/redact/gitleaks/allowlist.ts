import { createGoPattern, type GoPattern } from '../go-pattern.ts';
import { type FileAllowlist, KNOWN_KEYS } from './schema.ts';

/** What a rule found, and where. */
export type Finding = { readonly secret: string; readonly match: string; readonly line: () => string };

/** Whether what was found is allowed to stay. */
export type Allowlist = (finding: Finding) => boolean;

export type ReadAllowlist = {
  readonly allows: Allowlist;
  /** Empty: of all rules. */
  readonly targetRules: readonly string[];
  readonly warnings: readonly string[];
};

/** Warnings begin with `name`, which says whose allowlist it is. Paths and commits mean nothing here: a conversation has none. */
export function readAllowlist(list: FileAllowlist, name: string): ReadAllowlist {
  const { regexes = [], stopwords = [], paths = [], commits = [], targetRules = [] } = list;
  const warnings: string[] = Object.keys(list)
    .filter((key) => !KNOWN_KEYS.allowlist.includes(key))
    .map((key) => `${name}: the key ${key} is not known and does nothing`);
  const patterns: GoPattern[] = [];
  for (const source of regexes) {
    const pattern = createGoPattern(source);
    if (pattern.ok) patterns.push(pattern.value);
    else warnings.push(`${name}: the regex "${source}" is left out, it ${pattern.error}`);
  }
  const words = stopwords.map((word) => word.toLowerCase());
  const needsAll = ['AND', 'and', '&&'].includes(list.condition ?? 'OR');
  // Left out, they must not widen what is allowed.
  const isNever = needsAll && (paths.length > 0 || commits.length > 0 || patterns.length < regexes.length);
  if (isNever) warnings.push(`${name}: it is left out, as not all of its conditions can be met in a conversation`);
  else if (paths.length > 0 || commits.length > 0) {
    warnings.push(`${name}: its paths and commits do nothing here, a conversation has none`);
  }
  const checks: Allowlist[] = [];
  if (patterns.length > 0) {
    const target = list.regexTarget ?? 'secret';
    checks.push((finding) => {
      const text = target === 'line' ? finding.line() : target === 'match' ? finding.match : finding.secret;
      return patterns.some((pattern) => pattern.test(text));
    });
  }
  if (words.length > 0) {
    checks.push(({ secret }) => {
      const folded = secret.toLowerCase();
      return words.some((word) => folded.includes(word));
    });
  }
  const allows: Allowlist = (finding) => {
    if (isNever || checks.length === 0) return false;
    return needsAll ? checks.every((check) => check(finding)) : checks.some((check) => check(finding));
  };
  return { allows, targetRules, warnings };
}
