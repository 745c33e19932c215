import { isPlaceholder, looksGenerated, type SecretRule } from './rule.ts';

/** A header of any spelling and quoting with its scheme, or a scheme alone. */
const CREDENTIALS =
  /(?<header>authorization(?:\\{0,3}["'])?\s{0,4}(?::|=>?|,)\s{0,4}(?:\\{0,3}["'`])?)?\b(?<scheme>bearer|basic|token|apikey|digest)[ \t]{1,4}(?<value>[A-Za-z0-9._~+/=:-]{6,})/gi;
const MIN_BARE_CHARS = 12;
/** `Basic authentication`, `Bearer token`: ordinary words. */
const WORD = /^[A-Za-z][a-z]*[.,:]?$/;

/** The credentials after `Authorization: Bearer` or `Basic`, and after a lone `Bearer` if they look like a token. */
export const AUTHORIZATION_RULE: SecretRule = {
  keywords: ['authorization', 'bearer'],
  *find(text) {
    for (const match of text.matchAll(CREDENTIALS)) {
      const { header, scheme = '', value = '' } = match.groups ?? {};
      const isBare = header === undefined;
      if (isBare && (scheme.toLowerCase() !== 'bearer' || value.length < MIN_BARE_CHARS || !/\d/.test(value))) continue;
      if (WORD.test(value) || isPlaceholder(value)) continue;
      const end = match.index + match[0].length;
      yield { start: end - value.length, end, kind: 'authorization' };
    }
  },
};

/** A cookie header, curl's `-b`, or a cookie in JSON, up to the end of the line or quotation. */
const COOKIES =
  /(?:\b(?:set-)?cookie(?:\\{0,3}["'])?\s{0,4}[:=]\s{0,4}|\bcurl\b[^\n\r|;&]{0,200}?\s(?:-b|--cookie)[ =])(?:\\{0,3}["'])?(?<pairs>[^\n\r"'\\]{3,8192})/gi;
const PAIR = /(?:^|;\s{0,4})(?<name>[\w.-]{1,64})=(?<value>[^;\s,]{6,4096})/g;
const SESSION_NAME = /sess|sid|auth|token|jwt|csrf|xsrf|remember|login|identity|user/i;
const MIN_SESSION_CHARS = 12;

/** Cookie values that identify a session. */
export const COOKIE_RULE: SecretRule = {
  keywords: ['cookie', 'curl'],
  *find(text) {
    for (const match of text.matchAll(COOKIES)) {
      const pairs = match.groups?.['pairs'] ?? '';
      const offset = match.index + match[0].length - pairs.length;
      for (const pair of pairs.matchAll(PAIR)) {
        const { name = '', value = '' } = pair.groups ?? {};
        if (!looksGenerated(value, SESSION_NAME.test(name) ? MIN_SESSION_CHARS : undefined)) continue;
        const end = offset + pair.index + pair[0].length;
        yield { start: end - value.length, end, kind: 'cookie' };
      }
    }
  },
};

/** Parameters that hold secrets in URLs and form bodies, but whose names are too common elsewhere. */
const PARAMETER =
  /[?&](?:key|sig|signature|code|auth|sas|hmac|ticket|otp|nonce_token|sid|session(?:_?id)?|jwt|samlresponse|assertion|x-amz-signature|x-amz-credential|x-amz-security-token|x-goog-signature)=(?<value>[\w.~+/%=-]{16,8192})/gi;

export const URL_PARAMETER_RULE: SecretRule = {
  keywords: ['?', '&'],
  *find(text) {
    for (const match of text.matchAll(PARAMETER)) {
      const value = match.groups?.['value'] ?? '';
      if (!looksGenerated(value)) continue;
      const end = match.index + match[0].length;
      yield { start: end - value.length, end, kind: 'url-parameter' };
    }
  },
};

/** `//user:password@host`, with escaped slashes or not. Both parts are bounded, which limits backtracking. */
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
