import { loadConfig } from '../../../config/load.ts';
import { parseKey } from '../../../config/set-value.ts';
import { reportJson, safeText } from '../../../messages/text.ts';
import { renderConfigProblem, renderUsageProblem } from '../../../messages/problems.ts';
import type { ConfigGetReport } from '../../reports.ts';
import { defineAction, EXIT_CODES } from '../../line/command.ts';
import { listRows } from './show.ts';
import { type Console, refuse } from './file.ts';

/** The bare value, for scripts. */
export const getAction = defineAction({
  summary: 'one setting',
  flags: [],
  takes: [{ syntax: '<name>', description: 'a key, for example summarization.keep_recent' }],
  refuseOperands: (operands) => (operands.length === 1 ? null : 'config get takes one key'),
  run: async (console: Console, asked) => {
    const { reporter, terminal } = console;
    const config = await loadConfig(terminal.host, asked.settings);
    if (!config.ok) return refuse(console, config.error.map(renderConfigProblem));
    const path = parseKey(asked.operands[0] ?? '');
    if (!path.ok) return refuse(console, [renderUsageProblem({ message: path.error, command: 'compact config' })]);
    const [table, key] = path.value;
    const name = path.value.join('.');
    const row = listRows(console, asked, config.value).find((one) => one.table === table && one.key === key);
    if (asked.outputOptions.json) {
      const { value, origin } = row ?? { value: null, origin: { kind: 'default' as const } };
      const report = { schema: 'compact/config-get@1', key: name, value, origin } satisfies ConfigGetReport;
      reporter.answerPiece(reportJson(report));
    } else if (row?.isSecret === true) reporter.report([`${safeText(name)}: set, not shown.`]);
    else if (row === undefined || row.value === null) reporter.report([`${safeText(name)}: not set.`]);
    else reporter.answer([safeText(typeof row.value === 'string' ? row.value : JSON.stringify(row.value))]);
    return row === undefined || row.value === null ? EXIT_CODES.failed : EXIT_CODES.done;
  },
});
