import { ASSIGNMENT_RULE } from './assignment-rule.ts';
import { AUTHORIZATION_RULE } from './authorization-rule.ts';
import { PRIVATE_KEY_RULE } from './private-key-rule.ts';
import { PROVIDER_RULES } from './provider-rules.ts';
import type { SecretRule } from './rule.ts';
import { URL_PASSWORD_RULE } from './url-rule.ts';

/** The rules that are always there. Where two find the same text, the first says what it is. */
export const OWN_RULES: readonly SecretRule[] = [
  PRIVATE_KEY_RULE,
  ...PROVIDER_RULES,
  URL_PASSWORD_RULE,
  AUTHORIZATION_RULE,
  ASSIGNMENT_RULE,
];
