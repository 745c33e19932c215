import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildExample } from '../../../config/settings.ts';
import { type HostEnvironment, PROJECT_FILE } from '../../../config/find.ts';
import { parseConfig } from '../../../config/parse.ts';
import { renderConfigProblem } from '../../../messages/problems.ts';
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

/** Opens a copy in the editor, and replaces the file only with a valid text. */
export const editAction = defineAction({
  summary: 'open the file in your editor',
  flags: SCOPE_FLAGS,
  findConflict: findScopeConflict,
  run: async (console: Console, asked) => {
    const target = findTarget(console, asked);
    const read = await readText(console, target);
    if (!read.ok) return refuse(console, read.error);
    const before = read.value ?? buildExample();
    const folder = mkdtempSync(join(tmpdir(), 'compact-config-'));
    const copy = join(folder, PROJECT_FILE);
    writeFileSync(copy, before, { mode: 0o600 });
    const problem = openEditor(console.terminal.host, copy);
    const text = existsSync(copy) ? readFileSync(copy, 'utf8') : before;
    const parsed = parseConfig(text, copy);
    const removeCopy = (): void => rmSync(folder, { recursive: true, force: true });
    const unchanged = `${safeText(target.path)}: nothing was changed.`;
    if (text === before) {
      removeCopy();
      if (problem !== null) return refuse(console, [`${unchanged} ${problem}`]);
      return done(console, asked, { result: 'unchanged', path: target.path, sentence: 'nothing was changed' });
    }
    // What the user has typed stays in the copy until it is saved.
    const kept = `${unchanged} Your text is in ${safeText(copy)}.`;
    if (problem !== null) return refuse(console, [problem, kept]);
    if (!parsed.ok) return refuse(console, [...parsed.error.map(renderConfigProblem), kept]);
    const written = attempt(target.path, () => saveText(target, { before: read.value, text }));
    if (!written.ok) return refuse(console, [written.error, kept]);
    removeCopy();
    return done(console, asked, { result: 'edited', path: target.path, sentence: 'saved' });
  },
});

/** Waits for the editor. Null: it ended well; otherwise a sentence. */
function openEditor({ environment, userId }: HostEnvironment, file: string): string | null {
  const isWindows = userId === null;
  const named = [environment['VISUAL'], environment['EDITOR']].find((name) => name !== undefined && name !== '');
  const editor = named ?? (isWindows ? 'notepad' : 'vi');
  // As git does: the variable may hold options, so a shell splits it.
  const ended = isWindows
    ? spawnSync(`${editor} "${file}"`, { shell: true, stdio: 'inherit' })
    : spawnSync('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
  if (ended.status === 0) return null;
  const how = ended.signal ?? `exit code ${ended.status}`;
  return `The editor '${safeText(editor)}' ended with ${how}. Set $VISUAL or $EDITOR to use another one.`;
}
