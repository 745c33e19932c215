/**
 * Whether a path matches a glob: `*` and `?` stay within a folder, `**` crosses folders. A glob that is not absolute
 * matches the end of the path, from a slash on.
 */
export function matchesGlob(path: string, glob: string): boolean {
  const pieces = glob.split(/(\*\*\/|\*\*|\*|\?)/).map((piece) => WILDCARDS[piece] ?? escapeForRegExp(piece));
  const start = glob.startsWith('/') || /^[a-z]:[/\\]/i.test(glob) ? '' : '(?:.*[/\\\\])?';
  return new RegExp(`^${start}${pieces.join('')}$`, 'su').test(path);
}

const WILDCARDS: Readonly<Record<string, string>> = {
  '**/': '(?:.*[/\\\\])?',
  '**': '.*',
  '*': '[^/\\\\]*',
  '?': '[^/\\\\]',
};

function escapeForRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
