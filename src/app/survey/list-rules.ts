import type { TranscriptPolicy } from '../../core/policy.ts';
import { ok, type Result } from '../../core/result.ts';
import type { IsoTime } from '../../core/units.ts';
import type { Archive } from '../../ports/archive.ts';
import { transcriptPathOf, withDroppedRules } from '../compact/choices.ts';
import { createLineageReader, wholeConversation } from '../compact/summarize-conversation.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { NO_MATERIAL } from '../read/lineage.ts';
import { type PreparedConversation, readTranscript, type ReadTranscript } from '../read/prepare.ts';
import { isDropped } from '../../core/standing-rules/rules.ts';
import { findStandingRules } from '../summarize/rules-and-requests.ts';
import { openSettled, openUnsettled } from '../write/settle.ts';

export type ListRulesRequest = {
  readonly input: TranscriptInput;
  readonly policy: TranscriptPolicy;
  /** Rules that contain one of these texts are dropped for good: the archive remembers it. */
  readonly drop?: readonly string[];
};

export type RulesReport = {
  readonly schema: 'compact/rules@1';
  readonly file: string;
  readonly format: string;
  /** False: the format does not say what a person typed, so rules are only those that were added by hand. */
  readonly findsTyped: boolean;
  readonly conversations: readonly ConversationRules[];
  /** Texts to drop that no rule contains. */
  readonly unmatched: readonly string[];
};

type ConversationRules = {
  readonly id: string;
  readonly rules: readonly ListedRule[];
  /** Rules that contain one of these texts were dropped. */
  readonly dropped: readonly string[];
};

export type ListedRule = {
  readonly text: string;
  /** summary: an earlier summary states it, and the message is not here. */
  readonly origin: 'typed' | 'added' | 'summary';
  /** The id of the message that states it, and its number in the conversation; null: unknown. */
  readonly message: string | null;
  readonly number: number | null;
  readonly at: IsoTime | null;
};

/**
 * The standing rules that a summary of a whole transcript would have, with the messages that state them. The transcript stays as it is; the
 * archive only remembers what is dropped.
 */
export async function listRules(deps: AppDeps, request: ListRulesRequest): Promise<Result<RulesReport, Failure>> {
  const { input, policy, drop = [] } = request;
  return attempt({ file: input.name, progress: deps.progress }, async () => {
    const transcript = await readTranscript(deps, input, { policy, archive: () => openUnsettled(deps) });
    try {
      const archive = await (drop.length === 0 ? openUnsettled(deps) : openSettled(deps, 'create'));
      const path = transcriptPathOf(deps, input);
      const context = { deps, policy, archive, path };
      const matched = new Set<string>();
      const conversations: ConversationRules[] = [];
      for (const prepared of transcript.conversations) {
        const before = await rulesOf(transcript, prepared, context);
        const dropped = drop.length === 0 ? [] : before.rules.filter(({ text }) => isDropped(text, drop));
        for (const { text } of dropped) {
          const place = { conversationId: before.id, path, chosenAt: deps.runtime.now() };
          await archive?.choices.add({ kind: 'drop-rule', text, ...place });
          for (const one of drop) if (isDropped(text, [one])) matched.add(one);
        }
        conversations.push(dropped.length === 0 ? before : await rulesOf(transcript, prepared, context));
      }
      const { name, marksTyped } = transcript.codec.format;
      return ok({
        schema: 'compact/rules@1',
        file: input.name,
        format: name,
        findsTyped: marksTyped === true || policy.compaction.rulesFromChats === true,
        conversations,
        unmatched: drop.filter((one) => !matched.has(one)),
      });
    } finally {
      transcript.source.close();
    }
  });
}

async function rulesOf(
  transcript: ReadTranscript,
  prepared: PreparedConversation,
  { deps, policy, archive, path }: { deps: AppDeps; policy: TranscriptPolicy; archive: Archive | null; path: string },
): Promise<ConversationRules> {
  const { view, prior, compressedBefore, id } = prepared;
  const { compaction } = await withDroppedRules(policy, archive, { path, conversationIds: [id] });
  const input = wholeConversation(transcript, prepared, compaction);
  const { load, readStale } = input;
  const lineage =
    prior.kind === 'lineage' ? await createLineageReader(deps, transcript, archive)(prior.cycle) : NO_MATERIAL;
  const found = await findStandingRules(input, async () => lineage);
  const before = [...(readStale?.().typed ?? []), ...lineage.typed];
  const places = new Map(before.map(({ index, source }) => [index, source]));
  const placeOf = (number: number): { readonly id: string; readonly at: Date | null } | undefined => {
    const here = view.messages[number - compressedBefore - 1];
    if (here === undefined) return places.get(number);
    const { id: message, created_at: at } = load(number - compressedBefore - 1);
    return { id: message, at };
  };
  return {
    id,
    dropped: found?.dropped ?? [],
    rules: (found?.rules ?? []).map(({ text, index }): ListedRule => {
      const place = index === null ? undefined : placeOf(index);
      return {
        text,
        origin: index === null ? 'added' : place === undefined ? 'summary' : 'typed',
        message: place?.id ?? null,
        number: index,
        at: place?.at?.toISOString() ?? null,
      };
    }),
  };
}
