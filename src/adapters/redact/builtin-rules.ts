import { ASSIGNMENT_RULE, PAIR_RULE } from './assignment-rules.ts';
import { AUTHORIZATION_RULE, COOKIE_RULE, URL_PARAMETER_RULE, URL_PASSWORD_RULE } from './http-rules.ts';
import { COMMAND_LINE_RULE, POSITION_RULE } from './position-rules.ts';
import { PROSE_RULE } from './prose-rule.ts';
import { PROVIDER_RULES } from './provider-rules.ts';
import type { SecretRule } from './rule.ts';
import { PRIVATE_KEY_RULE, STORED_RULES } from './stored-rules.ts';

/** Our own rules, used in addition to those of gitleaks. If two find the same text, the first decides its kind. */
export const BUILTIN_RULES: readonly SecretRule[] = [
  PRIVATE_KEY_RULE,
  ...PROVIDER_RULES,
  URL_PASSWORD_RULE,
  AUTHORIZATION_RULE,
  COOKIE_RULE,
  URL_PARAMETER_RULE,
  COMMAND_LINE_RULE,
  ...STORED_RULES,
  PAIR_RULE,
  ASSIGNMENT_RULE,
  PROSE_RULE,
  POSITION_RULE,
];
