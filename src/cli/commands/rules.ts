import { gatherInputs } from '../inputs/gather.ts';
import { defineCommand, EXIT_CODES } from '../line/command.ts';
import { READING_FLAGS } from '../line/flags.ts';
import { renderRules } from '../render/rules.ts';
import { shellWord } from '../../messages/text.ts';
import { inputOf, policyOf } from '../runs/compact.ts';

export const command = defineCommand({
  operands: [{ syntax: '<transcripts...>', description: 'the transcripts, compacted or not' }],
  flags: [
    {
      flags: '--drop-rule <text>',
      description: 'drop the rules that contain this text for good, in this file and its later compactions',
      isRepeatable: true,
    },
    { flags: '--keep-invalid', description: 'pass over lines that are not JSON' },
    ...READING_FLAGS,
  ],
  examples: [
    ['compact rules session.jsonl', 'lists your standing rules, and where you said each'],
    ["compact rules --drop-rule 'by hand' session.jsonl", 'drops a rule for good'],
  ],
  // The rules that it drops are no setting of this run.
  fix: ({ settings, ...common }) => {
    const { drop_rules: _dropped, ...summarization } = settings.flags.summarization ?? {};
    return { ...common, settings: { ...settings, flags: { ...settings.flags, summarization } } };
  },
  session: { needs: ['archive'], endsWithStdout: true },
  run: async (session, line) => {
    const { reporter, useCases } = session;
    const { operands, options } = line;
    const { dropRule: drop = [] } = options;
    if (drop.length > 0 && operands.includes('-'))
      return session.refuse('--drop-rule needs the name of a file: dropped rules are remembered by it');
    const gathered = await gatherInputs(session, { operands }, { skipsCompacted: false });
    if (typeof gathered === 'number') return gathered;
    let hasFailed = gathered.failures.length > 0;
    for (const input of gathered.inputs) {
      const { name } = input;
      const listed = await useCases.listRules({ input: inputOf(input, options), policy: policyOf(session, {}), drop });
      if (!listed.ok) {
        hasFailed = true;
        session.fail(listed.error);
        continue;
      }
      for (const text of listed.value.unmatched) {
        hasFailed = true;
        reporter.error(
          `${name}: no rule contains ${JSON.stringify(text)}. 'compact rules ${shellWord(name)}' lists them.`,
        );
      }
      session.answer(listed.value, () => {
        const lines = renderRules(listed.value, reporter.answerTheme);
        return gathered.inputs.length === 1 ? lines : [reporter.answerTheme.strong(name), ...lines];
      });
    }
    return hasFailed ? EXIT_CODES.failed : EXIT_CODES.done;
  },
});
