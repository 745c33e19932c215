import type { SpeakerKind, TermIndex, TokenUse, UnitFeatures } from './terms.ts';
import type { SegmentKind } from './units.ts';

// Found by measuring on chats and coding sessions; around these values the results are flat, so that none of them is critical.

/** A repeated word pays by count^power, a repeated token hardly at all. */
export const WORD_POWER = 0.8;
export const TOKEN_POWER = 0.03;
/** A sentence beside a chosen one of its message: half a turn says less than half of what the turn says. */
export const SAME_MESSAGE_BONUS = 1.2;

// A token in words of average rarity.
const TOKEN_SCALE = 120;
// 12 and 150 count something more often than they name it.
const SMALL_NUMBER_WEIGHT = 0.5;
const SPEAKER_WEIGHT: Readonly<Record<SpeakerKind, number>> = { user: 1, assistant: 0.7, call: 1, result: 0.3 };
const UNIT_WEIGHT = {
  answer: 1.3,
  time: 1.3,
  name: 1.3,
  onlyAddressesListener: 0.8,
  phrase: 0.7,
  request: 1.5,
  call: 0.8,
  result: 0.6,
  failure: 1.5,
  // A question says what somebody wanted to know, not what is: it comes last.
  pureQuestion: 0.02,
} as const;
// Fewer content words than this are an exclamation more often than a fact.
const PHRASE_WORDS = 3;
// Without a stop-word list, a word in more of the units than this is one, unless there are hardly any.
const COMMON_SHARE = 0.025;
const MIN_COMMON_UNITS = 4;
const MIN_UNITS_FOR_COMMON = 40;
const RARITY_SMOOTHING = 2;

/** What each term is worth the first time it is kept, by its number. */
export function weighTerms(
  index: TermIndex,
  { messageCount, isEnglish }: { messageCount: number; isEnglish: boolean },
): Float64Array {
  const units = index.unitCount();
  const knowsCommon = !isEnglish && units >= MIN_UNITS_FOR_COMMON;
  const maxFrequency = knowsCommon ? Math.max(MIN_COMMON_UNITS, units * COMMON_SHARE) : Infinity;
  return Float64Array.from({ length: index.termCount() }, (_, term) => {
    const use = index.tokenUseOf(term);
    if (use !== null) return TOKEN_SCALE * tokenWeight(use, messageCount);
    const frequency = index.frequencyOf(term);
    if (frequency > maxFrequency) return 0;
    return Math.log(1 + units / (frequency + RARITY_SMOOTHING));
  });
}

/** Who used it, how often (a logarithm), and how recently: up to three times as much at the end as at the start. */
function tokenWeight(use: TokenUse, messageCount: number): number {
  const { counts, lastIndex, lastSpokenIndex, isSmallNumber } = use;
  const used =
    SPEAKER_WEIGHT.user * Math.log1p(counts.user) +
    SPEAKER_WEIGHT.assistant * Math.log1p(counts.assistant) +
    SPEAKER_WEIGHT.call * Math.log1p(counts.call) +
    SPEAKER_WEIGHT.result * Math.log1p(counts.result);
  return (isSmallNumber ? SMALL_NUMBER_WEIGHT : 1) * used * (1 + (lastIndex + 1 + lastSpokenIndex + 1) / messageCount);
}

type UnitFacts = {
  /** Somebody at work with tools said it: his questions are requests. */
  readonly isRequest: boolean;
  readonly kind: SegmentKind;
  readonly features: UnitFeatures;
  readonly isQuestion: boolean;
  /** The message before, by somebody else, asked something. */
  readonly isAnswer: boolean;
};

/** By what the value of a unit's terms is multiplied. */
export function weighUnit({ kind, features, isRequest, isQuestion, isAnswer }: UnitFacts): number {
  if (kind === 'call') return UNIT_WEIGHT.call;
  if (kind === 'error') return UNIT_WEIGHT.result * UNIT_WEIGHT.failure;
  if (kind === 'result') return UNIT_WEIGHT.result * (features.mentionsFailure ? UNIT_WEIGHT.failure : 1);
  if (isRequest) return UNIT_WEIGHT.request;
  if (isQuestion && !features.hasToken) return UNIT_WEIGHT.pureQuestion;
  let weight = isAnswer ? UNIT_WEIGHT.answer : 1;
  if (features.contentWords < PHRASE_WORDS) weight *= UNIT_WEIGHT.phrase;
  if (features.mentionsTime) weight *= UNIT_WEIGHT.time;
  if (features.hasName) weight *= UNIT_WEIGHT.name;
  if (features.onlyAddressesListener) weight *= UNIT_WEIGHT.onlyAddressesListener;
  return weight;
}

/** A token alone tells little: it pays in full beside three words that say what it is about. */
export function weighContext({ contextWords }: UnitFeatures): number {
  return contextWords >= 3 ? 1 : contextWords === 2 ? 0.75 : 0.5;
}

type TalkSentence = {
  readonly features: UnitFeatures;
  readonly sentence: string;
  /** Its message is one of the first of a day: what is new comes first, and farewells last. */
  readonly opensDay: boolean;
  /** Its message came with a picture or another attachment. */
  readonly showsSomething: boolean;
};

// Each says little; together they tell what people will ask about later from talk that passes the time.
const TALK_WEIGHT = {
  ownPast: 1.15,
  own: 1.1,
  count: 1.15,
  list: 1.15,
  namesIt: 1.3,
  opensDay: 1.15,
  showsSomething: 1.15,
} as const;

// A title, or somebody's words.
const QUOTATION = /["“„«「『《][\p{L}\p{N}][^"“”„«»「」『』《》]{1,60}["”“»」』》]/u;
const LIST = /, [\p{L}\p{N}_-]+,? and [\p{L}\p{N}]/u;

/** By what a sentence of a talk is multiplied: more where it tells what its speaker did, has, or shows. 1 where it does none of it. */
export function weighTalkSentence({ features, sentence, opensDay, showsSomething }: TalkSentence): number {
  let weight = 1;
  if (features.reportsOwnPast) weight *= TALK_WEIGHT.ownPast;
  if (features.mentionsOwn) weight *= TALK_WEIGHT.own;
  if (features.hasCount) weight *= TALK_WEIGHT.count;
  if (features.introducesName) weight *= TALK_WEIGHT.namesIt;
  if (QUOTATION.test(sentence)) weight *= TALK_WEIGHT.namesIt;
  if (LIST.test(sentence)) weight *= TALK_WEIGHT.list;
  if (opensDay) weight *= TALK_WEIGHT.opensDay;
  if (showsSomething) weight *= TALK_WEIGHT.showsSomething;
  return weight;
}
