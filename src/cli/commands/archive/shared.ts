import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { EraseSelector } from '../../../app/archive/select.ts';
import type { Flag, OptionsOf } from '../../line/line.ts';
import { noArchive } from '../../../messages/problems.ts';
import type { Session } from '../../session.ts';

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

export function readSelectors({
  conversation,
  source,
  match,
  message,
}: OptionsOf<typeof SELECTOR_FLAGS>): readonly EraseSelector[] {
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

/** Says if there is no archive yet. */
export function reportMissing({ reporter, settings }: Session, report: { readonly archive: string | null }): void {
  if (report.archive === null) reporter.report([noArchive(settings.archive.path)]);
}
