import { join } from 'node:path';
import { buildExample } from '../../../config/settings.ts';
import { PROJECT_FILE } from '../../../config/find.ts';
import { defineAction } from '../../line/command.ts';
import { attempt, type Console, createFile, done, findScopeConflict, findTarget, refuse, SCOPE_FLAGS } from './file.ts';

/** Writes a file in which every key is a comment. Never replaces one. */
export const initAction = defineAction({
  summary: 'write a file in which every key is explained',
  flags: SCOPE_FLAGS,
  findConflict: (asked) =>
    findScopeConflict(asked) ??
    (asked.settings.configFlag === null ? null : 'config init takes --user or --local, and no --config'),
  run: (console: Console, asked) => {
    const { host, program } = console.terminal;
    const target =
      asked.options.local === true
        ? ({ path: join(host.workingFolder, PROJECT_FILE), place: 'project' } as const)
        : findTarget(console, { ...asked, options: { user: true } });
    const written = attempt(target.path, () => createFile(target, buildExample()));
    if (!written.ok) return refuse(console, [written.error]);
    const note = `every key is in it as a comment; \`${program()} config edit\` opens it`;
    return done(console, asked, { result: 'created', path: target.path, sentence: note });
  },
});
