import type { SecretRule } from './rule.ts';

/** `//user:password@host`, the slashes escaped or not. Both parts are bounded, so that it never goes far back. */
const USER_INFO =
  /:(?:\\{0,7}\/){2}(?<user>[^\s/:@"'`<>\\]{0,128}):(?<password>[^\s/@"'`<>\\]{1,256})@(?=[A-Za-z0-9[_$%{])/g;
const REFERENCE = /^(?:\$|\{|%\w+%$|\*+$|x+$|\.+$|\[redacted:|redacted$|password$)/i;

/** Passwords in URLs: `postgres://app:…@db.example`. */
export const URL_PASSWORD_RULE: SecretRule = {
  keywords: [':/', ':\\'],
  *find(text) {
    for (const match of text.matchAll(USER_INFO)) {
      const password = match.groups?.['password'] ?? '';
      if (REFERENCE.test(password)) continue;
      const end = match.index + match[0].length - 1;
      yield { start: end - password.length, end, kind: 'url-password' };
    }
  },
};
