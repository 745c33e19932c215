import { ASSIGNMENT_RULE } from './assignment-rule.ts';
import { FORM_RULES } from './forms.ts';
import { LABEL_RULE } from './label-rule.ts';
import { PAIR_RULE } from './pair-rule.ts';
import { PRINTED_RULE } from './printed-rule.ts';
import { PRIVATE_KEY_RULE } from './private-key-rule.ts';
import type { SecretRule } from './rule.ts';
import { COOKIE_RULE, KUBERNETES_RULE, TABLE_RULE } from './structure-rules.ts';

/** Our own rules, used in addition to those of gitleaks. If two find the same text, the first decides its kind. */
export const BUILTIN_RULES: readonly SecretRule[] = [
  PRIVATE_KEY_RULE,
  ...FORM_RULES,
  COOKIE_RULE,
  KUBERNETES_RULE,
  PAIR_RULE,
  ASSIGNMENT_RULE,
  TABLE_RULE,
  LABEL_RULE,
  PRINTED_RULE,
];
