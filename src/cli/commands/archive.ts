import { defineActions, inSession, type Session } from '../line/command.ts';
import { type Flag, namesOf } from '../line/line.ts';
import { EXPORT_FLAGS, exportAction, IMPORT_FLAGS, importAction, mergeAction } from './archive/exchange.ts';
import { grantsAction, GROUP_FLAG, listAction, logAction, runsAction, statsAction } from './archive/read.ts';
import { DESPITE_FLAG, eraseAction, holdAction, POLICY_FLAGS, pruneAction, RECEIPTS_FLAG } from './archive/remove.ts';
import { CONFIRM_FLAG, REASON_FLAG, SELECTOR_FLAGS } from './archive/shared.ts';
import { backupAction, checkAction, embedAction, indexAction } from './archive/upkeep.ts';
import { COMMON_FLAGS } from '../line/flags.ts';

const ERASE_FLAGS = [...SELECTOR_FLAGS, REASON_FLAG, CONFIRM_FLAG, DESPITE_FLAG, RECEIPTS_FLAG] as const;

export const command = defineActions<Session>({
  name: 'archive',
  actions: {
    list: listAction,
    runs: runsAction,
    log: logAction,
    stats: statsAction,
    check: checkAction,
    index: indexAction,
    embed: embedAction,
    hold: holdAction,
    erase: eraseAction,
    prune: pruneAction,
    merge: mergeAction,
    export: exportAction,
    import: importAction,
    backup: backupAction,
    grants: grantsAction,
  },
  operands: [
    {
      syntax: '[more...]',
      description: 'what the action works on',
    },
  ],
  flags: [
    ...SELECTOR_FLAGS,
    REASON_FLAG,
    ...POLICY_FLAGS,
    CONFIRM_FLAG,
    DESPITE_FLAG,
    ...EXPORT_FLAGS,
    ...IMPORT_FLAGS,
    RECEIPTS_FLAG,
    GROUP_FLAG,
    ...COMMON_FLAGS,
  ],
  examples: [
    ['compact archive list', 'lists the compactions, newest last'],
    ['compact archive check', 'looks for damage'],
    ['compact archive merge laptop.db', 'adds everything of another archive'],
    ['compact archive prune --older-than 180d', 'lists what would be removed; --yes removes it'],
    ["compact archive erase --match 'jane@example.org'", 'lists what would be removed; --yes removes it'],
  ],
  refuseOperands: (name, [operand]) => `archive ${name} takes no '${operand}'`,
  refuse: (name, { operandProblem, foreign, takes }) => {
    const refuseOneOf = (...groups: readonly (readonly Flag[])[]): string | null => {
      const group = groups.find((flags) => flags.some((flag) => foreign.includes(flag))) ?? [];
      const names = group.filter((flag) => !takes(flag)).flatMap(namesOf);
      return names.length === 0 ? null : `archive ${name} takes no ${names.join(', ').replace(/, ([^,]*)$/, ' or $1')}`;
    };
    return (
      refuseOneOf(EXPORT_FLAGS, IMPORT_FLAGS) ?? operandProblem ?? refuseOneOf(POLICY_FLAGS, ERASE_FLAGS, [GROUP_FLAG])
    );
  },
  run: (context, { needs = ['archive'], ...asked }, work) =>
    inSession(context, { ...asked, needs, endsWithStdout: true }, work),
});
