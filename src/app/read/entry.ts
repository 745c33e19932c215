import type { ConversationMessage } from '../../core/message.ts';
import type { ImportanceScoringConfig } from '../../core/policy.ts';
import { createFeatureReader } from '../../core/scoring.ts';
import { tokensOfBytes } from '../../core/tokens.ts';
import type { Decoded, Entry } from '../../core/transcript.ts';
import type { Runtime } from '../../ports/runtime.ts';

/** Measures a message for the plan, which never sees its text. */
export type MeasureMessage = (message: ConversationMessage) => Pick<Entry, 'features' | 'tokens' | 'typedTokens'>;

export function createMeasure(
  { utf8Length }: Pick<Runtime, 'utf8Length'>,
  scoring: ImportanceScoringConfig,
): MeasureMessage {
  const readFeatures = createFeatureReader(scoring);
  const tokensOf = (text: string): number => tokensOfBytes(utf8Length(text));
  return (message) => {
    const { content, typed } = message;
    const measured = { features: readFeatures(message), tokens: tokensOf(content) };
    if (typed === undefined) return measured;
    return { ...measured, typedTokens: typed === content ? measured.tokens : tokensOf(typed) };
  };
}

type Writable<T> = { -readonly [key in keyof T]: T[key] };

/** Turns a decoded line into what the plan keeps of it. Assigns one key after another, which is several times as fast as spreading. */
export function toEntry(
  decoded: Decoded,
  { line, start, length }: { readonly line: number; readonly start: number; readonly length: number },
  { share, measure }: { readonly share: ShareText; readonly measure: MeasureMessage | undefined },
): Entry {
  const { conversation, recordId, parentId, isSide, isAside, calls, results, groupKey, message } = decoded;
  const { isPrompt, isUnmarked, latestKey, hidesBefore } = decoded;
  const entry: Writable<Entry> = { kind: decoded.kind, line, start, length };
  if (conversation !== undefined) entry.conversation = share(conversation);
  if (recordId !== undefined) entry.recordId = share(recordId);
  if (parentId !== undefined) entry.parentId = parentId === null ? null : share(parentId);
  if (isSide !== undefined) entry.isSide = isSide;
  if (isAside !== undefined) entry.isAside = isAside;
  if (calls !== undefined) entry.calls = calls.map(share);
  if (results !== undefined) entry.results = results.map(share);
  if (groupKey !== undefined) entry.groupKey = share(groupKey);
  if (isPrompt !== undefined) entry.isPrompt = isPrompt;
  if (isUnmarked !== undefined) entry.isUnmarked = isUnmarked;
  if (latestKey !== undefined) entry.latestKey = latestKey;
  if (hidesBefore !== undefined) entry.hidesBefore = hidesBefore;
  if (message === undefined) return entry;
  entry.id = share(message.id);
  entry.role = message.role;
  if (measure === undefined) return entry;
  const { features, tokens, typedTokens } = measure(message);
  entry.features = features;
  entry.tokens = tokens;
  if (typedTokens !== undefined) entry.typedTokens = typedTokens;
  return entry;
}

/** Repeated ids follow soon: a parent's in its children, a call's in its result, a conversation's in every line. */
const MAX_REMEMBERED = 2_000;

export type ShareText = (text: string) => string;

/** Makes equal ids of nearby records share one string. Every parsed line has its own strings, and the index keeps half a dozen for each line. */
export function createTextSharer(): ShareText {
  const recent = new Map<string, string>();
  return (text) => {
    const known = recent.get(text);
    if (known !== undefined) return known;
    if (recent.size >= MAX_REMEMBERED) recent.clear();
    recent.set(text, text);
    return text;
  };
}
