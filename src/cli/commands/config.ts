import { createReporter } from '../terminal/reporter.ts';
import { defineActions } from '../line/command.ts';
import { type Console, editAction, initAction, SCOPE_FLAGS, setAction } from './config/file.ts';
import { getAction, pathAction, showAction } from './config/show.ts';
import { TRUST_FLAGS, trustAction } from './config/trust.ts';
import { COMMON_FLAGS } from '../line/flags.ts';

export const command = defineActions<Console>({
  name: 'config',
  actions: {
    show: showAction,
    path: pathAction,
    init: initAction,
    get: getAction,
    set: setAction,
    edit: editAction,
    trust: trustAction,
  },
  operands: [
    {
      syntax: '[name]',
      description: 'a key for get and set; a compact.toml, or its folder, for trust',
    },
    { syntax: '[value]', description: 'the new value, for set' },
  ],
  flags: [...SCOPE_FLAGS, ...TRUST_FLAGS, ...COMMON_FLAGS],
  examples: [
    ['compact config show', 'prints each setting and where it comes from'],
    ['compact config set summarization.keep_recent 20', 'changes one line of the file'],
    ['compact config trust', "trusts the project's compact.toml as it is now"],
  ],
  refuseOperands: noFile,
  refuse: (action, { operandProblem, foreign }) => {
    if (operandProblem !== null || foreign.length === 0) return operandProblem;
    const isTrust = TRUST_FLAGS.some((flag) => foreign.includes(flag));
    return isTrust ? noFile(action) : `config ${action} takes no --user and no --local`;
  },
  run: async (context, { outputOptions }, work) => {
    const { terminal } = context;
    return work({ context, terminal, reporter: await createReporter(terminal, outputOptions) });
  },
});

function noFile(action: string): string {
  return `config ${action} takes no file, no --list and no --revoke`;
}
