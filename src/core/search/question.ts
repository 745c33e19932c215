import { FUNCTION_WORDS } from '../extract/word-lists.ts';
import { languagesOfQuery } from '../languages/detect.ts';
import type { Language } from '../languages/language.ts';
import { markedStems } from '../languages/stem.ts';
import { INDEXED_WORD, isSpaceless, spaceOutQuery } from './words.ts';

/** A word of the query. A text that contains any of the forms matches. */
export type QueryTerm = {
  readonly forms: readonly string[];
  /** Also matches longer words that begin with it. */
  readonly isBeginning: boolean;
};

export type Question = {
  /** The distinct words; empty if there are none. */
  readonly words: readonly QueryTerm[];
  /** The only speaker that the query names, or null. */
  readonly speaker: string | null;
  readonly asksWhen: boolean;
  /** The query is so short that it lists keywords instead of asking something. */
  readonly isKeywords: boolean;
};

/** More words add little, and each costs an index lookup. */
const MAX_WORDS = 64;
const MAX_QUESTION_CHARS = 20_000;
const MAX_KEYWORDS = 3;
/** The index cuts words at this length. */
const MAX_WORD_CHARS = 200;
const ASKS_WHEN =
  /^\s*(?:(?:and|so|but)\s+)?when\b|\b(?:what|which) (?:date|day|week|month|year|time)\b|\bhow long\b|什么时候|何时|いつ/iu;

/**
 * Parses any text into query words. Function words count only if there are no others. Names of speakers select whose messages are meant;
 * written with the same capitals, they are query words only if there are no others.
 */
export function readQuestion(text: string, speakers: readonly string[]): Question {
  const asked = text.slice(0, MAX_QUESTION_CHARS);
  const written = spaceOutQuery(asked).match(INDEXED_WORD) ?? [];
  const all = [...new Set(written.map((word) => word.toLowerCase()))];
  const speakerOf = new Map(speakers.flatMap((name) => wordsOf(name).map((word) => [word, name] as const)));
  const named = new Set(all.flatMap((word) => speakerOf.get(word) ?? []));
  const content = all.filter((word) => !FUNCTION_WORDS.has(word));
  const names = new Set(speakers.flatMap((name) => name.match(INDEXED_WORD) ?? []));
  const asNames = new Set(written.filter((word) => names.has(word)).map((word) => word.toLowerCase()));
  const words = [content.filter((word) => !asNames.has(word)), content, all].find((some) => some.length > 0) ?? [];
  const [speaker] = named;
  const languages = languagesOfQuery(asked);
  return {
    words: words.slice(0, MAX_WORDS).map((word) => toQueryTerm(word, languages)),
    speaker: named.size === 1 && speaker !== undefined ? speaker : null,
    asksWhen: ASKS_WHEN.test(asked),
    isKeywords: written.length <= MAX_KEYWORDS,
  };
}

/** The words of a text in lower case, split as the index does. */
export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(INDEXED_WORD) ?? [];
}

function toQueryTerm(word: string, languages: readonly Language[]): QueryTerm {
  const isBeginning = isSpaceless(word) && Array.from(word).length === 1;
  const forms = [...formsOf(word.slice(0, MAX_WORD_CHARS)), ...markedStems(word, languages)];
  return { forms: [...new Set(forms)], isBeginning };
}

/** Irregular forms, which stemming does not find. Each group begins with the base form. */
const GROUPS = `arise arose arisen;awake awoke awoken;begin began begun;bend bent;bind bound;bite bit bitten;bleed bled;blow blew blown
break broke broken;breed bred;bring brought;build built;burn burnt;buy bought;catch caught;choose chose chosen;cling clung;come came
creep crept;deal dealt;dig dug;do did done;draw drew drawn;dream dreamt;drink drank drunk;drive drove driven;eat ate eaten
fall fell fallen;feed fed;feel felt;fight fought;find found;flee fled;fly flew flown;forbid forbade forbidden;forget forgot forgotten
forgive forgave forgiven;freeze froze frozen;get got gotten;give gave given;go went gone;grind ground;grow grew grown;hang hung
have had;hear heard;hide hid hidden;hold held;keep kept;kneel knelt;know knew known;lay laid;lead led;lean leant;learn learnt;leave left
lend lent;light lit;lose lost;make made;mean meant;meet met;mistake mistook mistaken;overcome overcame;override overrode overridden;pay paid
prove proven;rebuild rebuilt;redo redid redone;rewrite rewrote rewritten;ride rode ridden;ring rang rung;rise rose risen;run ran;say said
see saw seen;seek sought;sell sold;send sent;sew sewn;shake shook shaken;shine shone;shoot shot;show shown;shrink shrank shrunk;sing sang sung
sink sank sunk;sit sat;sleep slept;slide slid;speak spoke spoken;spell spelt;spend spent;spin spun;spring sprang sprung;stand stood
steal stole stolen;stick stuck;sting stung;strike struck;strive strove;swear swore sworn;sweep swept;swim swam swum;swing swung
take took taken;teach taught;tear tore torn;tell told;think thought;throw threw thrown;undo undid undone;understand understood
wake woke woken;wear wore worn;weave wove woven;weep wept;win won;wind wound;withdraw withdrew withdrawn;write wrote written
child children;foot feet;goose geese;half halves;knife knives;leaf leaves;life lives;man men;mouse mice;person people;shelf shelves
thief thieves;tooth teeth;wife wives;wolf wolves;woman women;index indices;criterion criteria;analysis analyses;matrix matrices
good better best;bad worse worst`;

const FORMS: ReadonlyMap<string, readonly string[]> = new Map(
  GROUPS.split(/[;\n]/).flatMap((group) => {
    const forms = group.split(' ');
    return forms.map((form) => [form, forms] as const);
  }),
);

/** The forms to look up for a word: itself and the irregular ones. */
export function formsOf(word: string): readonly string[] {
  const lower = word.toLowerCase();
  const group = plainForms(lower).flatMap((plain) => FORMS.get(plain) ?? [])[0];
  if (group === undefined) return [word];
  const forms = FORMS.get(group) ?? [];
  return [...new Set([lower, ...forms])];
}

/** A word and its possible base forms without a regular ending. */
function plainForms(word: string): readonly string[] {
  const [, stem = '', ending] = /^(.{2,}?)(s|es|ing)$/.exec(word) ?? [];
  if (ending === undefined) return [word];
  const more = ending === 'ing' ? [`${stem}e`, stem.replace(/(.)\1$/, '$1')] : [word.slice(0, -1)];
  return [word, stem, ...more];
}
