const NAME_LIKE = /^!?[\w.-]*(?:password|secret|token|key|user|pass)[\w.-]*$/i;
const LOCATION =
  /^(?:urn:|[a-z][\w.-]*:\d{2,5}$|[\w+.-]+:\/\/|\.{0,2}\/|~\/)|\.(?:json|ya?ml|toml|txt|pem|key|env|[jt]sx?|py|go|rs|sh|md)$/i;
/** `exchangeX509Token`: the name of something in code, made of words with at most one number. */
const CAMEL_NAME = /^(?=[A-Za-z]+\d{0,4}[A-Za-z]*$)(?:[A-Z]?[a-z]{3,}|[A-Z]{1,6}(?![a-z])|\d{1,4}){2,}$/;
const TYPE_END =
  /(?:Array|Buffer|String|Type|Options|Definition|Schema|Config|Credentials?|Request|Response|Error|Handler|Provider|Scope|Password|Token|Secret|Key)$/;
/** A version, a call, a member, a flag. */
const CODE = /^v?\d+[.\d]|[()[\]{}]|=>|[!=]==?|^[A-Za-z_$][\w$]*\.[A-Za-z_$]|^-/;

/**
 * Whether text in the place of a password looks like one: letters with digits or signs, and not a word, number, path,
 * variable or placeholder.
 */
export function looksChosen(text: string): boolean {
  if (text.length < 6 || isPlaceholder(text)) return false;
  if (!/[A-Za-z]/.test(text) || !/[^A-Za-z]/.test(text)) return false;
  if (NAME_LIKE.test(text) || LOCATION.test(text) || isTypeName(text)) return false;
  return /\d/.test(text) || /[!#%*+=~^?@]/.test(text);
}

/** `exchangeX509Token` */
export const isCamelName = (text: string): boolean => CAMEL_NAME.test(text);

export function isTypeName(text: string): boolean {
  return TYPE_END.test(text) && CAMEL_NAME.test(text);
}

/** `looksChosen` where code may stand in the same place. */
export function looksSpoken(text: string): boolean {
  return looksChosen(text) && !CODE.test(text);
}

/** Whether text is a generated key: too irregular for a word, a name or a path of words. */
export function looksGenerated(text: string, minChars = 16): boolean {
  if (text.length < minChars || isPlaceholder(text) || LOCATION.test(text)) return false;
  if (!/\d/.test(text) || !/[A-Za-z]/.test(text) || CAMEL_NAME.test(text)) return false;
  // Words with numbers between separators (`node-modules-linux-x64-v3`, dates) consist of short or purely alphabetic
  // pieces.
  const pieces = text.split(/[^A-Za-z0-9]+/);
  return pieces.some((piece) => piece.length >= 8 && changesOf(piece) >= 3);
}
/** How often the kind of character changes: lower case, upper case, digit. */
function changesOf(text: string): number {
  const kinds = text
    .replaceAll(/[a-z]+/g, 'a')
    .replaceAll(/[A-Z]+/g, 'b')
    .replaceAll(/\d+/g, 'c');
  return kinds.length - 1;
}

const EXAMPLE_WORDS =
  /^my[_-]?(?:token|key|password|secret|api.?key)$|your|example|placeholder|replace|insert|change.?me|dummy|sample|redacted|secret.?here|goes.?here|_here$|todo|xxxx|0000000|1234567890|abcdefgh/i;
const DELIMITED_EXAMPLE_WORD =
  /(?:^|[^A-Za-z])(?:your|example|placeholder|dummy|sample|redacted|x{4,})(?:[^A-Za-z]|$)/i;
const REFERENCE = /^(?:\$|%\w+%|\{|<|\(|\[|#\{|@\{|\*|\.{2,}|…|-{2,}|_{2,})/;
/** `ghp_...`, `sk-…` */
const CUT_OFF = /^[\w-]{1,24}(?:[_-]|\.{3}|…)$/;
const ONE_CHARACTER = /^(.)\1*$/su;
// Random text of this length has more different characters than `MIN_DIFFERENT`.
const MIN_RANDOM_CHARS = 16;
const MIN_DIFFERENT = 6;

/** Whether text is a placeholder for a secret: `<your key>`, `${TOKEN}`, `xxxx`, `***`, a mask. */
export function isPlaceholder(text: string): boolean {
  if (REFERENCE.test(text) || ONE_CHARACTER.test(text) || CUT_OFF.test(text)) return true;
  if (text.length >= MIN_RANDOM_CHARS && new Set(text).size < MIN_DIFFERENT) return true;
  // In a mix of both cases and digits, such a word may appear by chance.
  const isMixed = text.length >= MIN_RANDOM_CHARS && /\d/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
  return (isMixed ? DELIMITED_EXAMPLE_WORD : EXAMPLE_WORDS).test(text);
}

/** Whether text looks like a random key: letters and digits, a long run without a separator, and no placeholder. */
export function looksRandom(text: string): boolean {
  return !isPlaceholder(text) && /\d/.test(text) && /[A-Za-z]/.test(text) && /[A-Za-z0-9]{12}/.test(text);
}

/** Shannon's entropy in bits per character. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  let total = 0;
  for (const character of text) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
    total += 1;
  }
  let bits = 0;
  for (const count of counts.values()) bits -= (count / total) * Math.log2(count / total);
  return bits;
}

export const isReal = (text: string): boolean => !isPlaceholder(text);

const WORDS_FOR_NOTHING =
  'null none nil undefined true false yes no on off required optional missing invalid expired empty hidden unset default inherit include omit same-origin wrong correct incorrect changed masked encrypted hashed protected enabled disabled prompt ask auto never always there here stored needed unknown pass passed fail failed ok error success skip skipped';
const TYPE_WORDS =
  'str string text byte bytes char varchar number int integer bool boolean object any unknown never void buffer array record optional field column input required secretstr nullable function symbol';
const FOREIGN_WORDS =
  'passwort kennwort wachtwoord senha contraseña пароль hasło lösenord erforderlich pflichtfeld falsch vergessen ändern anzeigen ungültig requerida requerido obligatoria obligatorio obligatoire incorrecta incorrecto incorrecte errada verplicht vereist';
const OWN_WORDS =
  'password passwd passphrase secret token value key bearer basic credentials self this username user login email admin authentication argument parameter variable field';
const NO_VALUES: ReadonlySet<string> = new Set(
  `${WORDS_FOR_NOTHING} ${TYPE_WORDS} ${OWN_WORDS} ${FOREIGN_WORDS}`.split(' '),
);

/** Words that say something about a secret, or stand for its type. */
export function isNoValue(text: string): boolean {
  return NO_VALUES.has(text.toLowerCase());
}

/** What is said of passwords, by its ending. */
const ADJECTIVE =
  /(?:[^e]ed|ing|able|ible|ive|al|ory|ary|ent|ant|ful|less|ous|ic|text|lich|ich|isch|lt|elt|ert|oire|orio|ória|oria|ido|ida|ado|ada|one|ione|ung|ion|tion|ción|ção)$/;

/** An ordinary word in the place of a password. */
export function isPlainWord(text: string): boolean {
  return /^[A-Z]?[a-z]{5,32}$/.test(text) && isReal(text) && !isNoValue(text) && !ADJECTIVE.test(text);
}
