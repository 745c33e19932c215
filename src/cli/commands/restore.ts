import type { OutputTarget } from '../../app/contract/requests.ts';
import { makeFolderFor, planOutputs } from '../../compose/outputs.ts';
import { originalPath } from '../../compose/transcript-files.ts';
import { parseCount, parseUntil } from '../../config/quantity.ts';
import { err } from '../../core/result.ts';
import { gatherInputs, type ReadyInput } from '../inputs/gather.ts';
import { defineCommand, type Line, type OptionsOf, type Session, EXIT_CODES, type ExitCode } from '../line/command.ts';
import {
  FILES_FROM_FLAG,
  findStdinConflict,
  JOBS_FLAG,
  READING_FLAGS,
  readTime,
  SHARED_STDOUT,
} from '../line/flags.ts';
import { workOnFiles } from '../pool/work-on-files.ts';
import { renderRestoredCapture } from '../render/capture.ts';
import { describeOutputProblem } from '../../messages/problems.ts';
import { CUT_SHORT, renderFileCounts, renderRestoredLine, renderRestoreReport } from '../render/restore.ts';
import { inputOf, isInFolder } from '../runs/compact.ts';
import { createOutcomes, skipUncompacted } from '../runs/outcomes.ts';

const FLAGS = [
  {
    flags: '-o, --output <path>',
    description: 'a file; a folder for several; by default stdout',
    conflicts: 'inPlace',
  },
  { flags: '-i, --in-place', description: 'replace the compacted file, atomically' },
  { flags: '--all', description: 'back to before the first compaction, not the last' },
  { flags: '--partial', description: 'restore the rest if lines were erased, or messages changed since' },
  { flags: '--captured <file>', description: 'a file that compact capture stored, even if it is gone' },
  { flags: '--version <n>', description: 'of a captured file, this version (default: the last)', parse: parseCount },
  { flags: '--at <time>', description: 'a captured file as it was at this time', parse: parseUntil },
  JOBS_FLAG,
  FILES_FROM_FLAG,
  ...READING_FLAGS,
] as const;

type RestoreLine = Line<OptionsOf<typeof FLAGS>>;

export const command = defineCommand({
  operands: { syntax: '[compacted...]', description: 'compacted files, folders, globs, or - for standard input' },
  flags: FLAGS,
  takesPipe: true,
  examples: [
    ['compact restore session.compact.jsonl -o original.jsonl', 'writes the original to a file'],
    ['compact restore -i sessions', 'undoes the last compaction of every file in a folder'],
    ['compact restore --captured session.jsonl -i', 'brings a deleted file back that was captured'],
  ],
  findConflict: ({ operands, options, outputOptions }) => {
    const { captured, version, at, partial, filesFrom } = options;
    const output = outputOf(options);
    const namesFiles = operands.length > 0 || filesFrom !== undefined;
    if ((captured ?? '') === '' && (captured ?? version ?? at) !== undefined)
      return '--version and --at are for captured files: name one with --captured FILE';
    if (captured !== undefined && partial === true)
      return '--partial is for compacted transcripts: a captured file is restored whole or not at all';
    if (captured !== undefined && namesFiles)
      return '--captured names one captured file: give no compacted files beside it';
    if (!namesFiles && captured === undefined)
      return 'no compacted file named: give files, folders, globs, or - for standard input';
    if (operands.includes('-') && output.kind === 'in-place') return '--in-place cannot replace standard input (-)';
    if (output.kind === 'stdout' && (operands.length > 1 || filesFrom !== undefined))
      return describeOutputProblem({ kind: 'several-on-stdout' });
    if (outputOptions.json && output.kind === 'stdout') return SHARED_STDOUT;
    return findStdinConflict(operands, options);
  },
  session: ({ options }) => ({ needs: ['archive'], endsWithStdout: outputOf(options).kind === 'stdout' }),
  run: async (session, line) => {
    const { captured } = line.options;
    return captured === undefined ? restoreFiles(session, line) : restoreCaptured(session, line, captured);
  },
});

function outputOf({ inPlace, output }: RestoreLine['options']) {
  if (inPlace === true) return { kind: 'in-place' } as const;
  return output === undefined || output === '-'
    ? ({ kind: 'stdout' } as const)
    : ({ kind: 'path', path: output } as const);
}

async function restoreFiles(session: Session, line: RestoreLine): Promise<ExitCode> {
  const { terminal, reporter } = session;
  const { options, outputOptions } = line;
  const { all = false, partial = false, jobs = null } = options;
  const gathered = await gatherInputs(session, line, { skipsCompacted: false });
  if (typeof gathered === 'number') return gathered;
  const { inputs, isSeveral, failures } = gathered;
  const choice = outputOf(options);
  const outputs = planOutputs({ files: inputs, isSeveral, choice, rename: originalPath, mayCollide: true });
  if (!outputs.ok) return session.refuse(describeOutputProblem(outputs.error));
  const items = inputs.map((input, index): ReadyInput & { readonly output: OutputTarget } => ({
    ...input,
    output: outputs.value[index] ?? { kind: 'in-place' },
  }));
  const outcomes = createOutcomes(session, { schema: 'compact/restore@1', isSeveral, skip: skipUncompacted });
  failures.forEach(outcomes.countFailed);
  if (failures.some(({ error }) => error.kind === 'not-found'))
    reporter.report([`To bring back what 'capture' stored: ${terminal.program()} restore --captured FILE -i`]);
  let restoredCount = 0;
  const left = await workOnFiles(session, {
    items,
    jobs,
    work: async (item, useCases, progress) => {
      const made = isInFolder(choice, isSeveral) ? makeFolderFor(item.output) : null;
      if (made?.ok === false) return err({ kind: 'file', failure: made.error });
      const { output } = item;
      const target = output.kind === 'file' || output.kind === 'in-place' ? output : ({ kind: 'stdout' } as const);
      return useCases.restoreFile({ input: inputOf(item, options), output: target, all, partial }, progress);
    },
    report: (done, item) => {
      if (!done.ok) return outcomes.add(done.error, item);
      restoredCount += 1;
      const render = isSeveral ? renderRestoredLine : renderRestoreReport;
      if (outputOptions.json) reporter.answerJson(done.value);
      else reporter.report(render(done.value, reporter.theme), done.value);
    },
  });
  if (terminal.stdout.isClosed()) {
    if (choice.kind === 'stdout') reporter.report([CUT_SHORT]);
    return EXIT_CODES.done;
  }
  const counts = { ...outcomes.counts, done: restoredCount, left };
  if (isSeveral) reporter.report([renderFileCounts(counts, reporter.theme)]);
  return counts.failed + left > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
}

/** A file that the archive has whole. */
async function restoreCaptured(session: Session, { options, outputOptions }: RestoreLine, file: string) {
  const { useCases, reporter, terminal } = session;
  const choice = outputOf(options);
  const output = choice.kind === 'path' ? ({ kind: 'file', path: choice.path } as const) : choice;
  reporter.progress.name(file);
  const request = { file, version: options.version ?? null, at: readTime(options.at), output };
  const restored = await useCases.restoreCaptured(request, reporter.progress);
  if (terminal.stdout.isClosed()) return EXIT_CODES.done;
  if (!restored.ok) return session.fail(restored.error);
  if (outputOptions.json) reporter.answerJson(restored.value);
  else reporter.report(renderRestoredCapture(restored.value, reporter.theme), restored.value);
  return EXIT_CODES.done;
}
