import { gatherInputs } from '../inputs/gather.ts';
import { defineCommand, EXIT_CODES } from '../line/command.ts';
import { FILES_FROM_FLAG, findStdinConflict, JOBS_FLAG, READING_FLAGS } from '../line/flags.ts';
import { workOnFiles } from '../pool/work-on-files.ts';
import { renderVerifyReport } from '../render/restore.ts';
import { safeText } from '../../messages/text.ts';
import { inputOf } from '../runs/compact.ts';
import { createOutcomes, skipUncompacted } from '../runs/outcomes.ts';

export const command = defineCommand({
  operands: { syntax: '[compacted...]', description: 'compacted files, folders, globs, or - for standard input' },
  flags: [
    { flags: '--strict', description: 'fail too where something was erased or pruned' },
    JOBS_FLAG,
    FILES_FROM_FLAG,
    ...READING_FLAGS,
  ],
  takesPipe: true,
  examples: [
    ['compact verify session.compact.jsonl', 'compares the file with the archive'],
    ['compact verify sessions', 'checks every compacted file in a folder'],
  ],
  findConflict: ({ operands, options }) =>
    operands.length === 0 && options.filesFrom === undefined
      ? 'no compacted file named: give files, folders, globs, or - for standard input'
      : findStdinConflict(operands, options),
  session: { needs: ['archive'] },
  run: async (session, line) => {
    const { reporter } = session;
    const { options } = line;
    // A file that was compacted in place has its old name, so every transcript in a folder is checked.
    const gathered = await gatherInputs(session, line, { skipsCompacted: false });
    if (typeof gathered === 'number') return gathered;
    const outcomes = createOutcomes(session, { skip: skipUncompacted });
    gathered.failures.forEach(outcomes.countFailed);
    await workOnFiles(session, {
      items: gathered.inputs,
      jobs: options.jobs ?? null,
      work: (input, useCases, progress) => useCases.verifyFile({ input: inputOf(input, options) }, progress),
      report: (done, input) => {
        if (done.ok) {
          const { result } = done.value;
          const isWhole = result === 'verified' || (result === 'reduced' && options.strict !== true);
          if (!isWhole) outcomes.counts.failed += 1;
          const answer = isWhole ? session.answerUnlessQuiet : session.answer;
          answer(done.value, () => renderVerifyReport(done.value, reporter.answerTheme));
        } else if (done.error.kind === 'not-compacted' && !input.isNamed)
          reporter.report([`${safeText(input.name)}: not compacted, so there is nothing to verify.`]);
        else outcomes.add(done.error, input);
      },
    });
    return outcomes.counts.failed > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
  },
});
