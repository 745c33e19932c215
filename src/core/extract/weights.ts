import type { SpeakerKind, TermIndex, TokenUse, UnitFeatures } from './terms.ts';
import type { SegmentKind } from './units.ts';
import { lazily } from '../lazy.ts';

// Found by measuring chats and coding sessions. Results are flat around these values, so none of them is critical.

/** A repeated word gains count^power; a repeated token gains almost nothing. */
const WORD_POWER = 0.8;
const TOKEN_POWER = 0.03;
/** A bonus for sentences of a message that already has a chosen one, since half a message says less than half of the whole. */
const SAME_MESSAGE_BONUS = 1.2;

// The worth of a token, in words of average rarity.
const TOKEN_SCALE = 120;
// Numbers like 12 and 150 are usually counts, not names.
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
  // A question shows what somebody wanted to know, not what is true, so it comes last.
  pureQuestion: 0.02,
} as const;
// Units with fewer content words are usually exclamations.
const PHRASE_WORDS = 3;
// Without a stop-word list, a word counts as a stop word if more than this share of the units contain it, unless there are few units.
const COMMON_SHARE = 0.025;
const MIN_COMMON_UNITS = 4;
const MIN_UNITS_FOR_COMMON = 40;
const RARITY_SMOOTHING = 2;

/** What each term is worth the first time it is kept, by term number. */
export function weighTerms(
  index: TermIndex,
  { messageCount, isEnglish }: { messageCount: number; isEnglish: boolean },
): Float64Array {
  const units = index.unitCount();
  const knowsCommon = !isEnglish && units >= MIN_UNITS_FOR_COMMON;
  const maxFrequency = knowsCommon ? Math.max(MIN_COMMON_UNITS, units * COMMON_SHARE) : Infinity;
  const worth = new Float64Array(index.termCount());
  for (let term = 0; term < worth.length; term += 1) {
    const use = index.tokenUseOf(term);
    const frequency = index.frequencyOf(term);
    if (use !== null) worth[term] = TOKEN_SCALE * tokenWeight(use, messageCount);
    else if (frequency <= maxFrequency) worth[term] = Math.log(1 + units / (frequency + RARITY_SMOOTHING));
  }
  return worth;
}

/** Combines who used a token, how often (as a logarithm) and how recently (up to three times as much at the end as at the start). */
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
  /** A user of tools said it, so its questions are requests. */
  readonly isRequest: boolean;
  readonly kind: SegmentKind;
  readonly features: UnitFeatures;
  readonly isQuestion: boolean;
  /** The previous message was somebody else's question. */
  readonly isAnswer: boolean;
};

/** The factor for the worth of a unit's terms. */
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

/** A token needs context: it gets its full worth next to three words that explain it. */
export function weighContext({ contextWords }: UnitFeatures): number {
  return contextWords >= 3 ? 1 : contextWords === 2 ? 0.75 : 0.5;
}

type TalkSentence = {
  readonly features: UnitFeatures;
  readonly sentence: string;
  /** Its message is one of the first of its day. People share news first and say goodbye last. */
  readonly opensDay: boolean;
  /** Its message came with a picture or another attachment. */
  readonly showsSomething: boolean;
};

// Each is a weak sign, but together they find what people will ask about later in small talk.
const TALK_WEIGHT = {
  ownPast: 1.15,
  own: 1.1,
  count: 1.15,
  list: 1.15,
  namesIt: 1.3,
  opensDay: 1.15,
  showsSomething: 1.15,
} as const;

// A title or a quotation.
const QUOTATION = /["“„«「『《][\p{L}\p{N}][^"“”„«»「」『』《》]{1,60}["”“»」』》]/u;
const LIST = lazily(() => /, [\p{L}\p{N}_-]+,? and [\p{L}\p{N}]/u);

/** The factor for a sentence of small talk: above 1 if it says what its speaker did, has or shows. */
export function weighTalkSentence({ features, sentence, opensDay, showsSomething }: TalkSentence): number {
  let weight = 1;
  if (features.reportsOwnPast) weight *= TALK_WEIGHT.ownPast;
  if (features.mentionsOwn) weight *= TALK_WEIGHT.own;
  if (features.hasCount) weight *= TALK_WEIGHT.count;
  if (features.introducesName) weight *= TALK_WEIGHT.namesIt;
  if (QUOTATION.test(sentence)) weight *= TALK_WEIGHT.namesIt;
  if (LIST().test(sentence)) weight *= TALK_WEIGHT.list;
  if (opensDay) weight *= TALK_WEIGHT.opensDay;
  if (showsSomething) weight *= TALK_WEIGHT.showsSomething;
  return weight;
}

/** Rates units by what they add to the text kept so far: a term that was kept before adds little. */
type GainTracker = {
  readonly gainOf: (unit: number) => number;
  readonly keep: (unit: number) => void;
  /** Counts terms of other text as kept. */
  readonly cover: (terms: readonly number[]) => void;
};

type GainOptions = {
  readonly index: TermIndex;
  /** By term. */
  readonly worth: Float64Array;
  /** By unit: the factor for its terms, the further factor for its tokens, and the number of its passage. */
  readonly units: readonly { readonly weight: number; readonly context: number; readonly passage: number }[];
};

const MAX_COUNT = 63;

export function createGainTracker({ index, worth, units }: GainOptions): GainTracker {
  const counts = new Uint32Array(worth.length);
  const isToken = new Uint8Array(worth.length);
  for (let term = 0; term < worth.length; term += 1) isToken[term] = index.tokenUseOf(term) === null ? 0 : 1;
  const wordSteps = stepsOf(WORD_POWER);
  const tokenSteps = stepsOf(TOKEN_POWER);
  const touched = new Set<number>();
  const sum = { words: 0, tokens: 0 };
  const addGain = (term: number): void => {
    const count = Math.min(counts[term] ?? 0, MAX_COUNT);
    if (isToken[term] === 1) sum.tokens += (worth[term] ?? 0) * (tokenSteps[count] ?? 0);
    else sum.words += (worth[term] ?? 0) * (wordSteps[count] ?? 0);
  };
  const count = (term: number): void => {
    counts[term] = (counts[term] ?? 0) + 1;
  };
  return {
    gainOf: (place) => {
      const unit = units[place];
      if (unit === undefined) return 0;
      sum.words = 0;
      sum.tokens = 0;
      index.forEachTermOf(place, addGain);
      const bonus = touched.has(unit.passage) ? SAME_MESSAGE_BONUS : 1;
      return unit.weight * (bonus * sum.words + unit.context * sum.tokens);
    },
    keep: (place) => {
      const unit = units[place];
      if (unit !== undefined) touched.add(unit.passage);
      index.forEachTermOf(place, count);
    },
    cover: (terms) => terms.forEach(count),
  };
}

/** What the next repetition adds: (count + 1)^power − count^power. */
function stepsOf(power: number): Float64Array {
  return Float64Array.from({ length: MAX_COUNT + 1 }, (_, before) => (before + 1) ** power - before ** power);
}

// A unit is also new when it has this many new words and they make up this share of its words.
const MIN_NEW_WORDS = 3;
const MIN_NEW_SHARE = 0.5;

/** Whether a unit says something that text with the covered terms does not: a new technical name, or mostly new words. */
export function isNovel(index: TermIndex, unit: number, covered: ReadonlySet<number>): boolean {
  let words = 0;
  let newWords = 0;
  let hasNewToken = false;
  index.forEachTermOf(unit, (term) => {
    const use = index.tokenUseOf(term);
    const isNew = !covered.has(term);
    if (use !== null) {
      hasNewToken ||= isNew && !use.isSmallNumber;
      return;
    }
    words += 1;
    if (isNew) newWords += 1;
  });
  return hasNewToken || (newWords >= MIN_NEW_WORDS && newWords >= words * MIN_NEW_SHARE);
}
