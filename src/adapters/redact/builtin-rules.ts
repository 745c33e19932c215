import { ASSIGNMENT_RULE } from './assignment-rule.ts';
import { AUTHORIZATION_RULE } from './authorization-rule.ts';
import { COMMAND_LINE_RULE } from './command-line-rule.ts';
import { COOKIE_RULE, URL_PARAMETER_RULE } from './http-rule.ts';
import { PAIR_RULE } from './pair-rule.ts';
import { POSITION_RULE } from './position-rule.ts';
import { PRIVATE_KEY_RULE } from './private-key-rule.ts';
import { PROSE_RULE } from './prose-rule.ts';
import { PROVIDER_RULES } from './provider-rules.ts';
import type { SecretRule } from './rule.ts';
import { STORED_RULES } from './stored-rule.ts';
import { URL_PASSWORD_RULE } from './url-rule.ts';

/** The rules that are always there, beside gitleaks'. Where two find the same text, the first says what it is. */
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
