import type { FileTrust, LoadedConfig } from '../../config/load.ts';
import { assertNever } from '../../core/result.ts';
import { safeText } from './safe-text.ts';
import { shellWord } from './shell-word.ts';

type Missed = {
  /** How the user calls this program. */
  readonly program: () => string;
  /** Dotted. */
  readonly keys: readonly string[];
  /** False: the run continues without them. */
  readonly isNeeded: boolean;
};

/** One line about the settings that an untrusted file may not set, with the command that trusts it; none if nothing is missed. */
export function renderMissed(
  { file }: Pick<LoadedConfig, 'file'>,
  { program, keys, isNeeded }: Missed,
): readonly string[] {
  if (file === null || keys.length === 0) return [];
  const line = keys.map((key) => file.lines.lineOf(key.split('.'))).find((one) => one !== null);
  const place = `${safeText(file.path)}${line === undefined ? '' : `:${line}`}`;
  const what = `${describeTrust(file.trust)}, so it may not set ${listKeys(keys)}`;
  const consequence = isNeeded ? ', which this run depends on' : '; this run goes on without that';
  return [`${place}: ${what}${consequence}. Read it, then run \`${program()} config trust\`, or give --trust-config.`];
}

/** Why settings of the file were refused, for `config show`. */
export function renderRefusal({ file }: Pick<LoadedConfig, 'file'>, program: string): readonly string[] {
  if (file === null) return [];
  const what = `${describeTrust(file.trust)}, so some of it is refused`;
  return [`${safeText(file.path)}: ${what}. Read it, then run \`${program} config trust\`.`];
}

/** Completes "FILE: …". */
function describeTrust(trust: FileTrust): string {
  switch (trust.kind) {
    case 'given':
      return 'trusted';
    case 'recorded':
      return 'trusted as it stands';
    case 'changed':
      return 'it has changed since you trusted it';
    case 'foreign':
      return safeText(trust.reason);
    case 'unknown':
      return trust.reason === null ? 'not trusted' : `not trusted (${safeText(trust.reason)})`;
    default:
      return assertNever(trust);
  }
}

/** One line about a repository's file that was not read. */
export function renderPassedOver({ passedOver }: Pick<LoadedConfig, 'passedOver'>): readonly string[] {
  if (passedOver === null) return [];
  const { path, reason } = passedOver;
  return [`${safeText(path)}: not read, because ${reason}. Give --config ${shellWord(path)} to use it.`];
}

const MOST_LISTED = 4;

function listKeys(keys: readonly string[]): string {
  const shown = keys.slice(0, keys.length > MOST_LISTED ? MOST_LISTED - 1 : MOST_LISTED).map(safeText);
  const more = keys.length - shown.length;
  const names = more > 0 ? [...shown, `${more} more`] : shown;
  const last = names.pop() ?? '';
  return names.length === 0 ? last : `${names.join(', ')} and ${last}`;
}
