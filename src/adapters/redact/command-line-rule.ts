import type { SecretRule } from './rule.ts';
import { looksChosen } from './secret-text.ts';

/** Options of one command before the one that holds the secret. Bounded, and within one line and one command. */
const OPTIONS = String.raw`(?:[^\n\r|;&]{0,200}?\s)`;
const OPEN = String.raw`["'\x60]?`;
const VALUE = String.raw`(?<secret>[^\s"'\x60|;&<>$]{3,256})`;

type CommandForm = { readonly keyword: string; readonly pattern: RegExp };

const form = (keyword: string, parts: string): CommandForm => ({ keyword, pattern: new RegExp(parts, 'gi') });

/** Secrets in arguments of well-known commands, where no name says that they are one. */
const FORMS: readonly CommandForm[] = [
  form('curl', String.raw`\bcurl\b${OPTIONS}(?:-u|--user|--proxy-user|-U)[ =]?${OPEN}[^\s:"'\x60$]{1,128}:${VALUE}`),
  form('mysql', String.raw`\b(?:mysql|mysqldump|mysqladmin|mysqlimport)\b${OPTIONS}-p${OPEN}${VALUE}`),
  form('mariadb', String.raw`\bmariadb(?:-\w+)?\b${OPTIONS}-p${OPEN}${VALUE}`),
  form('sshpass', String.raw`\bsshpass\s+-p\s*${OPEN}${VALUE}`),
  form(
    'login',
    String.raw`\b(?:docker|podman|nerdctl|helm|oc|az|buildah|skopeo)\b${OPTIONS}login\b${OPTIONS}-p\s+${OPEN}${VALUE}`,
  ),
  form('login', String.raw`\b(?:cargo|flyctl|heroku|railway)\s+login\s+${OPEN}${VALUE}`),
  form('twine', String.raw`\btwine\b${OPTIONS}-p\s+${OPEN}${VALUE}`),
  form('redis-cli', String.raw`\bredis-cli\b${OPTIONS}(?:-a|--pass)\s+${OPEN}${VALUE}`),
  form('ldap', String.raw`\bldap(?:search|modify|add|delete|passwd|whoami)\b${OPTIONS}-w\s*${OPEN}${VALUE}`),
  form('lftp', String.raw`\blftp\b${OPTIONS}-u\s+${OPEN}[^\s,"']{1,64},${VALUE}`),
  form('smbclient', String.raw`\b(?:smbclient|rpcclient|smbmap)\b${OPTIONS}-U\s*${OPEN}[^\s%"']{1,64}%${VALUE}`),
  form('net use', String.raw`\bnet use\b${OPTIONS}/user:\S{1,64}\s+${OPEN}${VALUE}`),
  form('configure set', String.raw`\bconfigure set\s+\S{0,64}(?:secret|token|password|key)\S{0,64}\s+${OPEN}${VALUE}`),
  form('private-key', String.raw`\b(?:private|preshared)-key\s+${OPEN}(?<secret>[A-Za-z0-9+/]{40,}=)`),
  form('nmcli', String.raw`\bnmcli\b${OPTIONS}password\s+${OPEN}${VALUE}`),
  form('.login=', String.raw`-D[\w.]{1,64}\.login=${OPEN}${VALUE}`),
  form('add-mask', String.raw`::add-mask::${VALUE}`),
  form('htpasswd', String.raw`\bhtpasswd\b${OPTIONS}-\w*b\w*\s+\S{1,128}\s+\S{1,64}\s+${OPEN}${VALUE}`),
  form('openssl', String.raw`\bopenssl\b${OPTIONS}-pass(?:in|out)?\s+${OPEN}pass:${VALUE}`),
  form('wget', String.raw`\bwget\b${OPTIONS}--(?:http-|ftp-)?password=${OPEN}${VALUE}`),
];

export const COMMAND_LINE_RULE: SecretRule = {
  keywords: FORMS.map(({ keyword }) => keyword),
  *find(text, folded) {
    for (const { keyword, pattern } of FORMS) {
      if (!folded.includes(keyword)) continue;
      for (const match of text.matchAll(pattern)) {
        const secret = match.groups?.['secret'] ?? '';
        if (!looksChosen(secret)) continue;
        const end = match.index + match[0].length;
        yield { start: end - secret.length, end, kind: 'command-line-password' };
      }
    }
  },
};
