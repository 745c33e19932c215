/** A URL as it may be shown: without a name and a password before the host. Any text will do. */
export function hideCredentials(url: string): string {
  const start = /^(?:https?:[/\\]*|[a-z][a-z\d+.-]*:\/\/)/i.exec(url)?.[0].length ?? 0;
  const authority = /^[^/\\?#]*/.exec(url.slice(start))?.[0] ?? '';
  const at = authority.lastIndexOf('@');
  return at === -1 ? url : `${url.slice(0, start)}…${url.slice(start + at)}`;
}
