import { foldLetters } from '../languages/fold.ts';
import { lazily } from '../lazy.ts';
import { hasEnglishWords, isEnglishRule } from './english.ts';
import { readSubject } from './languages.ts';

/** A sentence that may override an earlier one. */
export type Statement = {
  readonly text: string;
  /** A mere permission, which only counts if it revokes a rule. */
  readonly isPermission: boolean;
};

/** Only this many statements are compared, since the work grows with the square. Older rules are kept as they are. */
const MAX_COMPARED = 400;

/** Two statements are about the same thing if they share this part of the shorter one's words. */
const SAME_OBJECT = 0.75;
/** The newer of two statements rewords the older one if their words are this similar. */
const SAME_WORDING = 0.75;
/** A revocation names its object and little else, so less overlap is enough. */
const REVOKED_OBJECT = 0.5;

/**
 * Returns the statements that still hold, in order. Drops those that a later statement repeats, gives a new value, contradicts or revokes.
 * In doubt both stay. A permission stays only if it revoked something.
 */
export function keepNewestWording<T extends Statement>(statements: readonly T[]): readonly T[] {
  const latest = new Map(statements.map((statement) => [normalize(statement.text), statement] as const));
  const distinct = statements.filter((statement) => latest.get(normalize(statement.text)) === statement);
  const older = distinct.slice(0, Math.max(0, distinct.length - MAX_COMPARED)).filter((one) => !one.isPermission);
  let holding: { readonly statement: T; readonly traits: Traits }[] = [];
  for (const statement of distinct.slice(-MAX_COMPARED)) {
    const traits = traitsOf(statement);
    const before = holding.length;
    holding = holding.filter((earlier) => !takesBack(traits, earlier.traits));
    if (!statement.isPermission || holding.length < before) holding.push({ statement, traits });
  }
  return [...older, ...holding.map(({ statement }) => statement)];
}

type Traits = {
  /** The words that name the subject: no values, function words or words that make it a rule. */
  readonly words: ReadonlySet<string>;
  /** Numbers, languages and flags, which a rewording may change. */
  readonly values: ReadonlySet<string>;
  readonly isNegative: boolean;
  readonly isRevocation: boolean;
  readonly isPermission: boolean;
};

function takesBack(later: Traits, earlier: Traits): boolean {
  const shared = [...later.words].filter((word) => earlier.words.has(word)).length;
  if (shared === 0) return false;
  const smaller = Math.min(later.words.size, earlier.words.size);
  const areEqual = shared === Math.max(later.words.size, earlier.words.size);
  const isSameObject = areEqual || (shared >= 2 && shared / smaller >= SAME_OBJECT);
  if (later.isPermission) {
    const isMeant = isSameObject || shared / earlier.words.size >= REVOKED_OBJECT;
    return isMeant && earlier.isNegative && !later.isNegative;
  }
  if (later.isRevocation) return isSameObject || (shared >= 2 && shared / earlier.words.size >= REVOKED_OBJECT);
  if (later.isNegative !== earlier.isNegative) return isSameObject && later.values.size === earlier.values.size;
  const isAlike = areEqual || shared / (later.words.size + earlier.words.size - shared) >= SAME_WORDING;
  return isAlike && later.values.size > 0 && earlier.values.size > 0;
}

const NEGATIVE = lazily(
  () =>
    /(?<![\p{L}])(?:never|no|not|don't|dont|avoid|stop|without|mustn't|can't|cannot|shouldn't|forbidden|nicht|kein\p{L}*|nie|niemals|ne|n|pas|jamais|nunca|non|mai|não|niet|geen|nooit|inte|ikke|aldrig|aldri|nigdy|nikdy|asla|\p{L}{2,}(?:ma|me)|jangan|không|đừng|cấm|nu|ne|nem|soha|älä|älkää|koskaan|ei saa|tilos|не|никогда|нельзя|ніколи|לא|אל|אסור|לעולם|μην?|δεν|ποτέ|لا|ممنوع|هرگز|मत|नहीं|न|না|কখনো)(?![\p{L}\p{M}])|不|禁止|别|勿|ない|しないで|지 ?마|금지|ห้าม|อย่า/u,
);
const REVOCATION = lazily(
  () =>
    /^(?:forget|scrap|drop|cancel|undo|revert|lift|rename|ignore)\b|\b(?:no longer|changed my mind|instead of|rather than|from now on|not any ?more|after all)\b/u,
);
const VALUE = lazily(
  () =>
    /\d[\d.,]*|(?<!\p{L})(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty|hundred|english|german|french|spanish|italian|portuguese|dutch|polish|russian|chinese|japanese|korean|turkish|arabic|hindi|swedish|czech|ukrainian|tabs|spaces|ms|kb|mb|gb|seconds?|minutes?)(?!\p{L})|--?[a-z][\w-]+/gu,
);
const IGNORED: ReadonlySet<string> = new Set(
  `never always must should shall have has need needs only use using keep make sure please avoid stop dont not from now the and for with that
this these those you your our are was were will can could may might would all any every each into onto than then when whenever before after
again anymore longer instead rather forget rename here there them they its it's let just also`.split(/\s+/),
);
const WORD = lazily(() => /[\p{L}\p{M}][\p{L}\p{M}\p{N}_'-]*/gu);
/** Only the beginning of a statement is compared. */
const READ_CHARS = 600;

function traitsOf({ text, isPermission }: Statement): Traits {
  const read = normalize(text.slice(0, READ_CHARS));
  const values = new Set(read.match(VALUE()) ?? []);
  const words = (read.replace(VALUE(), ' ').match(WORD()) ?? []).flatMap(contentWord);
  const other = hasEnglishWords(read, 1) || isEnglishRule(read) ? null : readSubject(foldLetters(read));
  return {
    words: new Set(other?.words ?? words),
    values: new Set([...values, ...(other?.names ?? [])]),
    isNegative: NEGATIVE().test(read),
    isRevocation: REVOCATION().test(read) || other?.isStanding === true,
    isPermission,
  };
}

/** Removes a word's ending. */
function contentWord(word: string): readonly string[] {
  if (word.length < 3 || IGNORED.has(word)) return [];
  return [word.replace(/(?:'s|ing|ed|es|s)$/, '') || word];
}

function normalize(text: string): string {
  return text
    .toLowerCase()
    .replace(/[’‘]/g, "'")
    .replace(/\s+/g, ' ')
    .replace(/[.!。！]+$/, '')
    .trim();
}
