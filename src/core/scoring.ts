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

/** What is still missing once some keywords are found. Texts with the same keywords share one array. */
type Search = {
  readonly found: readonly string[];
  readonly missing: readonly string[];
  readonly pattern: RegExp | null;
};

/**
 * Creates a matcher for keywords as substrings in any case (Unicode simple case folding). Keywords that differ only in case count once.
 * Empty keywords never match, and none is treated as a pattern.
 */
export function createKeywordMatcher(keywords: readonly string[]): KeywordMatcher {
  const distinct = distinctKeywords(keywords);
  const searches = new Map<string, Search>();
  const searchAfter = (found: readonly string[]): Search => {
    const key = JSON.stringify(found);
    const known = searches.get(key);
    if (known !== undefined) return known;
    const missing = distinct.filter((keyword) => !found.includes(keyword));
    const made = { found, missing, pattern: missing.length === 0 ? null : anyOf(missing) };
    searches.set(key, made);
    return made;
  };
  const start = searchAfter([]);
  return (text) => {
    let search = start;
    for (let from = 0; search.pattern !== null;) {
      search.pattern.lastIndex = from;
      const match = search.pattern.exec(text);
      if (match === null) break;
      // Continue at the same place, since another keyword may begin there too.
      from = match.index;
      const hit = search.missing[match.findIndex((group, at) => at > 0 && group !== undefined) - 1];
      const { found } = search;
      search = searchAfter(distinct.filter((keyword) => keyword === hit || found.includes(keyword)));
    }
    return search.found;
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

/** A pattern for all missing keywords, so that a text is searched once, plus once from each first match. */
function anyOf(keywords: readonly string[]): RegExp {
  const escaped = keywords.map((keyword) => `(${keyword.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')})`);
  return new RegExp(escaped.join('|'), 'giu');
}
