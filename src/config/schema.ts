import { z } from 'zod';
import { parseCount, parseCountOrZero } from './quantity.ts';
import { PROVIDERS } from './settings.ts';

// Each message completes "KEY …", so that an error can be put together from the key, the message and what was found.
const text = z.string('must be a text').min(1, 'must not be empty');
const yesOrNo = z.boolean('must be true or false');
const count = wholeNumber(1);
const countOrZero = wholeNumber(0);
/** More than any model gives, and more than the index of vectors can hold. */
const MAX_DIMENSIONS = 8192;
const vectorLength = wholeNumber(1, MAX_DIMENSIONS);
const points = z.number('must be a number of 0 or more').min(0, 'must be a number of 0 or more');
const share = z
  .number('must be a number from 0 to 1')
  .min(0, 'must be a number from 0 to 1')
  .max(1, 'must be a number from 0 to 1');
const shareAboveZero = z
  .number('must be a number above 0 and at most 1')
  .gt(0, 'must be a number above 0 and at most 1')
  .max(1, 'must be a number above 0 and at most 1');
const url = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });

/** A number, or a text that says one as the command line does: "30k". */
function wholeNumber(least: 0 | 1, most = Number.MAX_SAFE_INTEGER) {
  const isLimited = most !== Number.MAX_SAFE_INTEGER;
  const range = isLimited ? `from ${least} to ${most}` : `of ${least} or more (30000, "30k", "1.5M")`;
  const message = `must be a whole number ${range}`;
  const parse = least === 0 ? parseCountOrZero : parseCount;
  const read = (value: unknown): unknown => {
    const parsed = typeof value === 'string' ? parse(value) : null;
    return parsed?.ok === true ? parsed.value : value;
  };
  return z.preprocess(read, z.int(message).min(least, message).max(most, message));
}

function oneOf<const T extends readonly [string, ...string[]]>(names: T) {
  return z.enum(names, `must be one of ${names.map((name) => `"${name}"`).join(', ')}`);
}

function table<const T extends z.core.$ZodShape>(shape: T) {
  return z.strictObject(shape, 'must be a table');
}

/** The config file: snake_case, every key optional, no key beyond these. */
export const configFileSchema = table({
  summarization: table({
    provider: oneOf(PROVIDERS).optional(),
    name: text.optional(),
    base_url: url.optional(),
    api_key: text.optional(),
    api_key_env: text.optional(),
    chunk_size: count.optional(),
    keep_recent: countOrZero.optional(),
    keep_recent_tokens: countOrZero.optional(),
    keep_system: yesOrNo.optional(),
    max_summary_tokens: count.optional(),
    summary_tokens: count.optional(),
    clip_first: countOrZero.optional(),
    clip_last: countOrZero.optional(),
    prompt: text.optional(),
    context_budget: shareAboveZero.optional(),
    model_max_tokens: count.optional(),
    chunk_order: oneOf(['importance', 'chronological']).optional(),
    max_chunk_tokens: count.optional(),
    compaction_timeout: count.optional(),
    compaction_max_retries: countOrZero.optional(),
    max_consecutive_failures: count.optional(),
    requests_per_minute: count.optional(),
    input_tokens_per_minute: count.optional(),
    output_tokens_per_minute: count.optional(),
    max_tokens_field: oneOf(['max_tokens', 'max_completion_tokens']).optional(),
    fallback: oneOf(['none', 'extractive']).optional(),
    appendix_share: share.optional(),
    keep_rules: yesOrNo.optional(),
    rules: z.array(text, 'must be a list of texts').optional(),
    drop_rules: z.array(text, 'must be a list of texts').optional(),
    role_weight_system: points.optional(),
    role_weight_user: points.optional(),
    role_weight_assistant: points.optional(),
    role_weight_tool: points.optional(),
    recency_decay: shareAboveZero.optional(),
    question_bonus: points.optional(),
    tool_call_bonus: points.optional(),
    keyword_bonus: points.optional(),
    important_keywords: z.array(text, 'must be a list of texts').optional(),
    content_length_weight: points.optional(),
  }).optional(),
  transcript: table({ keep_invalid: yesOrNo.optional() }).optional(),
  archive: table({ path: text.optional() }).optional(),
  embedding: table({
    provider: oneOf(['openai-compat', 'ollama']).optional(),
    model: text.optional(),
    base_url: url.optional(),
    dimensions: vectorLength.optional(),
    api_key: text.optional(),
    api_key_env: text.optional(),
    requests_per_minute: count.optional(),
    input_tokens_per_minute: count.optional(),
  }).optional(),
  privacy: table({ redact: yesOrNo.optional(), redact_rules: text.optional() }).optional(),
  prices: z.record(text, table({ input: points, output: points }), 'must be a table').optional(),
});

export type ConfigFile = z.infer<typeof configFileSchema>;
