import { lazily } from './lazy.ts';
import type { ConversationMessage, Role } from './message.ts';
import { DEFAULT_SCORING_CONFIG, type ImportanceScoringConfig } from './policy.ts';

/** What a message's score is computed from, without its text. */
export type ScoreFeatures = {
  readonly roleWeight: number;
  readonly hasQuestion: boolean;
  readonly hasToolCall: boolean;
  /** The configured keywords in the text, spelled as configured. Messages with the same keywords share one array. */
  readonly keywords: readonly string[];
  /** In UTF-16 units, capped where more no longer matters. */
  readonly contentLength: number;
};

/** A part of a score: 'role' (weight × recency), 'question', 'tool call', `keyword:WORD` or 'length'. */
export type ScoreTerm = { readonly name: string; readonly value: number };

/** A score with its parts. `score` is exactly the sum of the terms' values from left to right. */
export type ScoreExplanation = {
  readonly score: number;
  /** The factor for the role's weight. */
  readonly recency: number;
  /** The terms that are not zero, and always the role's. */
  readonly terms: readonly ScoreTerm[];
};

const MAX_LENGTH_POINTS = 3; // length alone must not outweigh content, since long text is often pasted
const CHARS_PER_POINT = 100;

export function readFeatures(
  msg: ConversationMessage,
  config: ImportanceScoringConfig = DEFAULT_SCORING_CONFIG,
): ScoreFeatures {
  return {
    roleWeight: roleWeightOf(msg, config),
    hasQuestion: msg.content.includes('?'),
    hasToolCall: makesCalls(msg),
    keywords: matcherOf(config.importantKeywords)(msg.content),
    contentLength: msg.content.length,
  };
}

const ROLES = ['user', 'assistant', 'system', 'tool'] as const satisfies readonly Role[];

// A transcript usually has a few thousand distinct ones. More would mean an unusual list of keywords.
const MAX_SHARED_FEATURES = 20_000;

/** Creates a `readFeatures` whose results are shared between messages that score the same, because a transcript's table holds one per message. */
export function createFeatureReader(config: ImportanceScoringConfig): (msg: ConversationMessage) => ScoreFeatures {
  const enough = enoughLength(config);
  const shared = new Map<readonly string[], Map<number, ScoreFeatures>>();
  let count = 0;
  return (msg) => {
    const read = readFeatures(msg, config);
    const features = read.contentLength > enough ? { ...read, contentLength: enough } : read;
    const flags = (features.hasQuestion ? 1 : 0) + (features.hasToolCall ? 2 : 0);
    const key = (features.contentLength * (ROLES.length + 1) + ROLES.indexOf(msg.role) + 1) * 4 + flags;
    const alike = shared.get(features.keywords) ?? new Map<number, ScoreFeatures>();
    const known = alike.get(key);
    if (known !== undefined) return known;
    if (count >= MAX_SHARED_FEATURES) return features;
    count += 1;
    shared.set(features.keywords, alike.set(key, features));
    return features;
  };
}

/** The length beyond which a message's score no longer changes. */
function enoughLength({ contentLengthWeight }: ImportanceScoringConfig): number {
  if (contentLengthWeight <= 0) return Number.POSITIVE_INFINITY;
  return Math.ceil((MAX_LENGTH_POINTS * CHARS_PER_POINT) / contentLengthWeight) + 1;
}

/** The score of the message at `index` (from 0) of `total`. Allocates nothing. */
export function scoreFeatures(
  features: ScoreFeatures,
  index: number,
  total: number,
  config: ImportanceScoringConfig,
): number {
  let score = features.roleWeight * recencyOf(index, total, config);
  if (features.hasQuestion) score += config.questionBonus;
  if (features.hasToolCall) score += config.toolCallBonus;
  for (let left = features.keywords.length; left > 0; left -= 1) score += config.keywordBonus;
  return score + lengthPoints(features, config);
}

export function explainFeatures(
  features: ScoreFeatures,
  index: number,
  total: number,
  config: ImportanceScoringConfig,
): ScoreExplanation {
  const recency = recencyOf(index, total, config);
  const terms: ScoreTerm[] = [{ name: 'role', value: features.roleWeight * recency }];
  const add = (name: string, value: number): void => {
    if (value !== 0) terms.push({ name, value });
  };
  if (features.hasQuestion) add('question', config.questionBonus);
  if (features.hasToolCall) add('tool call', config.toolCallBonus);
  for (const keyword of features.keywords) add(`keyword:${keyword}`, config.keywordBonus);
  add('length', lengthPoints(features, config));
  return { score: scoreFeatures(features, index, total, config), recency, terms };
}

/** How important a message is; higher scores are kept longer. `index` counts from 0 within the `total` messages scored together. */
export function scoreMessage(
  msg: ConversationMessage,
  index: number,
  total: number,
  config: ImportanceScoringConfig = DEFAULT_SCORING_CONFIG,
): number {
  return scoreFeatures(readFeatures(msg, config), index, total, config);
}

/** The same score as `scoreMessage`, with its parts. */
export function explainScore(
  msg: ConversationMessage,
  index: number,
  total: number,
  config: ImportanceScoringConfig = DEFAULT_SCORING_CONFIG,
): ScoreExplanation {
  return explainFeatures(readFeatures(msg, config), index, total, config);
}

function roleWeightOf(msg: ConversationMessage, config: ImportanceScoringConfig): number {
  if (msg.role === 'system') return config.roleWeightSystem;
  if (msg.role === 'assistant') return config.roleWeightAssistant;
  if (msg.role === 'tool') return config.roleWeightTool ?? config.roleWeightUser;
  return config.roleWeightUser;
}

function makesCalls(msg: ConversationMessage): boolean {
  if (msg.tool_calls !== undefined && msg.tool_calls.length > 0) return true;
  return msg.parts !== undefined && msg.parts.some((part) => part.kind === 'call');
}

function recencyOf(index: number, total: number, config: ImportanceScoringConfig): number {
  return config.recencyDecay ** (total - 1 - index);
}

function lengthPoints(features: ScoreFeatures, config: ImportanceScoringConfig): number {
  return Math.min((features.contentLength / CHARS_PER_POINT) * config.contentLengthWeight, MAX_LENGTH_POINTS);
}

// Building the matcher costs more than using it on a short message, and all messages of a transcript share one list.
const matchers = new WeakMap<readonly string[], KeywordMatcher>();

function matcherOf(keywords: readonly string[]): KeywordMatcher {
  const known = matchers.get(keywords);
  if (known !== undefined) return known;
  const created = createKeywordMatcher(keywords);
  matchers.set(keywords, created);
  return created;
}

/** Returns the keywords that a text contains, in the list's order. Equal results are one shared array. */
type KeywordMatcher = (text: string) => readonly string[];

/**
 * Creates a matcher for keywords as substrings in any case (Unicode simple case folding). Keywords that differ only in case count once.
 * Empty keywords never match, and none is treated as a pattern.
 */
export function createKeywordMatcher(keywords: readonly string[]): KeywordMatcher {
  const distinct = distinctKeywords(keywords);
  const arePlain = distinct.length <= MAX_SCANNED && distinct.every((keyword) => PLAIN_WORD.test(keyword));
  const scan = arePlain ? createLetterScan(distinct) : createPatternScan(distinct);
  const known = new Map<number | string, readonly string[]>();
  return (text) => {
    const key = scan(text);
    const found = known.get(key) ?? distinct.filter((_, at) => isIn(key, at));
    known.set(key, found);
    return found;
  };
}

function distinctKeywords(keywords: readonly string[]): readonly string[] {
  const byFold = new Map<string, string>();
  for (const keyword of keywords) {
    const fold = keyword.toLowerCase();
    if (fold !== '' && !byFold.has(fold)) byFold.set(fold, keyword);
  }
  return [...byFold.values()];
}

/** Which keywords a text contains: bits from the lowest on, or a digit for each. */
type Scan = (text: string) => number | string;

function isIn(found: number | string, at: number): boolean {
  return typeof found === 'string' ? found[at] === '1' : (found & (1 << at)) !== 0;
}

function createPatternScan(keywords: readonly string[]): Scan {
  const patterns = keywords.map((keyword) => new RegExp(keyword.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'iu'));
  return (text) => patterns.map((pattern) => (pattern.test(text) ? '1' : '0')).join('');
}

/** What the scan of letters can search for: one bit each, and three letters, of which every second place of a text shows two. */
const MAX_SCANNED = 31;
const PLAIN_WORD = /^[a-z]{3,}$/i;
/** From the most frequent letter in English to the rarest. */
const LETTERS = 'etaoinsrhldcumfpgwybvkxjqz';

/** For each character its place among the letters, from 1, in any case; other characters have 0. */
const letterNumbers = lazily(() => {
  const numbers = new Uint8Array(65_536);
  const variants = [LETTERS, LETTERS.toUpperCase(), LETTERS.replace('s', '\u017f').replace('k', '\u212a')];
  for (const letters of variants)
    for (let at = 0; at < letters.length; at += 1) numbers[letters.charCodeAt(at)] = at + 1;
  return numbers;
});

/** Looks at every second pair of characters, and at the text around those that are the rarest of a keyword: in half the time of a pattern. */
function createLetterScan(keywords: readonly string[]): Scan {
  const numbers = letterNumbers();
  const numberAt = (text: string, at: number): number => numbers[text.charCodeAt(at)] ?? 0;
  const pairAt = (text: string, at: number): number => (numberAt(text, at) << 5) | numberAt(text, at + 1);
  const places: { readonly keyword: string; readonly bit: number; readonly at: number }[][] = [];
  for (const [bit, keyword] of keywords.entries()) {
    const rareness = (at: number): number =>
      numberAt(keyword, at) + numberAt(keyword, at + 1) + numberAt(keyword, at + 2);
    const starts = Array.from({ length: keyword.length - 2 }, (_, at) => at);
    const rarest = starts.reduce((best, at) => (rareness(at) > rareness(best) ? at : best));
    for (const at of [rarest, rarest + 1]) (places[pairAt(keyword, at)] ??= []).push({ keyword, bit: 1 << bit, at });
  }
  const isPlace = Uint8Array.from({ length: 1024 }, (_, pair) => (places[pair] === undefined ? 0 : 1));
  const standsAt = (text: string, start: number, keyword: string): boolean => {
    if (start < 0 || start + keyword.length > text.length) return false;
    for (let at = 0; at < keyword.length; at += 1)
      if (numberAt(text, start + at) !== numberAt(keyword, at)) return false;
    return true;
  };
  return (text) => {
    let found = 0;
    for (let start = 0; start < text.length - 1; start += 2) {
      const pair = pairAt(text, start);
      if (isPlace[pair] === 0) continue;
      for (const { keyword, bit, at } of places[pair] ?? [])
        if ((found & bit) === 0 && standsAt(text, start - at, keyword)) found |= bit;
    }
    return found;
  };
}
