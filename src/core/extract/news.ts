import type { UnitTraits } from './terms.ts';

export type NewsFacts = {
  readonly traits: UnitTraits;
  readonly sentence: string;
  /** Its message is one of the first of a day: what is new comes first, and farewells last. */
  readonly opensDay: boolean;
  /** Its message came with a picture or another attachment. */
  readonly showsSomething: boolean;
};

// Each says little; together they tell what people will ask about later from talk that passes the time.
const NEWS_WEIGHT = {
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
export function weighNews({ traits, sentence, opensDay, showsSomething }: NewsFacts): number {
  let weight = 1;
  if (traits.tellsOwnPast) weight *= NEWS_WEIGHT.ownPast;
  if (traits.namesOwn) weight *= NEWS_WEIGHT.own;
  if (traits.hasCount) weight *= NEWS_WEIGHT.count;
  if (traits.givesName) weight *= NEWS_WEIGHT.namesIt;
  if (QUOTATION.test(sentence)) weight *= NEWS_WEIGHT.namesIt;
  if (LIST.test(sentence)) weight *= NEWS_WEIGHT.list;
  if (opensDay) weight *= NEWS_WEIGHT.opensDay;
  if (showsSomething) weight *= NEWS_WEIGHT.showsSomething;
  return weight;
}
