import { DEFAULT_COMPACTION_CONFIG, DEFAULT_SCORING_CONFIG, DEFAULT_SUMMARY_TOKENS } from '../core/policy.ts';
import { decimal, oneOf, secret, text, texts, url, wholeNumber, type WholeNumber, yesOrNo } from './setting.ts';

export const PROVIDERS = ['extractive', 'anthropic', 'openai', 'openai-compat', 'ollama'] as const;
export const PROVIDER_ALIASES: { readonly [alias: string]: (typeof PROVIDERS)[number] } = { claude: 'anthropic' };
const PROVIDER_NAMES: readonly string[] = PROVIDERS;

const COMPACTION = DEFAULT_COMPACTION_CONFIG;
const SCORING = DEFAULT_SCORING_CONFIG;

/** [summarization]: what is kept, who summarizes the rest, and how. */
export const SUMMARIZATION = {
  provider: oneOf(PROVIDER_NAMES, {
    default: 'extractive',
    aliases: PROVIDER_ALIASES,
    uses: ['model'],
    doc: 'Who writes the summaries: "extractive" works offline, the others send requests to a model.',
  }),
  name: text({
    default: null,
    example: 'some-model',
    uses: ['model'],
    flag: '--model',
    doc: 'The model, for a provider that has models.',
  }),
  base_url: url({
    default: null,
    example: 'http://localhost:11434/v1',
    uses: ['model'],
    doc: 'Where the model is. openai-compat needs it; the others have an address of their own.',
  }),
  api_key: secret({
    default: null,
    example: '…',
    uses: ['model'],
    doc: 'The API key. It is safer in the environment: ANTHROPIC_API_KEY, OPENAI_API_KEY, or the variable that api_key_env names.',
  }),
  api_key_env: text({
    default: null,
    example: 'MY_KEY',
    uses: ['model'],
    doc: 'The environment variable that holds the API key.',
  }),
  chunk_size: count('messages', {
    min: 1,
    default: null,
    example: COMPACTION.chunkSize,
    doc: `The length of a chunk, which gets one summary. By default ${COMPACTION.chunkSize} with a model; offline everything gets one summary unless this or max_chunk_tokens is set.`,
  }),
  keep_recent: count('messages', {
    min: 0,
    default: COMPACTION.keepRecent,
    doc: 'How much of the end always stays as it is.',
  }),
  keep_recent_tokens: count('tokens', {
    min: 0,
    default: COMPACTION.keepRecentTokens,
    doc: 'How much more of the end may stay, back to the start of a request or of a round of tool calls. Most of a short transcript is compacted all the same; with --target it is at most a quarter of the target.',
  }),
  keep_system: yesOrNo({ default: true, doc: 'Whether system messages stay, because they are instructions.' }),
  max_summary_tokens: count('tokens', {
    min: 1,
    default: COMPACTION.maxSummaryTokens,
    doc: "The length of one chunk's summary.",
  }),
  summary_tokens: count('tokens', {
    min: 1,
    default: DEFAULT_SUMMARY_TOKENS,
    doc: 'The length of the single offline summary; it never exceeds half of the text that it replaces.',
  }),
  clip_first: count('summaries', {
    min: 0,
    default: COMPACTION.clipFirst,
    doc: 'How many of the oldest summaries the compacted transcript shows. All summaries are in the archive.',
  }),
  clip_last: count('summaries', {
    min: 0,
    default: COMPACTION.clipLast,
    doc: 'How many of the newest summaries the compacted transcript shows.',
  }),
  prompt: text({
    default: COMPACTION.prompt,
    example: 'Summarize for a colleague who takes over.',
    uses: ['model'],
    doc: 'The system prompt, used exactly as written, instead of the built-in one.',
  }),
  context_budget: decimal({
    above: 0,
    max: 1,
    default: 0.8,
    unit: 'share of model_max_tokens',
    untrusted: 'any',
    doc: 'With --if-over-budget, a transcript above this size is compacted.',
  }),
  model_max_tokens: count('tokens', {
    min: 1,
    default: COMPACTION.modelMaxTokens,
    doc: "The size of the model's context window.",
  }),
  chunk_order: oneOf(['chronological', 'importance'], {
    default: 'chronological',
    doc: 'What a chunk contains: messages that follow each other, or messages of similar importance, the least important first.',
  }),
  fold_in: yesOrNo({
    default: true,
    uses: ['model'],
    doc: 'Whether a model summarizes each chunk with the summary so far as context. Batches always work without.',
  }),
  max_chunk_tokens: count('tokens', {
    min: 1,
    default: null,
    example: 30_000,
    doc: 'The length of a chunk, instead of chunk_size.',
  }),
  compaction_timeout: count('milliseconds', {
    min: 1,
    default: COMPACTION.timeout,
    uses: ['model'],
    doc: 'How long one request to a model may take.',
  }),
  compaction_max_retries: wholeNumber({
    min: 0,
    default: COMPACTION.maxRetries,
    unit: 'times',
    uses: ['model'],
    untrusted: 'lower', // each retry costs money
    doc: 'How often a failed request is repeated, a bad summary is asked for again, and a chunk is halved.',
  }),
  max_consecutive_failures: count('compactions', {
    min: 1,
    default: COMPACTION.maxConsecutiveFailures,
    uses: ['model'],
    doc: 'After this many failures in a row the run sends no more requests.',
  }),
  requests_per_minute: count('requests', {
    min: 1,
    default: null,
    example: 50,
    uses: ['model'],
    doc: "The service's limit, shared by all transcripts that are processed at a time (-j).",
  }),
  input_tokens_per_minute: count('tokens', {
    min: 1,
    default: null,
    example: 200_000,
    uses: ['model'],
    doc: "The service's limit on what is sent.",
  }),
  output_tokens_per_minute: count('tokens', {
    min: 1,
    default: null,
    example: 40_000,
    uses: ['model'],
    doc: "The service's limit on what is answered.",
  }),
  max_tokens_field: oneOf(['max_tokens', 'max_completion_tokens'], {
    default: null,
    example: 'max_tokens',
    uses: ['model'],
    doc: 'What the service calls the limit of an answer. The default depends on the host.',
  }),
  fallback: oneOf(['none', 'extractive'], {
    default: 'none',
    uses: ['model'],
    doc: 'What to do when a model keeps failing: "none" leaves the transcript as it is, "extractive" summarizes offline and says so.',
  }),
  appendix_share: decimal({
    min: 0,
    max: 1,
    default: 0.25,
    unit: 'share of a summary',
    uses: ['model'],
    untrusted: 'any',
    doc: "Room behind a model's summary for details that it left out, quoted word for word.",
  }),
  keep_rules: yesOrNo({
    default: true,
    flag: '--no-rules',
    doc: 'Whether the rules that you stated in your messages ("never …", "always …", "from now on …") are quoted above the summaries.',
  }),
  rules: texts({
    default: [],
    flag: '--rule',
    doc: 'Rules to add. They stay with a conversation until you drop them.',
  }),
  drop_rules: texts({
    default: [],
    flag: '--drop-rule',
    doc: 'Rules that contain one of these texts are left out, until you add them again.',
  }),
  role_weight_system: points(SCORING.roleWeightSystem, 'Importance of a system message.'),
  role_weight_user: points(SCORING.roleWeightUser, 'Importance of a user message.'),
  role_weight_assistant: points(SCORING.roleWeightAssistant, 'Importance of an assistant message.'),
  role_weight_tool: decimal({
    min: 0,
    default: null,
    example: 3,
    unit: 'points',
    untrusted: 'any',
    doc: "Importance of a tool result. By default the user's weight.",
  }),
  recency_decay: decimal({
    above: 0,
    max: 1,
    default: SCORING.recencyDecay,
    unit: 'factor',
    untrusted: 'any',
    doc: 'The weight of the role is multiplied by this once for each later message.',
  }),
  question_bonus: points(SCORING.questionBonus, 'Added for a question.'),
  tool_call_bonus: points(SCORING.toolCallBonus, 'Added for a tool call.'),
  keyword_bonus: points(SCORING.keywordBonus, 'Added for each word of important_keywords that occurs.'),
  important_keywords: texts({ default: SCORING.importantKeywords, doc: 'The words that keyword_bonus is for.' }),
  content_length_weight: points(SCORING.contentLengthWeight, 'Added for each 100 characters, three times at most.'),
} as const;

/** A whole number that a project's file may set. */
function count<D extends number | null>(unit: string, facts: Omit<WholeNumber<D>, 'unit' | 'untrusted'>) {
  return wholeNumber<D>({ ...facts, unit, untrusted: 'any' });
}

function points(value: number, doc: string) {
  return decimal({ min: 0, default: value, unit: 'points', untrusted: 'any', doc });
}
