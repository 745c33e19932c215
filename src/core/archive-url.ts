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
