import { looksChosen, looksGenerated, type SecretRule } from './rule.ts';

const QUOTE = String.raw`\\{0,3}["'\x60]`;
const WORD_VALUE = String.raw`(?<value>[^\s"'\x60<>|;&\\]{6,512})`;
const QUOTED_VALUE = String.raw`${QUOTE}(?<value>[^\s"'\x60\\]{6,512})${QUOTE}`;

/** A password may be short and contain words; a key is long and irregular. */
type ValueKind = 'password' | 'key';
type Form = { readonly kind: ValueKind; readonly keywords: readonly string[]; readonly pattern: RegExp };

/** `keywords` as in a rule, separated by spaces. */
const form = (kind: ValueKind, keywords: string, parts: string): Form => ({
  kind,
  keywords: keywords.split(' '),
  pattern: new RegExp(parts, 'gim'),
});

/**
 * Values that no sign assigns to a name: a space or a comma separates them, or only the position identifies the value.
 */
const FORMS: readonly Form[] = [
  // AuthPass …   requirepass …   -storepass …
  form(
    'password',
    'pass',
    String.raw`(?:auth|require|store|key|smtp|db|user|root|admin|become|master)_?pass(?:word|wd)?[ \t]{1,4}(?:${QUOTE})?${WORD_VALUE}`,
  ),
  // ENV NPM_AUTH_TOKEN …   setx SERVICE_TOKEN "…"   X-Api-Token "…"
  form(
    'key',
    'token secret key',
    String.raw`(?<=[a-z][_-]?)(?:token|secret|api[_-]?key)[ \t]{1,4}(?:${QUOTE})?${WORD_VALUE}`,
  ),
  form('key', '_key', String.raw`\w_key[ \t]{1,4}--body[ =](?:${QUOTE})?${WORD_VALUE}`),
  // define('DB_PASSWORD', '…')   set_var("API_KEY", "…")
  form(
    'password',
    'pass pwd secret token _key -key',
    String.raw`(?:pass(?:word|wd|phrase)?|pwd|secret|token|_key|-key)${QUOTE}\s{0,4},\s{0,4}${QUOTED_VALUE}`,
  ),
  form('key', 'createhmac', String.raw`\bcreateHmac\(\s{0,4}["'][\w-]{1,32}["'],\s{0,4}${QUOTED_VALUE}`),
  form('key', 'jwt.', String.raw`\bjwt\.(?:sign|verify|encode|decode)\([^()\n]{1,200},\s{0,4}${QUOTED_VALUE}`),
  form('password', '.login(', String.raw`\.login\(\s{0,4}["'][^"'\n]{1,128}["'],\s{0,4}${QUOTED_VALUE}`),
  form(
    'password',
    'mysqli',
    String.raw`\bmysqli(?:_connect)?\((?:\s{0,4}["'][^"'\n]{0,128}["'],){2}\s{0,4}${QUOTED_VALUE}`,
  ),
  form(
    'password',
    'convertto-securestring',
    String.raw`\bConvertTo-SecureString[ \t]{1,4}(?:-String[ \t]{1,4})?${QUOTED_VALUE}`,
  ),
  form(
    'password',
    'identified',
    String.raw`\bidentified[ \t]{1,4}(?:with[ \t]{1,4}\S{1,64}[ \t]{1,4})?by[ \t]{1,4}${QUOTED_VALUE}`,
  ),
  form('password', 'jdbc:oracle', String.raw`\bjdbc:oracle:\w{1,8}:[\w$]{1,64}/(?<value>[^\s"'@/]{3,128})@`),
  form(
    'password',
    'auth http',
    String.raw`\b(?:stats[ \t]{1,4}auth|https?[ \t]{1,4}-a)[ \t]{1,4}[\w.@-]{1,64}:${WORD_VALUE}`,
  ),
  form(
    'password',
    'zip',
    String.raw`\b(?:unzip|zip)\b[^\n\r|;&]{0,100}?[ \t]-P[ \t]{0,4}(?:${QUOTE})?(?!\S{1,128}\.\w{2,4}\b)${WORD_VALUE}`,
  ),
  form('password', '7z', String.raw`\b7z[ar]?\b[^\n\r|;&]{0,100}?[ \t]-p(?:${QUOTE})?${WORD_VALUE}`),
  form(
    'password',
    'ssh-keygen',
    String.raw`\bssh-keygen\b[^\n\r|;&]{0,100}?[ \t]-[NP][ \t]{1,4}(?:${QUOTE})?${WORD_VALUE}`,
  ),
  form(
    'password',
    'rabbitmqctl',
    String.raw`\brabbitmqctl[ \t]{1,4}(?:change_password|add_user)[ \t]{1,4}\S{1,64}[ \t]{1,4}(?:${QUOTE})?${WORD_VALUE}`,
  ),
  form(
    'password',
    'chpasswd',
    String.raw`\becho[ \t]{1,4}(?:${QUOTE})?[\w.-]{1,64}:${WORD_VALUE}(?:${QUOTE})?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4})?chpasswd`,
  ),
  form(
    'password',
    'sudo',
    String.raw`\becho[ \t]{1,4}(?:${QUOTE})?${WORD_VALUE}(?:${QUOTE})?[ \t]{0,4}\|[ \t]{0,4}sudo[ \t]{1,4}-S\b`,
  ),
  form('password', 'auth', String.raw`^AUTH[ \t]{1,4}(?:[\w.-]{1,64}[ \t]{1,4})?${WORD_VALUE}$`),
  // { user: "jo", pass: "…" }   Pass: …   Passwort …
  form('password', 'pass', String.raw`\bpass[ \t]{0,4}:[ \t]{0,4}${QUOTED_VALUE}`),
  form('password', 'pass', String.raw`^[ \t]{0,8}pass[ \t]{0,4}:[ \t]{1,4}${WORD_VALUE}$`),
  form('password', 'passphrase', String.raw`\bpassphrase for [^\n:]{1,128}:[ \t]{0,4}${WORD_VALUE}`),
  form(
    'password',
    'passwort kennwort wachtwoord senha contrase passe',
    String.raw`\b(?:passwort|kennwort|wachtwoord|senha|contrase(?:ñ|n)a|mot de passe)(?:[ \t]{1,4}(?:ist|lautet|is|es|est)|[ \t]{0,4}:)?[ \t]{1,4}(?:${QUOTE})?${WORD_VALUE}`,
  ),
];

const OTP_WORDS = ['mfa', 'otp', '2fa'];
const OTP_SEED =
  /\b(?:MFA|mfa|T?OTP|t?otp|2FA|2fa)[ _-]{0,2}(?:seed|secret|key)\W{1,4}(?<value>(?=[A-Z]{0,32}[2-7])[A-Z2-7]{16,128})\b/g;
const SENTENCE_END = /[.,;:!?)\]}]+$/;
/** A version, a call or a member. */
const NO_SECRET = /^v?\d+[.\d]|[()[\]{}]|=>|^[A-Za-z_$][\w$]*\.[A-Za-z_$]|^-/;

/**
 * Secrets identified by their position in a command, a call or a statement, without a sign that assigns them to a name.
 */
export const POSITION_RULE: SecretRule = {
  keywords: [...new Set([...FORMS.flatMap(({ keywords }) => keywords), ...OTP_WORDS])],
  *find(text, folded) {
    for (const { kind, keywords, pattern } of FORMS) {
      if (!keywords.some((keyword) => folded.includes(keyword))) continue;
      for (const match of text.matchAll(pattern)) {
        const found = match.groups?.['value'] ?? '';
        const value = found.replace(SENTENCE_END, '');
        const isSecret = kind === 'key' ? looksGenerated(value) : looksChosen(value);
        if (!isSecret || NO_SECRET.test(value)) continue;
        const start = match.index + match[0].lastIndexOf(found);
        yield { start, end: start + value.length, kind: kind === 'key' ? 'token' : 'password' };
      }
    }
    for (const match of text.matchAll(OTP_SEED)) {
      const end = match.index + match[0].length;
      yield { start: end - (match.groups?.['value'] ?? '').length, end, kind: 'otp-seed' };
    }
  },
};

/** The options of a command before the one with the secret. Bounded, and within one line and one command. */
const OPTIONS = String.raw`(?:[^\n\r|;&]{0,200}?\s)`;
const OPEN = String.raw`["'\x60]?`;
const VALUE = String.raw`(?<secret>[^\s"'\x60|;&<>$]{3,256})`;

type CommandForm = { readonly keyword: string; readonly pattern: RegExp };

const commandForm = (keyword: string, parts: string): CommandForm => ({ keyword, pattern: new RegExp(parts, 'gi') });

/** Secrets in arguments of well-known commands that do not name them. */
const COMMAND_FORMS: readonly CommandForm[] = [
  commandForm(
    'curl',
    String.raw`\bcurl\b${OPTIONS}(?:-u|--user|--proxy-user|-U)[ =]?${OPEN}[^\s:"'\x60$]{1,128}:${VALUE}`,
  ),
  commandForm('mysql', String.raw`\b(?:mysql|mysqldump|mysqladmin|mysqlimport)\b${OPTIONS}-p${OPEN}${VALUE}`),
  commandForm('mariadb', String.raw`\bmariadb(?:-\w+)?\b${OPTIONS}-p${OPEN}${VALUE}`),
  commandForm('sshpass', String.raw`\bsshpass\s+-p\s*${OPEN}${VALUE}`),
  commandForm(
    'login',
    String.raw`\b(?:docker|podman|nerdctl|helm|oc|az|buildah|skopeo)\b${OPTIONS}login\b${OPTIONS}-p\s+${OPEN}${VALUE}`,
  ),
  commandForm('login', String.raw`\b(?:cargo|flyctl|heroku|railway)\s+login\s+${OPEN}${VALUE}`),
  commandForm('twine', String.raw`\btwine\b${OPTIONS}-p\s+${OPEN}${VALUE}`),
  commandForm('redis-cli', String.raw`\bredis-cli\b${OPTIONS}(?:-a|--pass)\s+${OPEN}${VALUE}`),
  commandForm('ldap', String.raw`\bldap(?:search|modify|add|delete|passwd|whoami)\b${OPTIONS}-w\s*${OPEN}${VALUE}`),
  commandForm('lftp', String.raw`\blftp\b${OPTIONS}-u\s+${OPEN}[^\s,"']{1,64},${VALUE}`),
  commandForm('smbclient', String.raw`\b(?:smbclient|rpcclient|smbmap)\b${OPTIONS}-U\s*${OPEN}[^\s%"']{1,64}%${VALUE}`),
  commandForm('net use', String.raw`\bnet use\b${OPTIONS}/user:\S{1,64}\s+${OPEN}${VALUE}`),
  commandForm(
    'configure set',
    String.raw`\bconfigure set\s+\S{0,64}(?:secret|token|password|key)\S{0,64}\s+${OPEN}${VALUE}`,
  ),
  commandForm('private-key', String.raw`\b(?:private|preshared)-key\s+${OPEN}(?<secret>[A-Za-z0-9+/]{40,}=)`),
  commandForm('nmcli', String.raw`\bnmcli\b${OPTIONS}password\s+${OPEN}${VALUE}`),
  commandForm('.login=', String.raw`-D[\w.]{1,64}\.login=${OPEN}${VALUE}`),
  commandForm('add-mask', String.raw`::add-mask::${VALUE}`),
  commandForm('htpasswd', String.raw`\bhtpasswd\b${OPTIONS}-\w*b\w*\s+\S{1,128}\s+\S{1,64}\s+${OPEN}${VALUE}`),
  commandForm('openssl', String.raw`\bopenssl\b${OPTIONS}-pass(?:in|out)?\s+${OPEN}pass:${VALUE}`),
  commandForm('wget', String.raw`\bwget\b${OPTIONS}--(?:http-|ftp-)?password=${OPEN}${VALUE}`),
];

export const COMMAND_LINE_RULE: SecretRule = {
  keywords: COMMAND_FORMS.map(({ keyword }) => keyword),
  *find(text, folded) {
    for (const { keyword, pattern } of COMMAND_FORMS) {
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
