import { defaultArchivePath } from '../config/find.ts';
import type { SettingsRequest } from './invocation.ts';
import type { Session } from './session.ts';

/** What a later command has to be told, because this one was told it: by `--archive`, or by a configuration that it was pointed to or told to trust. */
export function archiveToName(
  { settings, terminal }: Pick<Session, 'settings' | 'terminal'>,
  { configFlag, project, flags }: SettingsRequest,
): string | null {
  const { path } = settings.archive;
  const isForOnce = configFlag !== null || project === 'trusted';
  return flags.archive?.path ?? (isForOnce && path !== defaultArchivePath(terminal.surroundings) ? path : null);
}
