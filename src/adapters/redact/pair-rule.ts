import { isSecretValue } from './assignment-rule.ts';
import { looksGenerated } from './judge.ts';
import type { SecretRule } from './rule.ts';

const SECRET_NAME =
  /(?<name>[\w.-]{0,64}(?:pass(?:word|wd|phrase)?|pwd|secret|token|session(?:[_.-]?id)?|\bsid|jwt|auth|api[_.-]?key|(?:access|auth|private|signing|encryption|master|secret)[_.-]?key|credential)s?)/;

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
        const isPassword = /pass|pwd/i.test(name);
        const isSecret = /sess|sid|cookie|jwt|auth$/i.test(name)
          ? looksGenerated(value)
          : isSecretValue({ text: value, name: isPassword ? 'password' : name, form: 'quoted' });
        if (!isSecret) continue;
        const start = match.index + match[0].lastIndexOf(value);
        yield { start, end: start + value.length, kind: isPassword ? 'password' : 'secret' };
      }
    }
  },
};
