import type { OutputChoice } from '../../compose/outputs.ts';
import { parseCount } from '../../config/quantity.ts';
import type { SettingsUse } from '../../config/setting.ts';
import type { Format } from '../../ports/codec.ts';
import { parseShard } from '../inputs/shard.ts';
import { defineBareCommand, formatOf, inSession } from '../line/command.ts';
import {
  CONDITION_FLAGS,
  FILES_FROM_FLAG,
  FORMAT_FLAG,
  MIN_IDLE_FLAG,
  MODEL_FLAGS,
  PIN_FLAGS,
  rare,
  readTime,
  SELECTION_FLAGS,
  SHARED_STDOUT,
  UNPACKING_FLAGS,
} from '../line/flags.ts';
import type { Flag, Line, OptionsOf } from '../line/line.ts';
import type { CliContext } from '../session.ts';
import { EXIT_CODES, type ExitCode } from '../terminal/exit-codes.ts';

const FLAGS = [
  {
    flags: '-n, --dry-run',
    description: 'the plan alone: no summaries, nothing is written',
    conflicts: 'maxCost',
    group: 'Output',
  },
  {
    flags: '--preview',
    description: 'the plan with its summaries, which a run then reuses',
    conflicts: ['dryRun', 'output', 'inPlace'],
    group: 'Output',
  },
  { flags: '-i, --in-place', description: 'replace the input, atomically', group: 'Output' },
  {
    flags: '-o, --output <path>',
    description: 'a file; a folder for several; - for stdout',
    conflicts: 'inPlace',
    group: 'Output',
  },
  ...CONDITION_FLAGS,
  MIN_IDLE_FLAG,
  ...SELECTION_FLAGS,
  ...PIN_FLAGS,
  ...MODEL_FLAGS,
  ...rare('The model', [
    { flags: '--again', description: 'ask the model again, despite stored summaries', conflicts: 'dryRun' },
  ]),
  FILES_FROM_FLAG,
  ...rare('What to compact', [
    { flags: '--shard <i/n>', description: 'only part I of N of the files, for N workers', parse: parseShard },
    { flags: '-j, --jobs <n>', description: 'files at a time (a model: 1; else one for each core)', parse: parseCount },
    FORMAT_FLAG,
    { flags: '--formats', description: 'list the formats and exit' },
  ]),
  ...UNPACKING_FLAGS,
] as const satisfies readonly Flag[];

type CompactLine = Line<OptionsOf<typeof FLAGS>>;

/** The default command, which is `run` too. */
export const command = defineBareCommand({
  operands: { syntax: '[transcript...]', description: 'files, folders, globs, or - for standard input' },
  flags: FLAGS,
  takesPipe: true,
  examples: [
    ['compact -n session.jsonl', 'shows what would be done'],
    ['compact session.jsonl', 'writes session.compact.jsonl beside it'],
    ['compact -i --if-over 100k sessions', 'replaces the large ones in place'],
    ['compact run -n scan', 'shows the plan for a file that is named like a command'],
  ],
  findConflict,
  run: (context, line) => (line.options.formats === true ? printFormats(context, line) : compact(context, line)),
});

/** What comes in on standard input goes out on standard output unless told otherwise. */
function outputOf({ operands, options: { preview, inPlace, output } }: CompactLine): OutputChoice {
  if (preview === true) return { kind: 'preview' };
  if (inPlace === true) return { kind: 'in-place' };
  if (output === '-') return { kind: 'stdout' };
  if (output !== undefined) return { kind: 'path', path: output };
  return operands.includes('-') ? { kind: 'stdout' } : { kind: 'default' };
}

function findConflict(line: CompactLine): string | null {
  const { operands, outputOptions } = line;
  const { formats, filesFrom, shard, olderThan, dryRun: isDryRun = false } = line.options;
  if (formats === true) return null;
  const output = outputOf(line);
  const isListed = filesFrom !== undefined;
  if (operands.length === 0 && !isListed)
    return 'no transcript named: give files, folders, globs, or - for standard input';
  if (operands.includes('-')) {
    if (operands.length > 1 || isListed) return 'standard input (-) must be the only input';
    if (shard !== undefined) return '--shard divides files, not standard input (-)';
    if (output.kind === 'in-place') return '--in-place cannot replace standard input (-)';
  }
  if (output.kind !== 'stdout') return null;
  if (olderThan !== undefined && !isDryRun)
    return '--older-than may leave the transcript out, so its result cannot go to standard output';
  if (operands.length > 1 || isListed) return 'several transcripts cannot share standard output: give a folder with -o';
  return outputOptions.json && !isDryRun ? SHARED_STDOUT : null;
}

async function compact(context: CliContext, line: CompactLine): Promise<ExitCode> {
  const { options } = line;
  const { dryRun: isDryRun = false, jobs = null } = options;
  const output = outputOf(line);
  const isArchiving = !isDryRun && output.kind !== 'preview';
  const always = ['selection', 'model', 'archive'] as const;
  const needs: readonly SettingsUse[] = isArchiving ? [...always, 'embedding'] : always;
  return inSession(context, { ...line, command: 'compact', format: formatOf(line), needs }, async (session) => {
    // Imported only here, because help needs none of it.
    const { compactAll, policyOf } = await import('../runs/compact.ts');
    const { createEmbeddingsIfAny, createSummarizer } = await import('../runs/services.ts');
    const { gatherInputs } = await import('../inputs/gather.ts');
    const { planOutputs } = await import('../../compose/outputs.ts');
    const { compaction } = policyOf(session, options);
    const { again: asksAgain = false, maxCost } = options;
    const summarizer = await createSummarizer(session, { isDryRun, asksAgain, compaction, maxCost });
    if (!summarizer.ok) return session.refuse(summarizer.error);
    const instead = 'archived texts get none';
    const embeddings = isArchiving ? await createEmbeddingsIfAny(session, { instead }) : null;
    const gathered = await gatherInputs(session, line, { skipsCompacted: true });
    if (typeof gathered === 'number') return gathered;
    const { inputs, isSeveral } = gathered;
    if (inputs.length > 1 && (options.keep ?? options.unkeep) !== undefined)
      return session.refuse('--keep and --unkeep name messages of one transcript: give only that one');
    const outputs = planOutputs({ files: inputs, isSeveral, choice: output });
    if (!outputs.ok) {
      const { describeOutputProblem } = await import('../../messages/problems.ts');
      return session.refuse(describeOutputProblem(outputs.error));
    }
    const run = { options, output, before: readTime(options.olderThan), isDryRun, jobs, gathered };
    const made = { outputs: outputs.value, summarizer: summarizer.value, embeddings };
    const { failed } = await compactAll(session, { ...run, ...made });
    return failed > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
  });
}

/** Needs no configuration, so that a broken one is no reason not to answer. */
async function printFormats(context: CliContext, { outputOptions }: CompactLine): Promise<ExitCode> {
  const { createReporter } = await import('../terminal/reporter.ts');
  const reporter = await createReporter(context.terminal, outputOptions);
  const formats = await listFormats(context);
  if (outputOptions.json) formats.forEach(reporter.answerJson);
  else {
    const { renderFormats } = await import('../render/help.ts');
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
