import type { TermIndex, TokenUse } from './terms.ts';

/** The numbers of the summarizer's value of a set of units. */
export type ExtractWeights = {
  /** A repeat of a word pays by count^wordPower. */
  readonly wordPower: number;
  readonly tokenPower: number;
  /** What a token is worth, in words. */
  readonly tokenScale: number;
  readonly answer: number;
  readonly time: number;
  readonly name: number;
  readonly addressOnly: number;
  readonly call: number;
  readonly result: number;
  readonly error: number;
  readonly question: number;
  readonly user: number;
  readonly userToken: number;
  readonly assistantToken: number;
  readonly callToken: number;
  readonly resultToken: number;
  readonly recency: number;
  readonly spokenRecency: number;
};

export const DEFAULT_WEIGHTS: ExtractWeights = {
  wordPower: 0.75,
  tokenPower: 0.15,
  tokenScale: 60,
  answer: 1.4,
  time: 1.3,
  name: 1.2,
  addressOnly: 0.8,
  call: 0.8,
  result: 0.2,
  error: 1.5,
  question: 0,
  user: 1,
  userToken: 1,
  assistantToken: 0.7,
  callToken: 0.5,
  resultToken: 0.1,
  recency: 1,
  spokenRecency: 1,
};

/** What each term is worth the first time it is kept, by its id. */
export function weighTerms(index: TermIndex, { weights, messageCount, isEnglish }: { weights: ExtractWeights; messageCount: number; isEnglish: boolean }): Float64Array {
  const units = index.unitCount();
  const worth = new Float64Array(index.termCount());
  for (let term = 0; term < worth.length; term += 1) {
    const use = index.tokenUse(term);
    const frequency = index.frequencyOf(term);
    if (use === null) {
      const isCommon = !isEnglish && units >= 40 && frequency > units * 0.06;
      worth[term] = isCommon ? 0 : Math.log(1 + units / Math.max(1, frequency));
    } else {
      worth[term] = weights.tokenScale * tokenWeight(use, messageCount, weights);
    }
  }
  return worth;
}

function tokenWeight(use: TokenUse, messageCount: number, weights: ExtractWeights): number {
  const used =
    weights.userToken * Math.log1p(use.user) +
    weights.assistantToken * Math.log1p(use.assistant) +
    weights.callToken * Math.log1p(use.call) +
    weights.resultToken * Math.log1p(use.result);
  const recency = (use.lastIndex + 1) / messageCount;
  const spoken = (use.lastSpokenIndex + 1) / messageCount;
  return used * (1 + weights.recency * recency + weights.spokenRecency * spoken);
}
