import { CHARACTER, classOf } from './character.ts';

/** Function words of English: they carry no fact of their own. Contractions appear as what stands before the apostrophe. */
export const FUNCTION_WORDS =
  wordSet(`a about above after again against all also am an and any are aren as at be because been
before being below between both but by can cannot could couldn d did didn do does doesn doing don down during each few for from
further had hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m
ma me might more most must mustn my myself needn no nor not now o of off on once only or other our ours ourselves out over own re s
same shan she should shouldn so some such t than that the their theirs them themselves then there these they this those through to
too under until up us ve very was wasn we were weren what when where which while who whom whose why will with won would wouldn y yet
you your yours yourself yourselves`);

/** What keeps a talk going and says little: greetings, assent, praise, hedges, the lightest verbs. */
export const FILLERS =
  wordSet(`hey hi hello thanks thank thx wow yeah yep yup yes nope oh ooh ah aw haha lol hmm um uh ok okay sure
cool great awesome amazing nice good really totally definitely absolutely actually basically literally glad happy sounds sound
please bye welcome congrats congratulations wonderful fantastic incredible perfect gonna wanna gotta kinda sorta lot lots well like
maybe think mean guess let lets got get gets getting go goes going gone went thing things something anything everything stuff way
much many super exactly right agree true hope wait look looks looking bit pretty quite sorry always even still ever able back
know see say says said tell told make makes made making take takes took come comes came want wants wanted need needs feel feels felt
feeling put talk`);

/** Words of time: a sentence with one says when something was. */
export const TIME_WORDS =
  wordSet(`today yesterday tomorrow tonight morning afternoon evening night noon midnight weekend week weeks
month months year years day days hour hours minute minutes ago last next recently soon monday tuesday wednesday thursday friday
saturday sunday january february march april june july august september october november december spring summer autumn winter
birthday anniversary christmas easter since`);

/** Words by which somebody speaks of a person who is not the listener. */
export const SELF_WORDS = wordSet('i me my mine myself we us our ours ourselves he she they him his her their');

/** Words by which somebody speaks to the listener. */
export const ADDRESS_WORDS = wordSet('you your yours yourself yourselves');

/** Words of what is the speaker's own. */
export const OWN_WORDS = wordSet('my our');

/** Who tells of himself. */
export const TELLER_WORDS = wordSet('i we');

/** What may stand between him and what he did. */
export const TELLER_ADVERBS = wordSet('just also even finally recently once already never then');

/** Past forms that do not end in -ed. */
export const PAST_WORDS =
  wordSet(`was were had did went got made took saw found bought met won lost left came began wrote read ate gave ran
flew felt thought told heard built sold spent grew taught chose drove fell forgot held kept knew led paid put sang sent set slept spoke
swam threw wore brought caught broke`);

/** Numbers and what else says how many or how often. */
export const COUNT_WORDS = wordSet(`two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty
hundred thousand million once twice first second third dozen couple half`);

/** Words before a name. */
export const NAMING_WORDS = wordSet('called named titled nicknamed');

/** Words of a line that tells of a failure. */
export const FAILURE_WORDS =
  wordSet(`error errors fail fails failed failing failure failures exception panic fatal traceback denied
refused aborted crashed undefined unresolved invalid`);

// These are frequent in every English text and words of no other language that is written much in the same letters.
const ENGLISH_MARKS = wordSet('the and that with this for are you have it from not what');
const MAX_MARK_CHARS = 4;
const ENGLISH_MARK_SHARE = 0.06;
const MIN_WORDS_TO_TELL = 30;
const LETTER = CHARACTER.lower | CHARACTER.upper;

/** Whether a sample of prose is English; too little to tell counts as English where it has Latin letters at all. */
export function isEnglishText(sample: string): boolean {
  let words = 0;
  let marks = 0;
  let isPlain = true;
  let length = 0;
  for (let i = 0; i <= sample.length; i += 1) {
    const code = i < sample.length ? sample.charCodeAt(i) : 0;
    if ((classOf(code) & LETTER) !== 0) {
      length += 1;
      isPlain &&= code < 128;
    } else if (length > 0) {
      words += 1;
      if (length <= MAX_MARK_CHARS && ENGLISH_MARKS.has(sample.slice(i - length, i).toLowerCase())) marks += 1;
      length = 0;
    }
  }
  if (words < MIN_WORDS_TO_TELL) return marks > 0 || isPlain;
  return marks >= words * ENGLISH_MARK_SHARE;
}

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/));
}
