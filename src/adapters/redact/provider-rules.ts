import { isPlaceholder, looksRandom, patternRule, type SecretRule } from './rule.ts';

const isReal = (secret: string): boolean => !isPlaceholder(secret);

/** Kind, keyword and form of keys that gitleaks has no rule for, or finds only next to the name of their service. */
const PREFIXED_KEYS: readonly (readonly [kind: string, keyword: string, pattern: RegExp])[] = [
  ['crates-io-token', 'cio', /cio[A-Za-z0-9]{32}(?![A-Za-z0-9])/g],
  ['sendgrid-key', 'sg.', /SG\.[\w-]{16,32}\.[\w-]{32,64}/g],
  ['twilio-key', 'sk', /SK[0-9a-f]{32}(?![A-Za-z0-9])/g],
  ['telegram-token', ':aa', /(?:bot)?\d{8,10}:AA[\w-]{32,34}(?![\w-])/g],
  ['discord-token', '.', /[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,45}(?![\w-])/g],
  ['atlassian-token', 'atatt', /ATATT3[\w=-]{40,}/g],
  ['supabase-token', 'sbp_', /sbp_[0-9a-f]{40}/g],
  ['netlify-token', 'nfp_', /nf[pcou]_[A-Za-z0-9]{36,}/g],
  ['groq-key', 'gsk_', /gsk_[A-Za-z0-9]{40,}/g],
  ['xai-key', 'xai-', /xai-[A-Za-z0-9]{60,}/g],
  ['replicate-token', 'r8_', /r8_[A-Za-z0-9]{37,}/g],
  ['langsmith-key', 'lsv2_', /lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}/g],
  ['docker-token', 'dckr_', /dckr_(?:pat|oat)_[\w-]{27,}/g],
  ['sourcegraph-token', 'sgp_', /sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}/gi],
  ['figma-token', 'figd_', /figd_[\w-]{40,}/g],
  ['stripe-key', 'k_prod_', /[sr]k_prod_[A-Za-z0-9]{10,}/g],
];

/**
 * Keys whose prefix identifies the service, in the forms that the services document. Each pattern ends in a repetition,
 * so that it matches the whole key and never backtracks.
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
    kind: 'discord-webhook',
    keywords: ['/webhooks/'],
    pattern:
      /discord(?:app)?\.com\\{0,7}\/api\\{0,7}\/(?:v\d+\/)?webhooks\\{0,7}\/(?<path>\d{15,20}\\{0,7}\/[\w-]{40,})/g,
    group: 'path',
    accepts: isReal,
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
  ...PREFIXED_KEYS.map(([kind, keyword, pattern]) =>
    patternRule({ kind, keywords: [keyword], pattern, accepts: isReal }),
  ),
  // The lookbehind comes after the literal, which is faster to search for. It keeps a run of many prefixes from being
  // read many times.
  patternRule({
    kind: 'jwt',
    keywords: ['eyj'],
    pattern: /eyJ(?<![A-Za-z0-9_-](?<!\\[nrt])eyJ)[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,3}/g,
  }),
];
