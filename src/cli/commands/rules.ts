import { toPolicy } from '../../config/resolve.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import { gatherInputs } from '../gather.ts';
import type { CommonRequest } from '../invocation.ts';
import { renderFailure } from '../render/failure.ts';
import { reportJson } from '../render/text.ts';
import { renderRules } from '../render/rules.ts';
import type { CliContext } from '../session.ts';
import { defineCommand, inSession } from './command.ts';
import {
  FORMAT_FLAG,
  MAX_UNPACKED_FLAG,
  OUTPUT_FLAGS,
  readOutputOptions,
  readSettings,
  SETTINGS_FLAGS,
} from './options.ts';

export type RulesInvocation = CommonRequest & {
  readonly kind: 'rules';
  readonly operands: readonly string[];
  readonly format: string | null;
  readonly drop: readonly string[];
};

export const rulesCommand = defineCommand({
  operands: [{ syntax: '<transcripts...>', description: 'the transcripts, compacted or not' }],
  flags: [
    {
      flags: '--drop-rule <text>',
      description: 'drop the rules that contain this text for good, in this file and its later compactions',
      isRepeatable: true,
    },
    { flags: '--keep-invalid', description: 'pass over lines that are not JSON' },
    FORMAT_FLAG,
    MAX_UNPACKED_FLAG,
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    ['compact rules session.jsonl', 'lists your standing rules, and where you said each'],
    ["compact rules --drop-rule 'Friday' session.jsonl", 'drops a rule for good'],
  ],
  read: ({ options: { dropRule: drop = [], ...options }, args }): RulesInvocation => ({
    kind: 'rules',
    operands: args,
    format: options.format ?? null,
    drop,
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  run,
});

async function run(context: CliContext, invocation: RulesInvocation): Promise<ExitCode> {
  const request = { ...invocation, command: 'compact rules', needs: ['archive'] as const, endsWithStdout: true };
  return inSession(context, request, async (session) => {
    const { reporter, settings, useCases } = session;
    const { operands, format, drop, outputOptions } = invocation;
    if (drop.length > 0 && operands.includes('-'))
      return session.refuse('--drop-rule needs the name of a file: dropped rules are remembered by it');
    const gathered = await gatherInputs(session, operands, { skipsCompacted: false });
    if (typeof gathered === 'number') return gathered;
    let hasFailed = gathered.failures.length > 0;
    const policy = toPolicy(settings, { targetTokens: null, ifOver: null, conversation: null });
    for (const { path, name, refusesLinks } of gathered.inputs) {
      const listed = await useCases.listRules({ input: { path, name, format, refusesLinks }, policy, drop });
      if (!listed.ok) {
        hasFailed = true;
        reporter.error(renderFailure(listed.error));
        session.explain(listed.error);
        continue;
      }
      for (const text of listed.value.unmatched) {
        hasFailed = true;
        reporter.error(
          `${name}: no rule contains ${JSON.stringify(text)}. 'compact rules' without --drop-rule lists them.`,
        );
      }
      if (outputOptions.json) reporter.answerPiece(reportJson(listed.value));
      else {
        const lines = renderRules(listed.value, reporter.answerTheme);
        reporter.answer(gathered.inputs.length === 1 ? lines : [reporter.answerTheme.strong(name), ...lines]);
      }
    }
    return hasFailed ? EXIT_CODES.failed : EXIT_CODES.done;
  });
}
