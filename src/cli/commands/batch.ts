import { defineActions, inSession, type Session } from '../line/command.ts';
import { namesOf } from '../line/line.ts';
import { cancelAction, collectAction, statusAction } from './batch/run.ts';
import { NEEDS_FILES, SUBMIT_FLAGS, submitAction } from './batch/submit.ts';
import { COMMON_FLAGS, FILES_FROM_FLAG, modelFlags } from '../line/flags.ts';

export const command = defineActions<Session>({
  name: 'batch',
  actions: { submit: submitAction, status: statusAction, collect: collectAction, cancel: cancelAction },
  operands: [{ syntax: '[transcript...]', description: 'for submit: files, folders or globs' }],
  flags: [...SUBMIT_FLAGS, ...modelFlags('anthropic or openai'), ...COMMON_FLAGS],
  examples: [
    ['compact batch submit -n --provider claude --model M logs', 'shows the plan and what it would cost'],
    ['compact batch status', 'lists batches and transcripts'],
  ],
  refuseOperands: (action, operands) => (operands.includes('-') ? NEEDS_FILES : noTranscripts(action)),
  refuse: (action, { operandProblem, foreign: [flag, ...more] }) => {
    if (operandProblem !== null || flag === undefined) return operandProblem;
    if ([flag, ...more].includes(FILES_FROM_FLAG)) return noTranscripts(action);
    return `batch ${action} uses the options of batch submit, so it takes no ${namesOf(flag).at(-1)}`;
  },
  run: (context, { needs = ['selection', 'model', 'archive'], ...asked }, work) =>
    inSession(context, { ...asked, needs }, async (session) => {
      // Chunks are independent, because their answers come together.
      const summarization = { ...session.settings.summarization, fold_in: false };
      return work({ ...session, settings: { ...session.settings, summarization } });
    }),
});

function noTranscripts(action: string): string {
  return `batch ${action} concerns everything that was submitted, so it takes no transcripts`;
}
