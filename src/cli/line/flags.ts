import { nearestName } from '../../config/nearest.ts';
import { parseBytes, parseCount, parseCountOrZero, parseShare, parseSince } from '../../config/quantity.ts';
import type { PolicyRequest, SettingFlags } from '../../config/resolve.ts';
import { PROVIDERS } from '../../config/summarization.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Flag, OptionsOf, OutputOptions, SettingsRequest } from './line.ts';

export const OUTPUT_FLAGS = [
  { flags: '--json', description: 'reports on stdout, one JSON object per line' },
  { flags: '-q, --quiet', description: 'errors only', conflicts: 'verbose' },
  { flags: '-v, --verbose', description: 'print more details' },
  { flags: '--no-progress', description: 'no progress line' },
  { flags: '--color <when>', description: 'colors', choices: ['always', 'never', 'auto'], default: 'auto' },
] as const satisfies readonly Flag[];

export function readOutputOptions(options: OptionsOf<typeof OUTPUT_FLAGS>): OutputOptions {
  return {
    json: options.json === true,
    verbosity: options.quiet === true ? 'quiet' : options.verbose === true ? 'verbose' : 'normal',
    color: options.color ?? 'auto',
    showProgress: options.progress !== false,
  };
}

export const CONFIG_FLAG = { flags: '--config <file>', description: 'read this configuration' } as const satisfies Flag;

export const ARCHIVE_FLAG = {
  flags: '--archive <file>',
  description: 'the archive to use: a file, or postgres://user@host/database',
} as const satisfies Flag;

export const OLDER_THAN_FLAG = {
  flags: '--older-than <age>',
  description: 'only transcripts whose last message is older than 12h, 30d, 2w, 6mo, or before 2026-03-01',
  parse: parseSince,
} as const satisfies Flag;

/** Flags that decide whether a transcript is compacted. */
export const CONDITION_FLAGS = [
  {
    flags: '--if-over <tokens>',
    description: 'skip transcripts with at most this many tokens',
    parse: parseCount,
    conflicts: 'ifOverBudget',
  },
  { flags: '--if-over-budget', description: 'skip transcripts that fit the context budget' },
  OLDER_THAN_FLAG,
  { flags: '--fresh', description: 'go on although this archive does not know the earlier compactions' },
  {
    flags: '--min-retention <share>',
    description: 'fail if summaries keep a smaller share of the facts (0.9 or 90%)',
    parse: parseShare,
  },
] as const satisfies readonly Flag[];

export const FORMAT_FLAG = {
  flags: '--format <name>',
  description: 'do not detect the format (see --formats)',
} as const satisfies Flag;

export const MAX_UNPACKED_FLAG = {
  flags: '--max-unpacked <size>',
  description: 'limit for unpacking a .gz, .zst or .eval (2GiB, or 100 times its size)',
  parse: parseBytes,
} as const satisfies Flag;

/** For commands that never ask a service. */
export const JOBS_FLAG = {
  flags: '-j, --jobs <n>',
  description: 'files at a time (the number of cores, at most 8)',
  parse: parseCount,
} as const satisfies Flag;

export const FILES_FROM_FLAG = {
  flags: '--files-from <file>',
  description: 'also the transcripts listed in it, one per line or NUL-terminated; - for stdin',
} as const satisfies Flag;

const TRUST_FLAG = {
  flags: '--trust-config',
  description: "let a project's configuration set everything in this run (see compact config trust)",
} as const satisfies Flag;

/** Flags for the configuration and the archive. */
export const SETTINGS_FLAGS = [TRUST_FLAG, CONFIG_FLAG, ARCHIVE_FLAG] as const satisfies readonly Flag[];

/** Flags for the model. */
export const MODEL_FLAGS = modelFlags('extractive (offline), anthropic, openai-compat or ollama');

/** `providers`: those that the command can use. */
export function modelFlags(providers: string) {
  return [
    { flags: '--provider <name>', description: `what summarizes: ${providers}`, parse: parseProvider },
    { flags: '--model <name>', description: "the model's name", parse: parseModel },
    { flags: '--base-url <url>', description: "the address of the model's API" },
  ] as const satisfies readonly Flag[];
}

/** Flags that decide which messages stay: the same for compacting and for scoring, which shows the decision. */
export const SELECTION_FLAGS = [
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
  {
    flags: '--target <tokens>',
    description: 'compact the least important messages, only until it fits',
    parse: parseCount,
  },
  { flags: '--chunk-size <n>', description: 'messages per summary (offline: all in one)', parse: parseCount },
  { flags: '--max-summary-tokens <n>', description: "maximum length of a chunk's summary", parse: parseCount },
  { flags: '--summary-tokens <n>', description: 'maximum length of the offline summary', parse: parseCount },
  { flags: '--rule <text>', description: 'add a standing rule; repeatable', isRepeatable: true },
  {
    flags: '--drop-rule <text>',
    description: 'drop standing rules that contain this text; repeatable',
    isRepeatable: true,
  },
  { flags: '--no-rules', description: 'write no section of standing rules' },
  { flags: '--conversation <id>', description: 'the conversation id if the file has none' },
  { flags: '--keep-invalid', description: 'keep lines that are not JSON, byte for byte' },
] as const satisfies readonly Flag[];

type Conditions = OptionsOf<typeof CONDITION_FLAGS>;
type Selection = OptionsOf<typeof SELECTION_FLAGS>;

export type PolicyOptions = Omit<Conditions, 'olderThan'> & Pick<Selection, 'target' | 'conversation'>;

export function readPolicy(options: PolicyOptions): PolicyRequest {
  return {
    targetTokens: options.target ?? null,
    ifOver: options.ifOverBudget === true ? 'budget' : (options.ifOver ?? null),
    conversation: options.conversation ?? null,
    ...(options.minRetention === undefined ? {} : { minRetention: options.minRetention }),
    ...(options.fresh === true && { isFresh: true }),
  };
}

type SettingsOptions = Selection &
  OptionsOf<readonly [...typeof SETTINGS_FLAGS, ...typeof MODEL_FLAGS, typeof MAX_UNPACKED_FLAG]>;

export function readSettings(options: SettingsOptions): SettingsRequest {
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
  if (PROVIDERS.some((known) => known === name)) return ok(name);
  const all = PROVIDERS.join(', ');
  return err(`There is no such provider: did you mean ${nearestName(name, PROVIDERS)}? (${all})`);
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
