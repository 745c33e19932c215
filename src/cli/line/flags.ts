import { nearestName } from '../../config/nearest.ts';
import {
  parseAmount,
  parseBytes,
  parseCount,
  parseCountOrZero,
  parseDuration,
  parseSaving,
  parseShare,
  parseSince,
} from '../../config/quantity.ts';
import type { PolicyRequest, SettingFlags } from '../../config/resolve.ts';
import { PROVIDER_ALIASES, PROVIDERS } from '../../config/summarization.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Flag, OptionsOf, OutputOptions, SettingsRequest } from './line.ts';

/** Flags that only the long help lists, under one heading. */
export function rare<const F extends readonly Flag[]>(group: Flag['group'], flags: F): F {
  return flags.map((flag) => ({ group, isRare: true, ...flag })) as unknown as F;
}

export const LOG_FLAG = {
  flags: '--log <form>',
  description: 'messages on stderr as text or JSON lines',
  choices: ['json', 'text'],
} as const satisfies Flag;

export const OUTPUT_FLAGS = rare('Output', [
  { flags: '--json', description: 'reports on stdout, one JSON object per line' },
  { flags: '-q, --quiet', description: 'errors only', conflicts: 'verbose' },
  { flags: '-v, --verbose', description: 'print more details' },
  { flags: '--no-progress', description: 'no progress line' },
  LOG_FLAG,
  { flags: '--color <when>', description: 'colors', choices: ['always', 'never', 'auto'], default: 'auto' },
]);

export function readOutputOptions(options: OptionsOf<typeof OUTPUT_FLAGS>): OutputOptions {
  return {
    json: options.json === true,
    verbosity: options.quiet === true ? 'quiet' : options.verbose === true ? 'verbose' : 'normal',
    color: options.color ?? 'auto',
    showProgress: options.progress !== false,
    ...(options.log === 'json' && { log: 'json' }),
  };
}

const [TRUST_FLAG, CONFIG_FLAG, ARCHIVE_FLAG] = rare('Safety', [
  { flags: '--trust-config', description: "let a project's configuration set everything" },
  { flags: '--config <file>', description: 'read this configuration' },
  { flags: '--archive <file>', description: 'its archive: a file, or postgres://user@host/db' },
]);

export { ARCHIVE_FLAG, CONFIG_FLAG };

/** Flags for the configuration and the archive. */
export const SETTINGS_FLAGS = [TRUST_FLAG, CONFIG_FLAG, ARCHIVE_FLAG] as const;

export const OLDER_THAN_FLAG = {
  flags: '--older-than <age>',
  description: 'only what is older than 12h, 30d, 6mo or 2026-03-01',
  parse: parseSince,
  group: 'What to compact',
} as const satisfies Flag;

/** Flags that decide whether a transcript is compacted. */
export const CONDITION_FLAGS = [
  {
    flags: '--if-over <tokens>',
    description: 'leave transcripts of at most this many tokens alone',
    parse: parseCount,
    conflicts: 'ifOverBudget',
    group: 'What to compact',
  },
  OLDER_THAN_FLAG,
  ...rare('What to compact', [
    { flags: '--if-over-budget', description: 'leave transcripts alone that fit the context budget' },
    {
      flags: '--min-saving <amount>',
      description: 'leave alone what saves less (20%, or 1MB of disk)',
      parse: parseSaving,
    },
  ]),
  ...rare('Safety', [
    { flags: '--fresh', description: 'go on although this archive lacks its earlier runs' },
    {
      flags: '--min-retention <share>',
      description: 'fail if summaries keep less of the facts (90%)',
      parse: parseShare,
    },
  ]),
] as const;

/** For commands that never ask a service. */
export const [FORMAT_FLAG, MAX_UNPACKED_FLAG, JOBS_FLAG, FILES_FROM_FLAG, CONVERSATION_FLAG, MIN_IDLE_FLAG] = rare(
  'What to compact',
  [
    { flags: '--format <name>', description: 'do not detect the format (compact --formats)' },
    {
      flags: '--max-unpacked <size>',
      description: 'limit for unpacking a .gz, .zst or .eval (2GiB)',
      parse: parseBytes,
    },
    { flags: '-j, --jobs <n>', description: 'files at a time (one for each core, at most 8)', parse: parseCount },
    { flags: '--files-from <file>', description: 'also what it lists (by lines or NULs; - for stdin)' },
    { flags: '--conversation <id>', description: 'the conversation id if the file has none' },
    { flags: '--min-idle <time>', description: 'leave alone what changed within it (10m)', parse: parseDuration },
  ],
);

/** Flags of almost every command. */
export const COMMON_FLAGS = [...SETTINGS_FLAGS, ...OUTPUT_FLAGS] as const;

/** Those of a command that reads transcripts; of one that knows their format. */
export const UNPACKING_FLAGS = [MAX_UNPACKED_FLAG, ...COMMON_FLAGS] as const;
export const READING_FLAGS = [FORMAT_FLAG, ...UNPACKING_FLAGS] as const;

/** Flags for the model. */
export const MODEL_FLAGS = [
  ...modelFlags('extractive (offline), anthropic, openai, ollama, …'),
  maxCostFlag('stop before the call that could pass it (5.00)'),
] as const satisfies readonly Flag[];

export function maxCostFlag(description: string) {
  return rare('The model', [{ flags: '--max-cost <amount>', description, parse: parseAmount }])[0];
}

/** `providers`: those that the command can use. */
export function modelFlags(providers: string) {
  return [
    { flags: '--provider <name>', description: providers, parse: parseProvider, group: 'The model' },
    ...rare('The model', [
      { flags: '--model <name>', description: "the model's name", parse: parseModel },
      { flags: '--base-url <url>', description: "the API's address (openai-compat needs it)" },
    ]),
  ] as const satisfies readonly Flag[];
}

/** Flags that decide which messages stay: for compacting, and for commands that show the decision. */
export const KEEP_FLAGS = [
  {
    flags: '--target <tokens>',
    description: 'compact the least important, only until it fits',
    parse: parseCount,
    group: 'How much to keep',
  },
  ...rare('How much to keep', [
    {
      flags: '--keep-recent <n>',
      description: 'keep at least this many messages at the end',
      parse: parseCountOrZero,
    },
    {
      flags: '--keep-recent-tokens <n>',
      description: 'keep more of the end, up to this many tokens',
      parse: parseCountOrZero,
    },
    { flags: '--keep-invalid', description: 'keep lines that are not JSON, byte for byte' },
  ]),
] as const;

/** Flags for compacting alone: they shape the summaries. */
export const SELECTION_FLAGS = [
  ...KEEP_FLAGS,
  ...rare('How much to keep', [
    { flags: '--chunk-size <n>', description: 'messages per summary (offline: all in one)', parse: parseCount },
    { flags: '--max-summary-tokens <n>', description: 'the longest summary of a chunk', parse: parseCount },
    { flags: '--summary-tokens <n>', description: 'the longest offline summary', parse: parseCount },
    { flags: '--rule <text>', description: 'add a standing rule; repeatable', isRepeatable: true },
    {
      flags: '--drop-rule <text>',
      description: 'drop standing rules with this text; repeatable',
      isRepeatable: true,
    },
    { flags: '--no-rules', description: 'write no section of standing rules' },
  ]),
  CONVERSATION_FLAG,
] as const;

type Selection = OptionsOf<typeof SELECTION_FLAGS>;

export const PIN_FLAGS = rare('How much to keep', [
  { flags: '--keep <message-id>', description: 'keep this message (line:12, or its id) for good', isRepeatable: true },
  { flags: '--unkeep <message-id>', description: 'keep it no longer; repeatable', isRepeatable: true },
]);

export type PolicyOptions = Omit<OptionsOf<typeof CONDITION_FLAGS>, 'olderThan'> &
  Pick<Selection, 'target' | 'conversation'> &
  Partial<OptionsOf<typeof PIN_FLAGS>>;

export function readPolicy(options: PolicyOptions): PolicyRequest {
  return {
    targetTokens: options.target ?? null,
    ifOver: options.ifOverBudget === true ? 'budget' : (options.ifOver ?? null),
    conversation: options.conversation ?? null,
    ...(options.minRetention === undefined ? {} : { minRetention: options.minRetention }),
    ...(options.minSaving === undefined ? {} : { minSaving: options.minSaving }),
    ...(options.fresh === true && { isFresh: true }),
    keep: options.keep,
    unkeep: options.unkeep,
  };
}

export function readSettings(
  options: Selection & OptionsOf<readonly [...typeof SETTINGS_FLAGS, ...typeof MODEL_FLAGS, typeof MAX_UNPACKED_FLAG]>,
): SettingsRequest {
  const summarization = pickGiven({
    provider: options.provider,
    name: options.model,
    base_url: options.baseUrl,
    keep_recent: options.keepRecent,
    keep_recent_tokens: options.keepRecentTokens,
    chunk_size: options.chunkSize,
    max_summary_tokens: options.maxSummaryTokens,
    summary_tokens: options.summaryTokens,
    keep_rules: options.rules === false ? false : undefined,
    rules: options.rule,
    drop_rules: options.dropRule,
  });
  const transcript = pickGiven({ keep_invalid: options.keepInvalid });
  const archive = pickGiven({ path: options.archive });
  return {
    ...pickGiven({ maxUnpackedBytes: options.maxUnpacked }),
    configFlag: options.config ?? null,
    project: options.trustConfig === true ? 'trusted' : 'as-trusted',
    flags: { summarization, transcript, archive } satisfies SettingFlags,
  };
}

function parseProvider(name: string): Result<string, string> {
  const all = [...PROVIDERS, ...Object.keys(PROVIDER_ALIASES)];
  if (all.includes(name)) return ok(PROVIDER_ALIASES[name] ?? name);
  return err(`There is no such provider: did you mean ${nearestName(name, all)}? (${all.join(', ')})`);
}

function parseModel(name: string): Result<string, string> {
  return name.trim() === '' ? err("It must be a model's name.") : ok(name);
}

function pickGiven<T extends object>(values: T): Partial<T> {
  const given: Partial<T> = { ...values };
  for (const key in given) if (given[key] === undefined) delete given[key];
  return given;
}

/** Why two inputs cannot both come from standard input; null: at most one does. */
export function findStdinConflict(
  operands: readonly string[],
  { filesFrom }: OptionsOf<readonly [typeof FILES_FROM_FLAG]> = {},
): string | null {
  const readers = [...operands, filesFrom].filter((name) => name === '-');
  return readers.length > 1 ? 'standard input (-) can be read only once' : null;
}

export const SHARED_STDOUT = '--json and the result cannot share standard output: write the result to a file with -o';

/** A transcript's path, or the end of one, without the `./` that no archived path has. */
export function readSource({ source }: { readonly source?: string | undefined }): string | null {
  return source?.replace(/^(?:\.\/)+/, '') ?? null;
}

export function readTime(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}
