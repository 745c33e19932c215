/** Whether the archive is in a Postgres database, instead of a file. */
export function isArchiveUrl(place: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(place);
}

/** Stands where a URL had a password. */
export const HIDDEN_PASSWORD = '***';

/** The URL without its password, for messages and reports: it says that there was one. */
export function hidePassword(url: string): string {
  return url
    .replace(/^([^:]+:\/\/[^:/?#@]*):.*@/, `$1:${HIDDEN_PASSWORD}@`)
    .replace(/([?&]password=)[^&#]*/gi, `$1${HIDDEN_PASSWORD}`);
}

/**
 * Whether a path matches a glob: `*` and `?` stay within a folder, `**` crosses folders. A glob that is not absolute
 * matches the end of the path, from a slash on. A slash also matches the other one, as Windows has it in paths.
 */
export function matchesGlob(path: string, glob: string): boolean {
  const pieces = glob.split(/(\*\*\/|\*\*|\*|\?)/).map((piece) => WILDCARDS[piece] ?? escapeForRegExp(piece));
  const start = glob.startsWith('/') || /^[a-z]:[/\\]/i.test(glob) ? '' : '(?:.*[/\\\\])?';
  return new RegExp(`^${start}${pieces.join('')}$`, 'su').test(path);
}

/** The folder before the first wildcard of a glob, and '' if there is none. On Windows both slashes part folders. */
export function folderOfGlob(glob: string, isWindows: boolean): string {
  const fixed = glob.slice(0, Math.max(0, glob.search(/[*?[\]{}]/)));
  return fixed.slice(0, Math.max(fixed.lastIndexOf('/'), isWindows ? fixed.lastIndexOf('\\') : -1) + 1);
}

const WILDCARDS: Readonly<Record<string, string>> = {
  '**/': '(?:.*[/\\\\])?',
  '**': '.*',
  '*': '[^/\\\\]*',
  '?': '[^/\\\\]',
};

function escapeForRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`).replaceAll('/', '[/\\\\]');
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;
/** A name's last part, as in Gemini's `session-2026-07-01T10-00-6b6f4218` and Claude Code's `agent-a1b2c3d4`. */
const LAST_PART = /(?:^|[-_])([0-9a-f]{8,})$/i;
const ENDINGS = /(?:\.(?:jsonl|json|eval|gz|zst))+$/i;

/** An agent's folder within its session's, as Kimi Code has it: `SESSION/agents/main/wire.jsonl`. */
const AGENTS = 'agents';

/** The id of a session that its producer put into the name of the file or of its folder; null: there is none. The path is absolute. */
export function sessionIdOf(path: string): string | null {
  const [name = '', folder = '', above = '', session = ''] = path.split(/[/\\]/).toReversed();
  for (const one of [name.replace(ENDINGS, ''), folder, ...(above === AGENTS ? [session] : [])]) {
    const id = UUID.exec(one)?.[0] ?? LAST_PART.exec(one)?.[1];
    if (id !== undefined) return id.toLowerCase();
  }
  return null;
}

/** Whether a file is that of an agent other than the main one, in the folder of their session. */
export function isOtherAgent(path: string): boolean {
  const [, agent, above] = path.split(/[/\\]/).toReversed();
  return above === AGENTS && agent !== 'main';
}

/** So many hexadecimal digits of a session's id name it among files. */
export const ID_DIGITS = 8;
const SESSION_ID = new RegExp(`^[0-9a-f]{${ID_DIGITS}}[0-9a-f-]*$`, 'i');

/** Whether a word can be the beginning of a session's id: at least `ID_DIGITS` digits. */
export function isSessionId(word: string): boolean {
  return SESSION_ID.test(word);
}

/** An id of OpenCode, whose sessions lie in no files, and what ends the ids of a copy of ours. */
export const OPENCODE_ID = /^(ses_[0-9A-Za-z]{8,48}?)(compact[0-9a-f]{8})?$/;

/** Whether the session's id in an absolute path begins with `word`. */
export function hasSessionId(path: string, word: string): boolean {
  return isSessionId(word) && sessionIdOf(path)?.startsWith(word.toLowerCase()) === true;
}

const MOVED_ASIDE = /^\.compact-[0-9a-f]{12}-moved-[^=]*=(.*)\.old$/;

/** The names that a killed run left without a file, in a listing of their folder: the file still stands under a hidden name. */
export function findMovedAside(names: readonly string[]): readonly string[] {
  const hidden = names.flatMap((name) => MOVED_ASIDE.exec(name)?.[1] ?? []);
  if (hidden.length === 0) return hidden;
  const standing = new Set(names);
  return hidden.filter((name) => !standing.has(name));
}
