import { isPlaceholder, type SecretRule } from './rule.ts';

/** The names of secrets. A name may have a prefix (`DB_PASSWORD`), but no suffix (`token_count`). */
const NAME =
  /(?<name>pass(?:word|wd|phrase|code)|(?<=[_.-])pass|\bpwd|(?<=[_a-z])pwd|secret(?:[_-]?(?:access[_-]?)?key(?:[_-]?base)?)?|token|api[_-]?key|(?:access|auth|account|private|preshared|shared|signing|encryption|master|license|app|functions|host)[_-]?key|\bpsk|(?<=["'])pass(?=\\{0,3}["'])|saml(?:response|assertion)|authorization[_-]?code|code[_-]?verifier|credentials?)/;
/** The quote and the bracket that close a name. */
const NAME_END = /(?:\\{0,3}["'`])?\]?/;
/** `=`, `:=`, `==`, `=>`, `:`, the `>` of a tag, the space after a flag. */
const SIGN = /(?:[ \t]{0,8}(?::=|={1,3}>?|:(?![:/]))[ \t]{0,8}|>(?=[^\s<=])|(?<=--[\w-]{1,40})[ \t]{1,4}(?=[^\s-]))/;
const QUOTE = /(?:[brfu]{1,2}(?=\\{0,7}["']))?(?<quote>(?:\\{0,7}(?:"""|'''|["'`]))?)/;
const ASSIGNMENT = new RegExp([NAME, NAME_END, SIGN, QUOTE].map(({ source }) => source).join(''), 'gi');

const NAME_BEFORE = /[A-Za-z0-9_.-]{1,64}$/;
const MAX_NAME_CHARS = 64;

/**
 * Values assigned to the names of secrets: `PASSWORD=…`, `"api_key": "…"`, `secret: …`, `--token …`,
 * `<password>…</password>`.
 */
export const ASSIGNMENT_RULE: SecretRule = {
  keywords: ['pass', 'pwd', 'secret', 'token', 'key', 'credential', 'psk', 'saml', 'code'],
  *find(text) {
    let floor = 0;
    for (const match of text.matchAll(ASSIGNMENT)) {
      if (match.index < floor) continue;
      const { name = '', quote = '' } = match.groups ?? {};
      const start = match.index + match[0].length;
      const isPhrase = /phrase$/i.test(name);
      const form = quote === '' ? bareForm(text, { index: match.index, matched: match[0], name }) : 'quoted';
      const end = form === 'quoted' ? quotedEnd(text, start, { quote, isPhrase }) : bareEnd(text, start, form);
      if (end === null) continue;
      const nameKind: NameKind = /^(?:pass|pwd)/i.test(name) ? 'password' : 'token';
      const value = text.slice(start, end);
      if (!isSecretValue({ text: value, name, nameKind, form })) continue;
      floor = form === 'quoted' ? end : restEnd(text, { start, end });
      yield { start, end: floor, kind: kindOf(name) };
    }
  },
};

/** In a shell and in a URL the value follows the name directly; in a shell the name is in capitals. */
function bareForm(
  text: string,
  { index, matched, name }: { readonly index: number; readonly matched: string; readonly name: string },
): ValueForm {
  if (matched !== `${name}=`) return 'bare';
  const head = text.slice(Math.max(0, index - MAX_NAME_CHARS), index);
  const before = NAME_BEFORE.exec(head)?.[0] ?? '';
  const separator = head.charAt(head.length - before.length - 1);
  if ('?&;'.includes(separator) && separator !== '') return 'parameter';
  const whole = (separator === '\\' ? before.slice(1) : before) + name;
  return whole === whole.toUpperCase() ? 'environment' : 'bare';
}

function kindOf(name: string): string {
  const folded = name.toLowerCase();
  if (/^(?:pass|pwd)/.test(folded)) return 'password';
  if (/secret.?access/.test(folded)) return 'aws-secret-key';
  if (folded === 'token') return 'token';
  return folded.includes('key') ? 'api-key' : 'secret';
}

const SECRET_NAME =
  /(?<name>[\w.-]{0,64}(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_.-]?key|(?:access|auth|private|signing|encryption|master|secret)[_.-]?key|credential)s?)/;

/** One pair holds the name, and the next one the value. */
const FORMS: readonly RegExp[] = [
  // name: DB_PASSWORD ⏎ value: …   {"name":"API_TOKEN","value":"…"}   <add key="ApiToken" value="…"/>
  new RegExp(
    String.raw`\b(?:name|key|variable|id)(?:\\{0,3}["'])?\s{0,4}[:=]\s{0,4}(?:\\{0,3}["'])?${SECRET_NAME.source}(?:\\{0,3}["'])?[\s,]{1,40}(?:\\{0,3}["'])?(?:value|default)(?:\\{0,3}["'])?\s{0,4}[:=]\s{0,4}(?<quote>(?:\\{0,3}["'])?)(?<value>[^\s"'\\<>]{3,1024})`,
    'gi',
  ),
  // <property name="secret.key">…</property>
  new RegExp(String.raw`\b(?:name|key|id)=["']${SECRET_NAME.source}["'][^<>]{0,80}>(?<value>[^\s<>]{3,1024})<`, 'gi'),
  // variable "db_password" { default = "…" }
  new RegExp(
    String.raw`\b(?:variable|output)\s{1,4}"${SECRET_NAME.source}"\s{0,4}\{[^{}]{0,400}?\b(?:default|value)\s{0,20}=\s{0,4}"(?<value>[^\s"]{3,1024})"`,
    'gi',
  ),
  // setPassword("…")
  new RegExp(String.raw`\bset_?${SECRET_NAME.source}\(\s{0,4}(?<quote>["'])(?<value>[^\s"']{6,1024})["']`, 'gi'),
];

/** Secrets whose name and value are in two pairs, elements or arguments. */
export const PAIR_RULE: SecretRule = {
  keywords: ['value', 'default', 'property', '<', 'setpass', 'settoken', 'setsecret', 'setapi'],
  *find(text) {
    for (const pattern of FORMS) {
      for (const match of text.matchAll(pattern)) {
        const { name = '', value = '' } = match.groups ?? {};
        const nameKind = /pass|pwd/i.test(name) ? 'password' : 'token';
        if (!isSecretValue({ text: value, name, nameKind, form: 'quoted' })) continue;
        const start = match.index + match[0].lastIndexOf(value);
        yield { start, end: start + value.length, kind: nameKind === 'password' ? 'password' : 'secret' };
      }
    }
  },
};

/** `password` always names a secret, `token` may name other things. */
type NameKind = 'password' | 'token';

/**
 * environment: `NAME=value` in a shell. parameter: in a URL or a connection string. In both, a bare word is a value and
 * not a variable.
 */
type ValueForm = 'quoted' | 'environment' | 'parameter' | 'bare';

type AssignedValue = {
  readonly text: string;
  readonly name: string;
  readonly nameKind: NameKind;
  readonly form: ValueForm;
};

const WORDS_FOR_NOTHING =
  'null none nil undefined true false yes no on off required optional missing invalid expired empty hidden unset default'.split(
    ' ',
  );
const TYPE_WORDS =
  'str string text byte bytes char number int integer bool boolean object any unknown never void buffer'.split(' ');
const OWN_WORDS = 'password passwd passphrase secret token value key bearer basic credentials self this'.split(' ');
const NO_VALUES: ReadonlySet<string> = new Set([...WORDS_FOR_NOTHING, ...TYPE_WORDS, ...OWN_WORDS]);

const TYPE = /^(?:u?int|float|bigu?int|uint8clamped)\d{1,3}(?:_t|array)?$/i;
const LOCATION = /^(?:https?:|wss?:|file:|\.{1,2}\/|~\/|\/(?:[\w.-]+\/)*[\w.-]+$)/;
/** `process.env.X`, `config.token`, `Foo::bar`. */
const MEMBER =
  /^(?:(?:process\.env|import\.meta\.env|os\.environ|self|this|config|settings|env|secrets|var|data|local)\.[\w$.]+|[A-Za-z_$]+\d?(?:(?:\??\.|::|->)[A-Za-z_$]+\d?)+)$/;
const CODE = /[()[\]{}]|=>/;
const WORD = /^[A-Za-z_$][A-Za-z_$-]*$/;
const DIGITS = /^[\d.,_:-]+$/;
const MIN_CHARS = { password: 3, token: 8 } as const;
const MIN_DIGITS = { password: 4, token: 12 } as const;

/** Whether an assigned value is a secret, and not a placeholder, type, path, variable or call. */
function isSecretValue({ text, name, nameKind, form }: AssignedValue): boolean {
  const folded = text.toLowerCase();
  if (text.length < MIN_CHARS[nameKind] || isPlaceholder(text)) return false;
  if (NO_VALUES.has(folded) || folded === name.toLowerCase() || LOCATION.test(text) || TYPE.test(text)) return false;
  if (DIGITS.test(text)) return text.replace(/\D/g, '').length >= MIN_DIGITS[nameKind];
  const isWord = WORD.test(text);
  if (form === 'quoted') return nameKind === 'password' || !isWord || /[a-z][A-Z]/.test(text);
  if (CODE.test(text) || MEMBER.test(text)) return false;
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
function restEnd(text: string, { start, end }: { readonly start: number; readonly end: number }): number {
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
