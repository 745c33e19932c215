/** Words whose forms their endings do not tell: the first of each group is the one that is looked up. */
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

/** The forms by which a word is looked up, each once: itself, and those that its stem does not reach. */
export function formsOf(word: string): readonly string[] {
  const lower = word.toLowerCase();
  const group = plainForms(lower).flatMap((plain) => FORMS.get(plain) ?? [])[0];
  if (group === undefined) return [word];
  const forms = FORMS.get(group) ?? [];
  return [...new Set([lower, ...forms])];
}

/** A word, and what it may be without a regular ending. */
function plainForms(word: string): readonly string[] {
  const [, stem = '', ending] = /^(.{2,}?)(s|es|ing)$/.exec(word) ?? [];
  if (ending === undefined) return [word];
  const more = ending === 'ing' ? [`${stem}e`, stem.replace(/(.)\1$/, '$1')] : [word.slice(0, -1)];
  return [word, stem, ...more];
}
