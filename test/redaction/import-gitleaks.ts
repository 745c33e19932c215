import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { z } from 'zod';

/**
 * Makes src/adapters/redact/gitleaks/default-rules.json from gitleaks' own file of rules (MIT):
 * node test/redaction/import-gitleaks.ts config/gitleaks.toml LICENSE v8.30.1
 */

/** Rules that are left out, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'generic-api-key':
    'nearly all that it finds in conversations is no secret; the rule for named values stands in its place',
  'private-key': 'the built-in rule also finds keys whose end or beginning was cut off',
  'kubernetes-secret-yaml': 'the built-in rule masks every value of a secret, not the first',
  jwt: 'there is a built-in rule, which also finds it behind escapes',
  'jwt-base64': 'base64 is decoded before the rules are applied',
  'pkcs12-file': 'it looks at paths of files',
  'twilio-api-key': 'its keyword is in every other text; there is a built-in rule',
  'sourcegraph-access-token': 'any hash of forty digits would match; there is a built-in rule',
  'facebook-access-token': 'it finds numbers next to the word facebook',
};

/** Keywords that stand in every other text, and the part of them that the rule needs. */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  'vault-service-token': ['hvs.'],
  'azure-ad-client-secret': ['q~'],
};

const listSchema = z.looseObject({
  condition: z.string().optional(),
  paths: z.array(z.string()).optional(),
  regexes: z.array(z.string()).optional(),
  stopwords: z.array(z.string()).optional(),
});
const fileSchema = z.looseObject({
  allowlist: listSchema.optional(),
  rules: z.array(
    z.looseObject({
      id: z.string(),
      regex: z.string().optional(),
      secretGroup: z.number().optional(),
      entropy: z.number().optional(),
      keywords: z.array(z.string()).optional(),
      allowlists: z.array(listSchema).optional(),
    }),
  ),
});

const [rulesPath = '', licencePath = '', version = ''] = process.argv.slice(2);
const { allowlist, rules } = fileSchema.parse(parse(readFileSync(rulesPath, 'utf8')));

const data = {
  source: `gitleaks ${version}, config/gitleaks.toml, made by test/redaction/import-gitleaks.ts`,
  license: readFileSync(licencePath, 'utf8').trim(),
  leftOut: LEFT_OUT,
  allowlist: { regexes: allowlist?.regexes ?? [], stopwords: allowlist?.stopwords ?? [] },
  rules: rules
    .filter(({ id, regex }) => regex !== undefined && !(id in LEFT_OUT))
    .map(({ id, regex, secretGroup, entropy, keywords, allowlists }) => ({
      id,
      regex,
      secretGroup,
      entropy,
      keywords: KEYWORDS[id] ?? keywords,
      allowlists: allowlists
        // A conversation has no paths, so a list that needs one never allows anything. Literal keys would alarm scanners of this repository.
        ?.filter(({ condition, paths }) => !(condition === 'AND' && paths !== undefined))
        .map(({ regexes, stopwords }) => ({ regexes: regexes?.filter((one) => !/^AI?za/.test(one)), stopwords })),
    })),
};
writeFileSync(
  new URL('../../src/adapters/redact/gitleaks/default-rules.json', import.meta.url),
  `${JSON.stringify(data, null, 1)}\n`,
);
console.log(`${data.rules.length} of ${rules.length} rules`);
