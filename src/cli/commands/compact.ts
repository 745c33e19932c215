import { parseCount, parseShare } from '../../config/quantity.ts';
import type { CompactInvocation, OutputChoice } from '../invocation.ts';
import type { CommandDefinition, Options } from './definition.ts';
import {
  FILES_FROM_FLAG,
  FORMAT_FLAG,
  MANNER_FLAGS,
  MAX_UNPACKED_FLAG,
  MODEL_FLAGS,
  readManner,
  readSettings,
  SELECTION_FLAGS,
  SETTINGS_FLAGS,
} from './options.ts';

/** The default command, which is `run` too. */
export const compactCommand: CommandDefinition<CompactInvocation> = {
  operands: { syntax: '[transcript...]', description: 'files, folders, globs, or - for standard input' },
  flags: [
    {
      flags: '-o, --output <path>',
      description: 'a file; a folder for several; - for stdout',
      conflicts: 'inPlace',
    },
    { flags: '-i, --in-place', description: 'replace the input, atomically' },
    { flags: '-n, --dry-run', description: 'show the plan; nothing is written, no model is asked' },
    {
      flags: '--preview',
      description: 'make the summaries and show them; a later run uses them and pays nothing',
      conflicts: ['dryRun', 'output', 'inPlace'],
    },
    {
      flags: '--if-over <tokens>',
      description: 'leave transcripts at or under this alone',
      parse: parseCount,
      conflicts: 'ifOverBudget',
    },
    { flags: '--if-over-budget', description: 'leave transcripts alone that fit the context budget' },
    ...MODEL_FLAGS,
    {
      flags: '--min-retention <share>',
      description: 'fail where summaries keep a smaller share of the facts (0.9 or 90%)',
      parse: parseShare,
    },
    ...SELECTION_FLAGS,
    { flags: '-j, --jobs <n>', description: 'transcripts at a time (1)', parse: parseCount },
    FILES_FROM_FLAG,
    FORMAT_FLAG,
    MAX_UNPACKED_FLAG,
    { flags: '--formats', description: 'list the formats and leave' },
    ...SETTINGS_FLAGS,
    ...MANNER_FLAGS,
  ],
  takesPipe: true,
  read: ({ options, args, openWords, isStdinImplied }) => ({
    kind: 'compact',
    openWords,
    isStdinImplied,
    operands: args,
    filesFrom: options.filesFrom ?? null,
    format: options.format ?? null,
    policy: {
      targetTokens: options.target ?? null,
      ifOver: options.ifOverBudget === true ? 'budget' : (options.ifOver ?? null),
      conversation: options.conversation ?? null,
      ...(options.minRetention === undefined ? {} : { minRetention: options.minRetention }),
    },
    output: readOutput(options, args),
    isDryRun: options.dryRun === true,
    jobs: options.jobs ?? 1,
    manner: readManner(options),
    settings: readSettings(options),
  }),
};

/** What comes in on standard input goes out on standard output unless told otherwise. */
function readOutput(options: Options, operands: readonly string[]): OutputChoice {
  if (options.preview === true) return { kind: 'preview' };
  if (options.inPlace === true) return { kind: 'in-place' };
  if (options.output === '-') return { kind: 'stdout' };
  if (options.output !== undefined) return { kind: 'path', path: options.output };
  return operands.includes('-') ? { kind: 'stdout' } : { kind: 'default' };
}
