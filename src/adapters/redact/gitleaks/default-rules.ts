import { createGoPattern, type GoPattern } from '../go-pattern.ts';
import type { SecretRule } from '../rule.ts';
import { type Allowlist, readAllowlist, toSecretRule } from './rule.ts';

import data from './default-rules.json' with { type: 'json' };

/** gitleaks' default rules, except those listed as `leftOut` in the data. Expressions are compiled on first use. */
export function createDefaultRules(): readonly SecretRule[] {
  const shared = once(() => [readAllowlist(data.allowlist, 'the shared allowlist').allows]);
  return data.rules.map((rule) => {
    const own = once(() => (rule.allowlists ?? []).map((list) => readAllowlist(list, rule.id).allows));
    const isAllowed: Allowlist = (finding) => [...own(), ...shared()].some((allows) => allows(finding));
    return toSecretRule({
      id: rule.id,
      pattern: once(() => compile(rule.regex)),
      secretGroup: rule.secretGroup ?? 0,
      minEntropy: rule.entropy ?? 0,
      keywords: rule.keywords ?? [],
      allowlists: [isAllowed],
    });
  });
}

function compile(source: string): GoPattern {
  const pattern = createGoPattern(source);
  if (!pattern.ok) throw new Error(`a built-in rule does not compile: ${source} ${pattern.error}`);
  return pattern.value;
}

function once<T extends object>(make: () => T): () => T {
  const made: T[] = [];
  return () => {
    const value = made[0] ?? make();
    made[0] = value;
    return value;
  };
}
