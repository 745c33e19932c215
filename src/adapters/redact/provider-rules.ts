import { isPlaceholder, looksRandom } from './placeholder.ts';
import { patternRule } from './rule.ts';
import type { SecretRule } from './rule.ts';

const isReal = (secret: string): boolean => !isPlaceholder(secret);

/**
 * Keys that tell by their beginning whose they are. The forms are those that the services document; each pattern ends in what it repeats,
 * so that it takes all of a key and never has to go back.
 */
export const PROVIDER_RULES: readonly SecretRule[] = [
  patternRule({
    kind: 'anthropic-key',
    keywords: ['sk-ant-'],
    pattern: /sk-ant-[A-Za-z0-9_-]{20,}/g,
    accepts: isReal,
  }),
  patternRule({
    kind: 'openai-key',
    keywords: ['sk-'],
    pattern: /sk-(?!ant-)[A-Za-z0-9_-]{20,}/g,
    accepts: looksRandom,
  }),
  patternRule({
    kind: 'google-api-key',
    keywords: ['aiza'],
    pattern: /AIza[A-Za-z0-9_-]{35,}/g,
    accepts: isReal,
  }),
  patternRule({
    kind: 'google-oauth',
    keywords: ['ya29.', 'gocspx-', '1//0'],
    pattern: /(?:ya29\.|GOCSPX-|1\/\/0)[A-Za-z0-9_-]{20,}/g,
    accepts: isReal,
  }),
  patternRule({
    kind: 'aws-access-key-id',
    keywords: ['akia', 'asia', 'abia', 'acca'],
    pattern: /(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
    accepts: isReal,
  }),
  patternRule({
    kind: 'github-token',
    keywords: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
    pattern: /(?:gh[pousr]_[A-Za-z0-9_]{36,}|github_pat_[A-Za-z0-9_]{36,})/g,
    accepts: isReal,
  }),
  patternRule({
    kind: 'gitlab-token',
    keywords: ['glpat-', 'gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glft-', 'glimt-', 'glagent-', 'gloas-', 'glsoat-'],
    pattern: /gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat)-[A-Za-z0-9_.-]{20,}/g,
    accepts: isReal,
  }),
  patternRule({
    kind: 'slack-token',
    keywords: ['xox', 'xapp-'],
    pattern: /(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{10,}/g,
    accepts: (secret) => isReal(secret) && /\d/.test(secret),
  }),
  patternRule({
    kind: 'slack-webhook',
    keywords: ['hooks.slack'],
    pattern:
      /hooks\.slack(?:-gov)?\.com\\{0,7}\/(?:services|workflows|triggers)\\{0,7}\/(?<path>(?:[A-Za-z0-9_-]+\\{0,7}\/){2,4}[A-Za-z0-9_-]{8,})/g,
    group: 'path',
    accepts: (path) => isReal(path) && /\d/.test(path),
  }),
  patternRule({
    kind: 'stripe-key',
    keywords: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'],
    pattern: /(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})/g,
    accepts: isReal,
  }),
  patternRule({
    kind: 'npm-token',
    keywords: ['npm_'],
    pattern: /npm_[A-Za-z0-9]{36,}/g,
    accepts: isReal,
  }),
  patternRule({
    kind: 'hugging-face-token',
    keywords: ['hf_'],
    pattern: /hf_[A-Za-z0-9]{30,}/g,
    accepts: isReal,
  }),
  // The look back stands behind the literal, which is searched for faster; it keeps a run of many beginnings from being read many times.
  patternRule({
    kind: 'jwt',
    keywords: ['eyj'],
    pattern: /eyJ(?<![A-Za-z0-9_-](?<!\\[nrt])eyJ)[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,3}/g,
  }),
];
