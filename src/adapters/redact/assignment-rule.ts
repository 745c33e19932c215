import { isNoValue, isTypeName, isPlaceholder, isPlainWord, looksChosen, looksGenerated } from './judge.ts';
import { keywordsOf, type SecretRule } from './rule.ts';

/** Names that only secrets have. A name may have a prefix (`DB_PASSWORD`), but no other suffix (`token_count`). */
const STRONG =
  /(?<name>(?:pass(?:word|wd|phrase|code)|passwort|kennwort|wachtwoord|contrasena|(?<=[_.-])pass|\bpwd|(?<=[_a-z])pwd|secret(?:[_-]?(?:access[_-]?)?key(?:[_-]?base)?)?|token|api[_-]?key|(?:access|auth|account|private|preshared|shared|signing|encryption|master|license|app|application|functions|host|fernet|jwt|hmac|webhook|storage)[_-]?key|\bpsk|(?<=["'])pass(?=\\{0,3}["'])|saml(?:response|assertion)|authorization[_-]?code|code[_-]?verifier|credentials?)(?:[_-]?(?:prod(?:uction)?|dev|test|staging|live|plain(?:text)?|b64|base64|raw|old|new|primary|secondary|backup|\d{1,2}))?)/;
/** Names that other things have too; what they hold must look like a secret. */
const WEAK =
  /(?<weak>(?<=[a-z0-9][_-])(?:key|pat|auth|jwt|sas|salt|pepper|seed|bearer|webhook|cert|dsn)|(?<![a-z])(?:pass|pw|jwt|pat)|(?<=[a-z_-])pw|(?:client|data|key)[_-]data)/;
/** The quote, the bracket and the stars that close a name. */
const NAME_END = /(?:\\{0,3}["'`])?\]?\*{0,2}/;
/** `=`, `:=`, `==`, `=>`, `:`, the `>` of a tag, the space after a flag, a type and then `=`. */
const SIGN =
  /(?:[ \t]{0,8}(?:\??:[ \t]{0,4}[&'\w.<>|?[\] ]{1,40}=[ \t]{0,4}(?=\\{0,3}["'`])|\{[^{}\n]{1,40}\}[ \t]{0,4}=[ \t]{0,4}(?=")|(?:string|\[\]byte)[ \t]{0,4}=[ \t]{0,4}(?=["`])|:=|={1,3}>?|:(?![:/]))\*{0,2}[ \t]{0,8}|>(?=\s*[^\s<=])|(?<=\s--?[\w-]{1,40})[ \t]{1,4}(?=[^\s-]))/;
/** The value may stand in the next line: after a block sign of YAML, an opening bracket, a backslash. */
const NEXT_LINE = /(?<next>(?:[>|][+-]?|\\|\()?[ \t]{0,4}\r?\n[ \t]{0,40}(?=[^\s#-]))?/;
const QUOTE = /(?:[brfu]{1,2}(?=\\{0,7}["']))?(?<quote>(?:\\{0,7}(?:"""|'''|["'`]))?)/;
const sourceOf = (...parts: readonly RegExp[]): string => parts.map(({ source }) => source).join('');
const ASSIGNMENT = new RegExp(`(?:${STRONG.source}|${WEAK.source})${sourceOf(NAME_END, SIGN, NEXT_LINE, QUOTE)}`, 'gi');

const NAME_BEFORE = /[A-Za-z0-9_.-]{1,64}$/;
const MAX_NAME_CHARS = 64;
/** Keys of caches, tables, pages and texts. */
const NO_KEY =
  /(?:cache|primary|foreign|sort|partition|public|publishable|idempotency|row|group|object|hash|lookup|query|dedup|page|translation|i18n|fingerprint|sub|ssh)[_-]?key$/i;

/** Values assigned to the names of secrets: `PASSWORD=…`, `"api_key": "…"`, `secret: …`, `--token …`, `<password>…</password>`. */
export const ASSIGNMENT_RULE: SecretRule = {
  keywords: keywordsOf(
    'pass pw secret token key credential psk saml code kennwort wacht contrase _pat _auth jwt sas salt pepper seed webhook sess sid data dsn cert bearer',
  ),
  *find(text) {
    let floor = 0;
    for (const match of text.matchAll(ASSIGNMENT)) {
      if (match.index < floor) continue;
      const { name = '', weak = '', quote = '', next } = match.groups ?? {};
      const start = match.index + match[0].length;
      const before = { index: match.index, matched: match[0], name: name + weak };
      const form = quote !== '' ? 'quoted' : next !== undefined ? 'next-line' : bareForm(text, before);
      const end =
        form === 'quoted'
          ? quotedEnd(text, start, { quote, isPhrase: /phrase$/i.test(name) })
          : bareEnd(text, start, form);
      if (end === null) continue;
      const value = text.slice(start, end);
      const isSecret = weak === '' ? isSecretValue(value, name, form) : isKeyOfWeakName(text, match, value);
      const isPassword = nameKindOf(name) === 'password' || /^pw$/i.test(weak) || isPassOfUser(text, match.index, weak);
      if (!isSecret && !(form === 'bare' && isPassword && isLabeledWord(text, { ...before, end, value }))) continue;
      floor = form === 'quoted' ? end : restEnd(text, start, end);
      yield { start, end: floor, kind: kindOf(name) };
    }
  },
};

function isKeyOfWeakName(text: string, { index, groups }: RegExpExecArray, value: string): boolean {
  const weak = groups?.['weak'] ?? '';
  if (/^(?:pass|pw)$/i.test(weak))
    return (looksChosen(value) || looksGenerated(value)) && !/[()[\]{}/]|=>/.test(value) && !MEMBER.test(value);
  const whole = (NAME_BEFORE.exec(text.slice(Math.max(0, index - MAX_NAME_CHARS), index))?.[0] ?? '') + weak;
  return looksGenerated(value) && !CODE.test(value) && !NO_KEY.test(whole);
}

/** `user: jo`, and in the next line `pass: …`. */
function isPassOfUser(text: string, index: number, weak: string): boolean {
  return (
    /^pass$/i.test(weak) &&
    /(?:user|login|account|e?mail)\w*\s*[:=][^\n]{1,60}\n\s*$/i.test(text.slice(Math.max(0, index - 100), index))
  );
}

type Before = { readonly index: number; readonly matched: string; readonly name: string };

/** A line such as `Password: sunshine`: a label, an ordinary word, and nothing else. */
function isLabeledWord(
  text: string,
  { index, matched, name, end, value }: Before & { readonly end: number; readonly value: string },
): boolean {
  if (!isPlainWord(value) || value.toLowerCase() === name.toLowerCase() || !/^[^\n=]{0,80}[:=]\s?$/.test(matched))
    return false;
  const lineStart = text.lastIndexOf('\n', index - 1) + 1;
  if (index - lineStart > MAX_NAME_CHARS || !/^[\s>*-]{0,16}[\w.-]{0,48}$/.test(text.slice(lineStart, index)))
    return false;
  return /^[ \t]*(?:\r?\n[ \t]*(?:[\w."' -]{1,40}[:=]|\r?\n|$)|$)/.test(text.slice(end, end + 80));
}

/** In a shell and in a URL the value follows the name directly; in a shell the name is in capitals. */
function bareForm(text: string, { index, matched, name }: Before): ValueForm {
  if (matched !== `${name}=`) return 'bare';
  const head = text.slice(Math.max(0, index - MAX_NAME_CHARS), index);
  if (/(?:host|user|dbname|server|uid|login)=[^\s=]{1,40}[ ;]$/i.test(head)) return 'parameter';
  const before = NAME_BEFORE.exec(head)?.[0] ?? '';
  const separator = head.charAt(head.length - before.length - 1);
  if ('?&;'.includes(separator) && separator !== '') return 'parameter';
  const whole = (separator === '\\' ? before.slice(1) : before) + name;
  return whole === whole.toUpperCase() ? 'environment' : 'bare';
}

function kindOf(name: string): string {
  const folded = name.toLowerCase();
  if (nameKindOf(name) === 'password') return 'password';
  if (/secret.?access/.test(folded)) return 'aws-secret-key';
  if (folded === 'token') return 'token';
  return folded.includes('key') ? 'api-key' : 'secret';
}

/**
 * environment: `NAME=value` in a shell. parameter: in a URL or a connection string. In both, a bare word is a value and
 * not a variable.
 */
type ValueForm = 'quoted' | 'environment' | 'parameter' | 'bare' | 'next-line';

/** `password` always names a secret, `token` may name other things. */
const nameKindOf = (name: string): 'password' | 'token' =>
  /^(?:pass|pwd|kennwort|wacht|contras)/i.test(name) ? 'password' : 'token';

const TYPE = /^(?:u?int|float|bigu?int|uint8clamped)\d{1,3}(?:_t|array)?$/i;
const LOCATION = /^(?:urn:|https?:|wss?:|file:|\.{1,2}\/|~\/|\/(?:[\w.-]+\/)*[\w.-]+$)/;
/** `process.env.X`, `config.token`, `Foo::bar`. */
const MEMBER =
  /^(?:(?:process\.env|import\.meta\.env|os\.environ|self|this|config|settings|env|secrets|var|data|local)\.[\w$.]+|[A-Za-z_$]+\d?(?:(?:\??\.|::|->)[A-Za-z_$]+\d?)+)$/;
const CODE = /[()[\]{}]|=>/;
const WORD = /^!?[A-Za-z_$][A-Za-z_$-]*$/;
const DIGITS = /^[\d.,_:-]+$/;
const MIN_CHARS = { password: 3, token: 8 } as const;
const MIN_DIGITS = { password: 4, token: 12 } as const;

/** Whether an assigned value is a secret, and not a placeholder, type, path, variable or call. */
export function isSecretValue(text: string, name: string, form: ValueForm): boolean {
  const nameKind = nameKindOf(name);
  if (text.length < MIN_CHARS[nameKind] || isPlaceholder(text)) return false;
  if (isNoValue(text) || text.toLowerCase() === name.toLowerCase() || LOCATION.test(text) || TYPE.test(text))
    return false;
  if (isTypeName(text)) return false;
  if (DIGITS.test(text)) return text.replace(/\D/g, '').length >= MIN_DIGITS[nameKind];
  const isWord = WORD.test(text);
  if (form === 'quoted') return nameKind === 'password' || !isWord || /[a-z][A-Z]/.test(text);
  if (CODE.test(text) || MEMBER.test(text)) return false;
  if (form === 'next-line')
    return !/[:=]/.test(text) && (nameKind === 'password' ? looksChosen(text) : looksGenerated(text));
  return form !== 'bare' || !isWord;
}

const BARE = /[^\s"'`\\,;<>|&]{1,256}/y;
/** The value of an environment variable ends only at white space. */
const ENVIRONMENT = /[^\s"'`\\&<>]{1,256}/y;
const REST = /[^\s"'`\\,;<>|&]*/y;
/**
 * Enough to judge a value. A longer one is read on only if it is a secret; otherwise many overlapping ones would take
 * quadratic time.
 */
const MAX_JUDGED_CHARS = 256;
const UNBALANCED_END = /[)\]}.,;]+$/;
/** Longer ones are certificates, pages or images. */
const MAX_QUOTED_CHARS = 8192;

/** The end of an unquoted value, without a closing bracket or the punctuation of a sentence. */
function bareEnd(text: string, start: number, form: ValueForm): number {
  const pattern = form === 'environment' ? ENVIRONMENT : BARE;
  pattern.lastIndex = start;
  const value = pattern.exec(text)?.[0] ?? '';
  return start + (/[([{]/.test(value) ? value : value.replace(UNBALANCED_END, '')).length;
}

/** The end of an unquoted value that is longer than what `bareEnd` read. */
function restEnd(text: string, start: number, end: number): number {
  if (end - start < MAX_JUDGED_CHARS) return end;
  REST.lastIndex = end;
  return end + (REST.exec(text)?.[0].length ?? 0);
}

/**
 * The end of a value after its opening `quote` (with the backslashes before it); null if the value does not end, or
 * contains spaces and is not a passphrase.
 */
function quotedEnd(
  text: string,
  start: number,
  { quote, isPhrase }: { readonly quote: string; readonly isPhrase: boolean },
): number | null {
  const mark = quote.replace(/^\\+/, '');
  const depth = quote.length - mark.length;
  const limit = Math.min(text.length, start + MAX_QUOTED_CHARS);
  for (let at = start; at < limit; at += 1) {
    const runStart = at;
    while (text.charAt(at) === '\\') at += 1;
    const slashes = at - runStart;
    if (text.startsWith(mark, at) && slashes <= depth) return runStart;
    const isLineEnd = slashes > 0 ? 'nr'.includes(text.charAt(at)) && at < text.length : /[\n\r]/.test(text.charAt(at));
    if (isLineEnd && mark.length === 1) return isPhrase ? null : cutAt(text, start, runStart);
    if (!isPhrase && /\s/.test(text.charAt(at))) return null;
  }
  return limit === text.length ? cutAt(text, start, limit) : null;
}

/** The end of a value whose closing quote was cut off. */
function cutAt(text: string, start: number, end: number): number | null {
  return /\s/.test(text.slice(start, end)) ? null : end;
}
