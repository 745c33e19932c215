import { clipArchiveBody } from '../../core/clip-archive.ts';
import type { ConversationMessage } from '../../core/message.ts';
import { batchTokensOf, type CompactionConfig } from '../../core/policy.ts';
import {
  applyByHand,
  findRules,
  formatRules,
  isDropped,
  type ParsedRules,
  parseRules,
  type Rule,
  rulesBudget,
  type StatingMessage,
  type TypedMessage,
} from '../../core/standing-rules/rules.ts';
import type { LineageMaterial, Prior } from '../read/lineage.ts';
import { CHARS_PER_TOKEN } from '../../core/tokens.ts';

/** What comes before a producer's own summary: typed messages, numbered from 1, and the text of a clip-archive of ours. */
export type StaleRules = { readonly typed: readonly TypedMessage[]; readonly clip: string | null };

/** The messages that leave the transcript, and what is known of those that left before. */
export type LeavingMessages = {
  readonly prior: Prior;
  /** Messages that earlier cycles compressed. */
  readonly compressedBefore: number;
  /** Indices of messages; each chunk in the order in which it was said. */
  readonly chunks: readonly (readonly number[])[];
  readonly load: (index: number) => ConversationMessage;
  /** What a producer's own compaction hides; nothing by default. */
  readonly readStale?: () => StaleRules;
  /** False: nobody typed anything in this message. Without it, every message is read. */
  readonly isTyped?: (index: number) => boolean;
  /** The leaving messages that state rules, in order, if they were all read before. */
  readonly stating?: readonly StatingMessage[];
  /** The messages that stay and that a person typed, ascending; nothing by default. */
  readonly keptRequests?: readonly number[];
  readonly config: CompactionConfig;
};

/**
 * The section of the user's standing rules in the clip-archive; null: there are none, or they are switched off. Rules are found again in
 * everything that the user typed during the whole conversation. The section of an earlier clip-archive counts for what the archive does not
 * have, and for rules added or dropped by hand.
 */
export async function standingRules(
  input: LeavingMessages,
  readLineage: () => Promise<Pick<LineageMaterial, 'typed'>>,
): Promise<string | null> {
  const found = await findStandingRules(input, readLineage);
  if (found === null) return null;
  const { rules, dropped } = found;
  return formatRules(rules, { maxChars: rulesBudget(batchTokensOf(input.config)), dropped });
}

/** The same rules as data, with the texts whose rules were dropped; null: they are switched off. */
export async function findStandingRules(
  input: LeavingMessages,
  readLineage: () => Promise<Pick<LineageMaterial, 'typed'>>,
): Promise<Pick<ParsedRules, 'rules' | 'dropped'> | null> {
  const { config, prior } = input;
  if (config.keepRules === false) return null;
  const stale = input.readStale?.() ?? { typed: [], clip: null };
  const before = readBefore(prior, stale.clip);
  const archived = prior.kind === 'lineage' ? (await readLineage()).typed : [];
  const first = archived.reduce((least, { index }) => Math.min(least, index), input.compressedBefore + 1);
  const isOlder = ({ index }: Rule): boolean => index !== null && (prior.kind !== 'lineage' || index < first);
  const typed = [...stale.typed, ...archived, ...(input.stating ?? typedNow(input))];
  const found = findRules(typed, before.rules.filter(isOlder), before.rules);
  const given = config.rules ?? [];
  // A rule that is added now wins over an earlier decision to drop it.
  const dropped = [
    ...before.dropped.filter((text) => !given.some((rule) => isDropped(rule, [text]))),
    ...(config.dropRules ?? []),
  ];
  const byHand = before.rules.flatMap((rule) => (rule.index === null ? [rule.text] : []));
  const add = new Set([...byHand.filter((text) => !isDropped(text, dropped)), ...given]);
  return { rules: applyByHand(found, { add: [...add], drop: dropped }), dropped };
}

const NOTHING: Pick<ParsedRules, 'rules' | 'dropped'> = { rules: [], dropped: [] };

/** The rules in a clip-archive that only we or the producer can have written. */
function readBefore(prior: Prior, staleClip: string | null): Pick<ParsedRules, 'rules' | 'dropped'> {
  if (staleClip !== null) return parseRules(clipArchiveBody(staleClip) ?? '');
  if (prior.kind === 'none') return NOTHING;
  return prior.kind === 'foreign' ? prior.rules : parseRules(clipArchiveBody(prior.text) ?? '');
}

/** What may state rules in the messages that leave now. */
function* typedNow({ chunks, load, isTyped, compressedBefore }: LeavingMessages): Generator<TypedMessage> {
  for (const index of chunks.flat().sort((a, b) => a - b)) {
    if (isTyped?.(index) === false) continue;
    const { ruleText } = load(index);
    if (ruleText !== undefined) yield { index: compressedBefore + index + 1, text: ruleText };
  }
}

/** A summary has at least three times as much room as the list of requests before it. */
const REQUESTS_SHARE = 0.25;

/** The requests of all cycles, listed before a model's summaries. A hand-over contains them already, and a conversation between people has none. */
export async function requestsBefore(
  { config: { requestTokens = 0 }, chunks, load }: LeavingMessages,
  { isVerbatim, readLineage }: { isVerbatim: boolean; readLineage: () => Promise<Pick<LineageMaterial, 'messages'>> },
): Promise<readonly string[]> {
  if (requestTokens === 0 || isVerbatim) return [];
  const { kindOfConversation, writeRequests } = await import('../../core/handover/handover.ts');
  const earlier = (await readLineage()).messages;
  const going = chunks.flat().sort((a, b) => a - b);
  const messages = [...earlier, ...going.map(load)];
  if (kindOfConversation(messages) === 'talk') return [];
  const chars = messages.reduce((sum, { content }) => sum + content.length, 0);
  const maxChars = Math.floor(Math.min(requestTokens * CHARS_PER_TOKEN, chars * REQUESTS_SHARE));
  return writeRequests(messages, { maxChars }).map(({ text }) => text);
}
