import { parseKey, type SetProblem, setValue } from '../../../config/set-value.ts';
import { renderConfigProblem, renderUsageProblem } from '../../../messages/problems.ts';
import { safeText } from '../../../messages/text.ts';
import { defineAction } from '../../line/command.ts';
import {
  attempt,
  type Console,
  done,
  findScopeConflict,
  findTarget,
  readText,
  refuse,
  saveText,
  SCOPE_FLAGS,
} from './file.ts';

/** Changes one key in the text and keeps the rest. */
export const setAction = defineAction({
  summary: 'one setting',
  flags: SCOPE_FLAGS,
  takes: [
    { syntax: '<name>', description: 'a key, for example summarization.keep_recent' },
    { syntax: '<value>', description: 'its new value' },
  ],
  refuseOperands: (operands) => (operands.length === 2 ? null : 'config set takes a key and a value'),
  findConflict: findScopeConflict,
  run: async (console: Console, asked) => {
    const [name = '', value = ''] = asked.operands;
    const key = parseKey(name);
    if (!key.ok) return refuse(console, [renderUsageProblem({ message: key.error, command: 'compact config' })]);
    const target = findTarget(console, asked);
    const read = await readText(console, target);
    if (!read.ok) return refuse(console, read.error);
    const changed = setValue(read.value ?? '', { path: target.path, key: key.value, value });
    if (!changed.ok) {
      const problems = changed.error.map((problem) => describeProblem(problem, name));
      return refuse(console, [...problems, `${safeText(target.path)}: nothing was changed.`]);
    }
    const written = attempt(target.path, () => saveText(target, { before: read.value, text: changed.value }));
    if (!written.ok) return refuse(console, [written.error]);
    const isSame = changed.value === read.value;
    const sentence = isSame ? `${name} has this value already` : `${name} is set`;
    return done(console, asked, { result: isSame ? 'unchanged' : 'set', path: target.path, sentence });
  },
});

function describeProblem(problem: SetProblem, name: string): string {
  if (problem.kind !== 'config-layout') return renderConfigProblem(problem);
  const place = `${safeText(problem.path)}${problem.line === null ? '' : `:${problem.line}`}`;
  return `${place}: ${safeText(name)} cannot be set to this value without changing more. Use \`compact config edit\`.`;
}
