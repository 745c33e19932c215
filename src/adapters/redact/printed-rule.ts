import { isNoValue, isPlaceholder, looksGenerated, looksSpoken } from './judge.ts';
import { entriesIn, type SecretRule, type SecretSpan } from './rule.ts';
import { parseJson } from '../../core/result.ts';

const SECRET_WORD = String.raw`(?:secrets?|pass(?:words?|wd|phrase)?|pwd?|pw|tokens?|credentials?|creds|api[-_]?keys?|access[-_]?keys?|private[-_]?keys?|keys?)`;
/** Commands whose whole output is secret, or consists of names and secrets. */
const PRINTS = new RegExp(
  [
    String.raw`\b(?:terraform|tofu|pulumi)\b.*\b(?:output|config get)\s+[\w"'-]`,
    String.raw`\bop (?:read|item get|document get|inject|run)\b`,
    String.raw`(?:^|[\s"';&|])(?:pass|gopass|passage)(?: show| otp)? (?!-|insert|generate|git|ls|init|find|grep|edit|rm|mv|cp)[\w./@-]+`,
    String.raw`\b(?:kubectl|oc|k9s|k3s)\b.*\b(?:get secrets?\b.*(?:-o|--output|--template)|describe secrets?\b|create token|config view.*--raw|whoami -t)`,
    String.raw`\baws\b.*\b(?:ssm get-parameter\w*|secretsmanager get-\S*secret\S*|get-login-password|get-session-token|assume-role\S*|create-access-key|kms decrypt|configure get|configure export-credentials)\b`,
    String.raw`\bgcloud\b.*\b(?:versions access|print-(?:access|identity)-token|keys create)\b`,
    String.raw`\baz\b.*\b(?:secret show|get-access-token|keys? list|credential show|show-connection-string|list-connection-strings|create-for-rbac)\b`,
    String.raw`\b(?:vault|bao)\b.*\b(?:kv get|read|print token|token create)\b`,
    String.raw`\bgh auth (?:token|status .*(?:-t|--show-token))`,
    String.raw`\bsecurity find-\S*password\b`,
    String.raw`\bsecret-tool (?:lookup|search)|\bkeyring get|\bcmdkey|\bsystemd-creds|\brclone (?:reveal|config show)`,
    String.raw`\bopenssl (?:rand|genrsa|genpkey)|\b(?:pwgen|apg|xkcdpass|mkpasswd|makepasswd|age-keygen|diceware)\b|\bwg gen(?:key|psk)|/dev/u?random`,
    String.raw`\bheroku config|\b(?:railway variables|netlify env:\w+|fly(?:ctl)? (?:auth token|tokens? create)|cf env|eb printenv|vercel env)`,
    String.raw`\bbw (?:get|list)|\blpass show|\bkeepassxc-cli|\bdashlane|\bdcli\b|\brbw get|\bchezmoi secret`,
    String.raw`\bsops\b.*(?:-d|--decrypt|decrypt|exec-env)|\bansible-vault (?:view|decrypt)|\bgpg\b.*(?:-d|--decrypt)\b|\beyaml decrypt|\bgit-crypt`,
    String.raw`\b(?:doppler|infisical|chamber|akeyless|conjur|dotenvx|phase|teller|berglas)\b.*\b(?:get|read|export|download|secrets?|env|show)\b`,
    String.raw`\bgit credential fill|\bnpm (?:token create|config get .*(?:auth|password)\S*)|\brails (?:secret|credentials:show)|\bartisan key:generate --show`,
    String.raw`\b(?:consul kv|etcdctl) get\b.*${SECRET_WORD}`,
    String.raw`\bargocd .*initial-password|\bget-secret\b|\bConvertFrom-SecureString|\bsecrets\.token_\w+`,
    String.raw`\b(?:cat|bat|less|more|head|tail|type|Get-Content|gc|strings)\b[^|;&]*(?:/run/secrets/|\.env\b(?!\.(?:example|sample|template|dist))|\.netrc|\.pgpass|\.git-credentials|\.htpasswd|id_(?:rsa|ed25519|ecdsa)\b(?!\.pub)|master\.key|/\.aws/credentials|kubeconfig|/\.kube/config|(?:^|[\s/._-])${SECRET_WORD}(?:\.txt)?(?=["'\s\\)|;&]|$))`,
    String.raw`\b(?:echo|printf|printenv|print)\b[^|;&]*?[\s"'{$:][A-Z0-9_]*(?:SECRET|PASS(?:WORD|WD)?|PWD_|_PW|PW(?![A-Z])|TOKEN|API_?KEY|PRIVATE_KEY|ACCESS_KEY|CREDENTIALS?)\w*\}?["']?\s*(?:["'|;&})\\]|$)`,
  ].join('|'),
  'i',
);

/** Other commands and tools that say so themselves: `vendor-cli show api-key`, `get_secret`. */
const SAYS_SO = new RegExp(
  String.raw`\b(?!grep|rg|find|git|sed|awk|ls)[a-z][\w.-]*\b[^|;&\n]{0,80}\b(?:get|show|read|print|reveal|view|access|lookup|fetch|create|export)[- :][^|;&\n]{0,40}\b(?:secret|password|passwd|credential|api-?key|token)s?\b`,
  'i',
);

const CALL = /^\[Tool call\]: (?<name>[^\n(]{1,128})\((?<args>[^\n]{0,4000})/;
const RESULT = '[Tool result]: ';
/** After the prompt of a shell; that of root or zsh only with a host or a folder before it, because `# ` begins a comment. */
const PROMPT =
  /^(?:\([\w.-]{1,32}\) ?)?(?:[\w~/.-]{0,64} ?|PS [^\n>]{0,80}|[\w.-]{1,32}@[\w.-]{1,64}[^\n$#%]{0,80})?(?:[$❯➜»]|(?<=^|PS [^\n>]{0,80})[%+>]|(?<=[@:~/][\w.~/-]{0,80} ?)[#%]) (?<command>\S[^\n]{1,1000})$/;
const MARKS = /^(?:\[Tool (?:call|result)\]: |[^\n]{0,160}?[$#%❯➜»+>] \S[^\n]{1,1000}$)/gm;
/** More is a log or a file, which other rules read. */
const MAX_OUTPUT_CHARS = 16_384;

/** What commands print that print secrets, whatever it looks like. `before` holds the calls whose results `text` holds. */
export const PRINTED_RULE: SecretRule = {
  keywords: [],
  *find(text, _folded, before = '') {
    if (before === '' && !/\[Tool call\]|[$#%❯➜»+>] /.test(text)) return;
    const whole = before === '' ? text : `${before}\n${text}`;
    const offset = whole.length - text.length;
    for (const { start, end, how } of printedIn(whole)) {
      for (const span of secretsOf(whole.slice(start, Math.min(end, start + MAX_OUTPUT_CHARS)), how)) {
        const from = start + span.start - offset;
        if (from >= 0) yield { ...span, start: from, end: start + span.end - offset };
      }
    }
  },
};

/** What a command prints: secrets for certain, or by its own words. */
type How = 'known' | 'says-so' | null;

function howPrints(command: string): How {
  // What `$(…)` prints goes to the command around it, which shows it only if it is an echo.
  const outer = command.replaceAll(/\$\(([^()]{0,1000})\)/g, (_, inner: string) =>
    PRINTS.test(inner) ? '$PASSWORD' : '',
  );
  if (PRINTS.test(outer)) return 'known';
  return SAYS_SO.test(outer) ? 'says-so' : null;
}

/** Where the output of commands that print secrets stands. Results come in the order of their calls. */
function* printedIn(text: string): Iterable<{ readonly start: number; readonly end: number; readonly how: How }> {
  const calls: How[] = [];
  const marks = Array.from(text.matchAll(MARKS), ({ index }) => index);
  for (const [order, index] of marks.entries()) {
    const lineEnd = text.indexOf('\n', index);
    const line = text.slice(index, lineEnd < 0 ? text.length : lineEnd);
    const { name, args } = CALL.exec(line)?.groups ?? {};
    const command = PROMPT.exec(line)?.groups?.['command'];
    if (name !== undefined) calls.push(howPrints(commandOf(args ?? '') || `tool ${name.replaceAll(/[_.:-]+/g, ' ')} `));
    else if (text.startsWith('[Tool result]: ', index)) {
      const how = calls.shift() ?? null;
      if (how !== null) yield { start: index + RESULT.length, end: nextMessage(text, marks, order), how };
    } else if (command !== undefined && lineEnd >= 0) {
      const how = howPrints(command);
      const printed = text.slice(lineEnd + 1, marks[order + 1] ?? lineEnd + MAX_OUTPUT_CHARS);
      const blank = printed.indexOf('\n\n');
      const end = lineEnd + 1 + (blank < 0 ? printed.length : blank);
      if (how === 'known' || (how !== null && !/^[%+>]/.test(line))) yield { start: lineEnd + 1, end, how };
    }
  }
}

/** Where the next call or result begins; lines that look like a prompt are part of a result. */
function nextMessage(text: string, marks: readonly number[], order: number): number {
  const limit = (marks[order] ?? 0) + MAX_OUTPUT_CHARS;
  for (let at = order + 1; at < marks.length; at += 1) {
    const mark = marks[at] ?? text.length;
    if (mark > limit || text.startsWith('[Tool ', mark)) return mark;
  }
  return text.length;
}

const COMMAND_KEY = /^(?:command|commands|cmd|script|code|shell|args|input|chars)$/i;
const COMMAND = /"(?:command|cmd|script|code|input|chars)"\s{0,4}:\s{0,4}"(?<command>(?:[^"\\]|\\.){0,2000})/i;

/** The command in the arguments of a call; empty: none, so that a search for "get secret" is not taken for one. */
function commandOf(args: string): string {
  const json = args.replace(/\)$/, '');
  const value = parseJson(json);
  if (value === undefined) return COMMAND.exec(json)?.groups?.['command'] ?? (json.startsWith('{') ? '' : json);
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  const parts = Object.entries(value).filter(([key]) => COMMAND_KEY.test(key));
  return parts.map(([, part]) => (Array.isArray(part) ? part.join(' ') : String(part))).join(' ');
}

const PAIR =
  /(?<![\w.-])(?<name>[A-Za-z_][\w.-]{0,63})\\{0,3}["']?(?:\s{0,4}[:=]\s{0,4}| {2,40}|\t)(?<open>\\{0,3}["'])?(?<value>[^\s"'\\,]{4,4096})/g;
/** A cell of a table with tabs. */
const CELL = /(?<=\t)[^\s]{4,4096}(?=[\t\n]|$)/g;
const SECRET_NAME = /^(?:value|data|secret\w*|pass\w*|pw|token|key|.*(?:password|secret|token|key))$/i;
/** Facts about a secret. */
const FACT =
  /^(?:name|type|version\w*|arn|id|\w*_?ids?|kind|api_?version|created\w*|updated\w*|\w*(?:date|time|at)|path|mount|ttl|lease\w*|region|host|hostname|port|url|uri|username|user|login|email|protocol|namespace|labels?|annotations?|uid|resource_?version|data_?type|region|renewable|policies|accessor|tz|path|home|node_env|lang|description|title|status|size|age)$/i;
const NO_SECRET = /^(?:arn:|https?:\/\/[^@]*$|\d{4}-\d\d-\d\d|[\d.]+$|\/|\.{0,2}\/|\S+@[\w-]+\.\w+$)/;
const MESSAGE =
  /\b(?:error|not|no|found|denied|failed|unable|cannot|can't|invalid|usage|unknown|missing|is|the|please|warning|permission|such)\b/i;
const PHRASE = /^[a-z]{3,16}(?:[ -][a-z]{3,16}){2,11}$/;

/** So few lines are nothing but the secret. */
const FEW_LINES = 3;
/** So many are a file or a log. */
const MANY_LINES = 120;

function secretsOf(output: string, how: How): readonly SecretSpan[] {
  const found: SecretSpan[] = [];
  const lines = output.split('\n');
  const count = lines.filter((line) => line.trim() !== '').length;
  if (count > MANY_LINES) return [];
  let at = 0;
  for (const [order, line] of lines.entries()) {
    const token = line.trim().replace(/^["']|["'],?$/g, '');
    const start = at + line.indexOf(token);
    at += line.length + 1;
    const isOne = /\s/.test(token)
      ? order === 0 && PHRASE.test(token) && !MESSAGE.test(token)
      : isPrinted(token) && ((how === 'known' && (count <= FEW_LINES || order === 0)) || looksSecret(token));
    if (token.length >= 4 && isOne) found.push({ start, end: start + token.length, kind: 'command-output' });
  }
  for (const { 0: cell, index } of output.matchAll(CELL)) {
    if (isPrinted(cell) && looksSecret(cell))
      found.push({ start: index, end: index + cell.length, kind: 'command-output' });
  }
  const accepts = (value: string, name: string): boolean =>
    !FACT.test(name) && isPrinted(value) && (looksSecret(value) || (how === 'known' && SECRET_NAME.test(name)));
  found.push(...entriesIn(output, 0, { kind: 'command-output', pattern: PAIR, accepts }));
  return found;
}

function looksSecret(value: string): boolean {
  return looksSpoken(value) || looksGenerated(value, 8);
}

/** Not a reference, an address, a date, a word about it, or a sign of the format around it. */
function isPrinted(value: string): boolean {
  return (
    !isPlaceholder(value) &&
    !isNoValue(value) &&
    !NO_SECRET.test(value) &&
    /[A-Za-z0-9]/.test(value) &&
    !/[:{[(]$|^[\w-]+:\/\//.test(value)
  );
}
