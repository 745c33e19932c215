import { parseCount } from '../../config/quantity.ts';
import type { SettingsUse } from '../../config/setting.ts';
import type { Format } from '../../ports/codec.ts';
import type { Job, JobOptions } from '../compact-jobs.ts';
import { EXIT_CODES, type ExitCode, interruptionCode } from '../exit-codes.ts';
import type { CommonRequest, PipedRequest } from '../invocation.ts';
import type { OutputChoice } from '../../compose/outputs.ts';
import type { CompactRendering } from '../render/compact.ts';
import { parseShard, readShard, type Shard } from '../shard.ts';
import type { CliContext, Session } from '../session.ts';
import { defineCommand, inSession } from './command.ts';
import {
  CONDITION_FLAGS,
  FILES_FROM_FLAG,
  FORMAT_FLAG,
  OUTPUT_FLAGS,
  MAX_UNPACKED_FLAG,
  MODEL_FLAGS,
  readOutputOptions,
  readPolicy,
  readSettings,
  readTime,
  SELECTION_FLAGS,
  SETTINGS_FLAGS,
  SHARED_STDOUT,
} from './options.ts';

export type CompactInvocation = CommonRequest &
  PipedRequest &
  JobOptions & {
    readonly kind: 'compact';
    readonly operands: readonly string[];
    /** A list of further transcripts; '-': on standard input. */
    readonly filesFrom: string | null;
    readonly shard: Shard | null;
  };

/** `--formats`: what formats there are. */
type FormatsInvocation = { readonly kind: 'formats' } & CommonRequest;

/** The default command, which is `run` too. */
export const compactCommand = defineCommand({
  operands: { syntax: '[transcript...]', description: 'files, folders, globs, or - for standard input' },
  flags: [
    {
      flags: '-o, --output <path>',
      description: 'a file; a folder for several; - for stdout',
      conflicts: 'inPlace',
    },
    { flags: '-i, --in-place', description: 'replace the input, atomically' },
    { flags: '-n, --dry-run', description: 'show the plan; nothing is written, no model is called' },
    {
      flags: '--preview',
      description: 'make the summaries and show them; a later run reuses them for free',
      conflicts: ['dryRun', 'output', 'inPlace'],
    },
    ...CONDITION_FLAGS,
    ...MODEL_FLAGS,
    ...SELECTION_FLAGS,
    {
      flags: '-j, --jobs <n>',
      description: 'transcripts at a time (offline: the number of cores, at most 8; else 1)',
      parse: parseCount,
    },
    FILES_FROM_FLAG,
    {
      flags: '--shard <i/n>',
      description: 'only part I of N of the files, by a hash of their paths, for N workers',
      parse: parseShard,
    },
    FORMAT_FLAG,
    MAX_UNPACKED_FLAG,
    { flags: '--formats', description: 'list the formats and exit' },
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  takesPipe: true,
  examples: [
    ['compact run session.jsonl', 'writes session.compact.jsonl beside it'],
    ['compact run -n scan', 'shows the plan for a file that is named like a command'],
  ],
  read: ({ options, args, isStdinImplied }): CompactInvocation | FormatsInvocation => {
    const common = { outputOptions: readOutputOptions(options), settings: readSettings(options) };
    if (options.formats === true) return { kind: 'formats', ...common };
    return {
      kind: 'compact',
      isStdinImplied,
      operands: args,
      filesFrom: options.filesFrom ?? null,
      shard: options.shard === undefined ? null : readShard(options.shard),
      format: options.format ?? null,
      policy: readPolicy(options),
      output: readOutput(options, args),
      before: readTime(options.olderThan),
      isDryRun: options.dryRun === true,
      jobs: options.jobs ?? null,
      ...common,
    };
  },
  findConflict: (invocation) => (invocation.kind === 'compact' ? findConflict(invocation) : null),
  run: (context, invocation) =>
    invocation.kind === 'compact' ? compact(context, invocation) : printFormats(context, invocation),
});

type OutputFlags = {
  readonly preview?: boolean | undefined;
  readonly inPlace?: boolean | undefined;
  readonly output?: string | undefined;
};

/** What comes in on standard input goes out on standard output unless told otherwise. */
function readOutput(options: OutputFlags, operands: readonly string[]): OutputChoice {
  if (options.preview === true) return { kind: 'preview' };
  if (options.inPlace === true) return { kind: 'in-place' };
  if (options.output === '-') return { kind: 'stdout' };
  if (options.output !== undefined) return { kind: 'path', path: options.output };
  return operands.includes('-') ? { kind: 'stdout' } : { kind: 'default' };
}

function findConflict({
  operands,
  filesFrom,
  shard,
  output,
  before,
  isDryRun,
  outputOptions,
}: CompactInvocation): string | null {
  if (operands.length === 0 && filesFrom === null)
    return 'no transcript named: give files, folders, globs, or - for standard input';
  if (operands.includes('-')) {
    if (operands.length > 1 || filesFrom !== null) return 'standard input (-) must be the only input';
    if (shard !== null) return '--shard divides files, not standard input (-)';
    if (output.kind === 'in-place') return '--in-place cannot replace standard input (-)';
  }
  if (output.kind !== 'stdout') return null;
  if (before !== null && !isDryRun)
    return '--older-than may leave the transcript out, so its result cannot go to standard output';
  if (operands.length > 1 || filesFrom !== null)
    return 'several transcripts cannot share standard output: give a folder with -o';
  return outputOptions.json && !isDryRun ? SHARED_STDOUT : null;
}

async function compact(context: CliContext, invocation: CompactInvocation): Promise<ExitCode> {
  const isArchiving = !invocation.isDryRun && invocation.output.kind !== 'preview';
  const needs: readonly SettingsUse[] = [
    'selection',
    'model',
    'archive',
    ...(isArchiving ? (['embedding'] as const) : []),
  ];
  return inSession(context, { ...invocation, command: 'compact', needs }, async (session) => {
    // Imported only here, because help needs none of it.
    const { archiveToName, runJobs } = await import('../compact-jobs.ts');
    const { createEmbeddingsIfAny, createSummarizer } = await import('../create-services.ts');
    const { createRunReport } = await import('../run-report.ts');
    const { gatherInputs } = await import('../gather.ts');
    const { planOutputs } = await import('../../compose/outputs.ts');
    const { toPolicy } = await import('../../config/resolve.ts');
    const { compaction } = toPolicy(session.settings, invocation.policy);
    const summarizer = await createSummarizer(session, { ...invocation, compaction });
    if (!summarizer.ok) return session.refuse(summarizer.error);
    const instead = 'archived texts get none';
    const embeddings = isArchiving ? await createEmbeddingsIfAny(session, { instead }) : null;
    const gathered = await gatherInputs(session, invocation.operands, {
      skipsCompacted: true,
      filesFrom: invocation.filesFrom,
      shard: invocation.shard,
      isStdinImplied: invocation.isStdinImplied,
    });
    if (typeof gathered === 'number') return gathered;
    const outputs = await planOutputs({
      files: gathered.inputs,
      isSeveral: gathered.isSeveral,
      choice: invocation.output,
    });
    if (!outputs.ok) {
      const { describeOutputProblem } = await import('../render/problems.ts');
      return session.refuse(describeOutputProblem(outputs.error));
    }
    const jobs = gathered.inputs.map((input, index): Job => ({
      input,
      output: outputs.value[index] ?? { kind: 'none' },
    }));
    const report = createRunReport({
      reporter: session.reporter,
      outputOptions: invocation.outputOptions,
      terminalColumns: session.terminal.stderr.isTerminal ? session.terminal.stderr.widthColumns : null,
      isPlan: invocation.isDryRun,
      names: gathered.inputs.map(({ name }) => name),
      failures: gathered.failures,
      rendering: renderingOf(session, invocation, archiveToName(session, invocation.settings)),
    });
    const leftCount = await runJobs(
      { session, options: invocation, isSeveral: gathered.isSeveral, report, summarizer: summarizer.value, embeddings },
      jobs,
    );
    const { failed } = report.end(leftCount);
    if (session.terminal.signal.aborted) return interruptionCode(session.terminal.signal);
    return failed > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
  });
}

function renderingOf(session: Session, invocation: CompactInvocation, archiveFlag: string | null): CompactRendering {
  return {
    theme: session.reporter.theme,
    isVerbose: invocation.outputOptions.verbosity === 'verbose',
    archiveFlag,
    program: session.terminal.program(),
    isInPlace: invocation.output.kind === 'in-place',
    widthColumns: session.terminal.stderr.widthColumns,
  };
}

/** Needs no configuration, so that a broken one is no reason not to answer. */
async function printFormats(context: CliContext, { outputOptions }: FormatsInvocation): Promise<ExitCode> {
  const { createReporter } = await import('../reporter.ts');
  const reporter = await createReporter(context.terminal, outputOptions);
  const formats = await listFormats(context);
  if (outputOptions.json) {
    const { reportJson } = await import('../render/text.ts');
    for (const format of formats) reporter.answerPiece(reportJson(format));
  } else {
    const { renderFormats } = await import('../render/formats.ts');
    const rendering = { theme: reporter.answerTheme, widthColumns: reporter.answerWidthColumns };
    reporter.answer(renderFormats(formats, rendering));
  }
  return EXIT_CODES.done;
}

export async function listFormats({ terminal, loadUseCases }: CliContext): Promise<readonly Format[]> {
  const { defaultArchivePath } = await import('../../config/find.ts');
  const createUseCases = await loadUseCases();
  const useCases = createUseCases({
    removeAtExit: terminal.removeAtExit,
    archivePath: defaultArchivePath(terminal.host),
    progress: { update: () => undefined, finish: () => undefined },
    signal: terminal.signal,
    stdout: () => undefined,
  });
  try {
    return useCases.listFormats();
  } finally {
    await useCases.close();
  }
}
