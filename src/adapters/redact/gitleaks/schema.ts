import { z } from 'zod';

// Each message completes "KEY …".
const text = z.string('must be a string');
const texts = z.array(text, 'must be a list of strings');
const countOrZero = z.int('must be a whole number of 0 or more').min(0, 'must be a whole number of 0 or more');
const bits = z.number('must be a number of 0 or more').min(0, 'must be a number of 0 or more');

const allowlist = z.looseObject(
  {
    description: text.optional(),
    condition: z.enum(['OR', 'AND', 'or', 'and', '||', '&&'], 'must be "OR" or "AND"').optional(),
    commits: texts.optional(),
    paths: texts.optional(),
    regexTarget: z.enum(['secret', 'match', 'line', ''], 'must be "secret", "match" or "line"').optional(),
    regexes: texts.optional(),
    stopwords: texts.optional(),
    targetRules: texts.optional(),
  },
  'must be a table',
);

const rule = z.looseObject(
  {
    id: z.string('must be a string').min(1, 'must not be empty'),
    description: text.optional(),
    regex: text.optional(),
    secretGroup: countOrZero.optional(),
    entropy: bits.optional(),
    keywords: texts.optional(),
    path: text.optional(),
    tags: texts.optional(),
    skipReport: z.boolean('must be true or false').optional(),
    allowlist: allowlist.optional(),
    allowlists: z.array(allowlist, 'must be a list of tables').optional(),
  },
  'must be a table',
);

/** The file format as gitleaks documents it. Keys of later versions are accepted, with a warning. */
export const ruleFileSchema = z.looseObject(
  {
    title: text.optional(),
    description: text.optional(),
    minVersion: text.optional(),
    extend: z
      .looseObject(
        {
          useDefault: z.boolean('must be true or false').optional(),
          path: text.optional(),
          url: text.optional(),
          disabledRules: texts.optional(),
        },
        'must be a table',
      )
      .optional(),
    rules: z.array(rule, 'must be a list of tables').optional(),
    allowlist: allowlist.optional(),
    allowlists: z.array(allowlist, 'must be a list of tables').optional(),
  },
  'must be a table',
);

export type RuleFile = z.infer<typeof ruleFileSchema>;
export type FileRule = z.infer<typeof rule>;
export type FileAllowlist = z.infer<typeof allowlist>;

/** Known keys, by table. */
export const KNOWN_KEYS = {
  file: Object.keys(ruleFileSchema.shape),
  rule: Object.keys(rule.shape),
  allowlist: Object.keys(allowlist.shape),
} as const;
