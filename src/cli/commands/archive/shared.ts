import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { EraseSelector } from '../../../app/archive/select.ts';
import type { Failure } from '../../../app/contract/failure.ts';
import type { Result } from '../../../core/result.ts';
import type { Flag, OptionsOf } from '../../line/line.ts';
import { noArchive } from '../../../messages/problems.ts';
import type { Rendering } from '../../render/theme.ts';
import type { Session } from '../../session.ts';
import { EXIT_CODES, type ExitCode } from '../../terminal/exit-codes.ts';

// What several actions share.

export const SELECTOR_FLAGS = [
  { flags: '--conversation <id>', description: 'this conversation' },
  {
    flags: '--source <glob>',
    description: 'transcripts whose path matches, in full or from a folder name on',
  },
  { flags: '--match <text>', description: 'every line that contains this text' },
  { flags: '--message <id>', description: 'every line of this message' },
] as const satisfies readonly Flag[];

export const REASON_FLAG = {
  flags: '--reason <text>',
  description: 'a note to store with the hold or the receipt',
} as const satisfies Flag;

export const CONFIRM_FLAG = {
  flags: '--yes',
  description: 'remove it; without --yes, only list what would be removed',
} as const satisfies Flag;

export function readSelectors(options: OptionsOf<typeof SELECTOR_FLAGS>): readonly EraseSelector[] {
  const { conversation, source, match, message } = options;
  return [
    ...(conversation === undefined ? [] : [{ kind: 'conversation', id: conversation } as const]),
    ...(source === undefined ? [] : [{ kind: 'source', glob: absoluteGlob(source) } as const]),
    ...(match === undefined ? [] : [{ kind: 'match', text: match } as const]),
    ...(message === undefined ? [] : [{ kind: 'message', id: message } as const]),
  ];
}

/** A glob that begins with a folder of the shell is meant from there; any other matches the end of a path. */
export function absoluteGlob(glob: string): string {
  if (glob === '~' || glob.startsWith('~/')) return join(homedir(), glob.slice(1));
  return /^\.{1,2}(?:\/|$)/.test(glob) ? resolve(glob) : glob;
}

type Found = { readonly archive: string | null };

/** Answers with what was found, or says that there is no archive yet. */
export function answerFound<R extends Found>(
  session: Session,
  found: Result<R, Failure>,
  render: (report: R, rendering: Rendering) => readonly string[],
): ExitCode {
  if (!found.ok) return session.fail(found.error);
  const { answerTheme: theme, answerWidthColumns: widthColumns } = session.reporter;
  session.answer(found.value, () => (found.value.archive === null ? [] : render(found.value, { theme, widthColumns })));
  reportMissing(session, found.value);
  return EXIT_CODES.done;
}

export function reportMissing({ reporter, settings }: Session, report: Found): void {
  if (report.archive === null) reporter.report([noArchive(settings.archive.path)]);
}
