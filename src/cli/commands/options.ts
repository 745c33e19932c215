import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { nearestName } from '../../config/nearest.ts';
import type { SettingFlags } from '../../config/resolve.ts';
import { PROVIDERS } from '../../config/settings.ts';
import type { Manner, SettingsRequest } from '../invocation.ts';

/** A command: its flags for commander, and how what they gave becomes data. No I/O in either. */
export type CommandDefinition<T> = {
  readonly define: (command: Command) => Command;
  readonly read: (command: Command) => T;
};

export type MannerOptions = {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly progress: boolean;
  readonly color: Manner['color'];
};

export type SettingOptions = {
  readonly config?: string;
  readonly archive?: string;
  readonly provider?: string;
  readonly keepRecent?: number;
  readonly chunkSize?: number;
  readonly maxSummaryTokens?: number;
  readonly keepInvalid?: boolean;
};

export function addManner(command: Command): Command {
  return command
    .option('--json', 'reports on stdout, one JSON object a line')
    .addOption(new Option('-q, --quiet', 'errors only').conflicts('verbose'))
    .option('-v, --verbose', 'more of what was done')
    .option('--no-progress', 'no progress line')
    .addOption(new Option('--color <when>', 'colors').choices(['always', 'never', 'auto']).default('auto'));
}

export function readManner(options: MannerOptions): Manner {
  return {
    json: options.json === true,
    verbosity: options.quiet === true ? 'quiet' : options.verbose === true ? 'verbose' : 'normal',
    color: options.color,
    showProgress: options.progress,
  };
}

export function addConfig(command: Command): Command {
  return command.option('--config <file>', 'read this configuration');
}

export function addArchive(command: Command): Command {
  return command.option('--archive <file>', 'the archive to use');
}

export function addFormat(command: Command): Command {
  return command.option('--format <name>', 'do not detect the format (see --formats)');
}

/** What decides which messages stay: the same for compacting and for scoring, which shows it. */
export function addSelection(command: Command): Command {
  return command
    .option('--keep-recent <n>', 'messages at the end that stay as they are', parseCountOrZero)
    .option('--target <tokens>', 'least important first, and stop as soon as it fits', parseCount)
    .option('--chunk-size <n>', 'messages a summary', parseCount)
    .option('--max-summary-tokens <n>', 'length of a summary', parseCount)
    .option('--conversation <id>', 'the conversation id where the file carries none')
    .option('--keep-invalid', 'carry lines that are no JSON along, byte for byte');
}

export function readSettings(options: SettingOptions): SettingsRequest {
  const summarization = pickGiven({
    provider: options.provider,
    keep_recent: options.keepRecent,
    chunk_size: options.chunkSize,
    max_summary_tokens: options.maxSummaryTokens,
  });
  const transcript = pickGiven({ keep_invalid: options.keepInvalid });
  const archive = pickGiven({ path: options.archive });
  return { configFlag: options.config ?? null, flags: { summarization, transcript, archive } satisfies SettingFlags };
}

export function parseCount(text: string): number {
  const count = parseWhole(text);
  if (count === null || count < 1) throw new InvalidArgumentError('It must be a whole number of 1 or more.');
  return count;
}

export function parseCountOrZero(text: string): number {
  const count = parseWhole(text);
  if (count === null) throw new InvalidArgumentError('It must be a whole number of 0 or more.');
  return count;
}

export function parseProvider(name: string): string {
  if (name === 'extractive') return name;
  if (PROVIDERS.some((known) => known === name)) {
    throw new InvalidArgumentError('This version has the offline provider only: extractive.');
  }
  throw new InvalidArgumentError(`There is no such provider: did you mean ${nearestName(name, PROVIDERS)}?`);
}

/** Digits only: Number() would take '', '1e3', '0x10' and ' 5 ' as well. */
function parseWhole(text: string): number | null {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : null;
}

function pickGiven<T extends object>(values: T): Partial<T> {
  const given: Partial<T> = { ...values };
  for (const key in given) if (given[key] === undefined) delete given[key];
  return given;
}
