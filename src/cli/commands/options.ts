import { nearestName } from '../../config/nearest.ts';
import { parseBytes, parseCount, parseCountOrZero, parseShare, parseSince } from '../../config/quantity.ts';
import type { PolicyRequest, SettingFlags } from '../../config/resolve.ts';
import { PROVIDERS } from '../../config/summarization.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { OutputOptions, SettingsRequest } from '../invocation.ts';
import type { Flag, Options } from './command.ts';

export const OUTPUT_FLAGS: readonly Flag[] = [
  { flags: '--json', description: 'reports on stdout, one JSON object per line' },
  { flags: '-q, --quiet', description: 'errors only', conflicts: 'verbose' },
  { flags: '-v, --verbose', description: 'print more details' },
  { flags: '--no-progress', description: 'no progress line' },
  { flags: '--color <when>', description: 'colors', choices: ['always', 'never', 'auto'], default: 'auto' },
];

export function readOutputOptions(options: Options): OutputOptions {
  return {
    json: options.json === true,
    verbosity: options.quiet === true ? 'quiet' : options.verbose === true ? 'verbose' : 'normal',
    color: options.color,
    showProgress: options.progress,
  };
}

export const CONFIG_FLAG: Flag = { flags: '--config <file>', description: 'read this configuration' };

export const ARCHIVE_FLAG: Flag = {
  flags: '--archive <file>',
  description: 'the archive to use: a file, or postgres://user@host/database',
};

export const OLDER_THAN_FLAG: Flag = {
  flags: '--older-than <age>',
  description: 'only transcripts whose last message is older than 12h, 30d, 2w, 6mo, or before 2026-03-01',
  parse: parseSince,
};

/** Flags that decide whether a transcript is compacted. */
export const CONDITION_FLAGS: readonly Flag[] = [
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
];

export const FORMAT_FLAG: Flag = {
  flags: '--format <name>',
  description: 'do not detect the format (see --formats)',
};

export const MAX_UNPACKED_FLAG: Flag = {
  flags: '--max-unpacked <size>',
  description: 'limit for unpacking a .gz, .zst or .eval (2GiB, or 100 times its size)',
  parse: parseBytes,
};

/** For commands that never ask a service. */
export const JOBS_FLAG: Flag = {
  flags: '-j, --jobs <n>',
  description: 'files at a time (the number of cores, at most 8)',
  parse: parseCount,
};

export const FILES_FROM_FLAG: Flag = {
  flags: '--files-from <file>',
  description: 'also the transcripts listed in it, one per line or NUL-terminated; - for stdin',
};

const TRUST_FLAG: Flag = {
  flags: '--trust-config',
  description: "let a project's configuration set everything in this run (see compact config trust)",
};

/** Flags for the configuration and the archive. */
export const SETTINGS_FLAGS: readonly Flag[] = [TRUST_FLAG, CONFIG_FLAG, ARCHIVE_FLAG];

/** Flags for the model. */
export const MODEL_FLAGS: readonly Flag[] = modelFlags('extractive (offline), anthropic, openai-compat or ollama');

/** `providers`: those that the command can use. */
export function modelFlags(providers: string): readonly Flag[] {
  return [
    { flags: '--provider <name>', description: `what summarizes: ${providers}`, parse: parseProvider },
    { flags: '--model <name>', description: "the model's name", parse: parseModel },
    { flags: '--base-url <url>', description: "the address of the model's API" },
  ];
}

/** Flags that decide which messages stay: the same for compacting and for scoring, which shows the decision. */
export const SELECTION_FLAGS: readonly Flag[] = [
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
];

export function readPolicy(options: Options): PolicyRequest {
  return {
    targetTokens: options.target ?? null,
    ifOver: options.ifOverBudget === true ? 'budget' : (options.ifOver ?? null),
    conversation: options.conversation ?? null,
    ...(options.minRetention === undefined ? {} : { minRetention: options.minRetention }),
    ...(options.fresh === true && { isFresh: true }),
  };
}

export function readSettings(options: Options): SettingsRequest {
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
export function findStdinConflict(operands: readonly string[], filesFrom: string | null): string | null {
  const readers = [...operands, ...(filesFrom === null ? [] : [filesFrom])].filter((name) => name === '-');
  return readers.length > 1 ? 'standard input (-) can be read only once' : null;
}

export const SHARED_STDOUT = '--json and the result cannot share standard output: write the result to a file with -o';

/** A transcript's path, or the end of one, without the `./` that no archived path has. */
export function readSource({ source }: Options): string | null {
  return source?.replace(/^(?:\.\/)+/, '') ?? null;
}

export function readTime(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}
