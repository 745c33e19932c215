import { bareEnd, quotedEnd, restEnd } from './assignment-extent.ts';
import { isSecretValue, type NameKind, type ValueForm } from './assignment-value.ts';
import type { SecretRule } from './rule.ts';

/** What secrets are called. Names may have more before it (`DB_PASSWORD`), and nothing after it (`token_count`). */
const NAME =
  /(?<name>pass(?:word|wd|phrase|code)|(?<=[_.-])pass|\bpwd|(?<=[_a-z])pwd|secret(?:[_-]?(?:access[_-]?)?key(?:[_-]?base)?)?|token|api[_-]?key|(?:access|auth|account|private|preshared|shared|signing|encryption|master|license|app|functions|host)[_-]?key|\bpsk|(?<=["'])pass(?=\\{0,3}["'])|saml(?:response|assertion)|authorization[_-]?code|code[_-]?verifier|credentials?)/;
/** The quote and the bracket that close a name. */
const NAME_END = /(?:\\{0,3}["'`])?\]?/;
/** `=`, `:=`, `==`, `=>`, `:`, the `>` of a tag, the blank behind a flag. */
const SIGN = /(?:[ \t]{0,8}(?::=|={1,3}>?|:(?![:/]))[ \t]{0,8}|>(?=[^\s<=])|(?<=--[\w-]{1,40})[ \t]{1,4}(?=[^\s-]))/;
const QUOTE = /(?:[brfu]{1,2}(?=\\{0,7}["']))?(?<quote>(?:\\{0,7}(?:"""|'''|["'`]))?)/;
const ASSIGNMENT = new RegExp([NAME, NAME_END, SIGN, QUOTE].map(({ source }) => source).join(''), 'gi');

const NAME_BEFORE = /[A-Za-z0-9_.-]{1,64}$/;
const MAX_NAME_CHARS = 64;

/** `PASSWORD=…`, `"api_key": "…"`, `secret: …`, `--token …`, `<password>…</password>`: what is given to a name that secrets have. */
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

/** In a shell and in a URL a value follows its name at once; in a shell names are in capitals. */
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
