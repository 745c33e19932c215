import { defaultArchivePath } from '../config/find.ts';
import type { SettingsRequest } from './invocation.ts';
import type { Session } from './session.ts';

/** What a later command has to be told, because this one was told it: by `--archive`, or by a configuration that it was pointed to. */
export function archiveToName(
  { settings, terminal }: Pick<Session, 'settings' | 'terminal'>,
  asked: SettingsRequest,
): string | null {
  const { path } = settings.archive;
  const isHidden = asked.configFlag !== null && path !== defaultArchivePath(terminal.surroundings);
  return asked.flags.archive?.path ?? (isHidden ? path : null);
}
