import { isPlaceholder } from './placeholder.ts';

/** `password` names nothing but a secret, `token` many a thing. */
export type NameKind = 'password' | 'token';

/** environment: `NAME=value` of a shell. parameter: of a URL or a connection string. In both a bare word is a value, and no variable. */
export type ValueForm = 'quoted' | 'environment' | 'parameter' | 'bare';

export type AssignedValue = {
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

/** Whether an assigned value is a secret: no placeholder, type or path, and no variable or call that gives one. */
export function isSecretValue({ text, name, nameKind, form }: AssignedValue): boolean {
  const folded = text.toLowerCase();
  if (text.length < MIN_CHARS[nameKind] || isPlaceholder(text)) return false;
  if (NO_VALUES.has(folded) || folded === name.toLowerCase() || LOCATION.test(text) || TYPE.test(text)) return false;
  if (DIGITS.test(text)) return text.replace(/\D/g, '').length >= MIN_DIGITS[nameKind];
  const isWord = WORD.test(text);
  if (form === 'quoted') return nameKind === 'password' || !isWord || /[a-z][A-Z]/.test(text);
  if (CODE.test(text) || MEMBER.test(text)) return false;
  return form !== 'bare' || !isWord;
}
