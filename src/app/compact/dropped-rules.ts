import type { TranscriptPolicy } from '../../core/policy.ts';
import type { Archive } from '../../ports/archive.ts';
import type { DroppedRule } from '../../ports/retention.ts';
import type { AppDeps } from '../contract/deps.ts';
import type { CompactFileRequest, TranscriptInput } from '../contract/requests.ts';
import type { Prepared } from '../read/prepare.ts';
import { isDropped } from '../summarize/rules-and-requests.ts';
import { openUnsettled } from '../write/settle.ts';

/** Where rules are dropped. */
export type RulePlace = Pick<DroppedRule, 'path'> & { readonly conversationIds: readonly string[] };

/** The path by which a transcript, its `x.compact.jsonl` and its `x.restored.jsonl` are known. */
export function rulePathOf({ files }: Pick<AppDeps, 'files'>, { path }: TranscriptInput): string {
  return files.absolute(path).replace(/(?:\.compact|\.restored)+(?=(?:\.[^./\\]+){0,2}$)/i, '');
}

/** The policy with the rules that were dropped for good in these conversations. Rules that it adds are no longer dropped. */
export async function withDroppedRules(
  policy: TranscriptPolicy,
  archive: Archive | null,
  place: RulePlace,
): Promise<TranscriptPolicy> {
  const stored = (await archive?.droppedRules.list()) ?? [];
  const { rules = [], dropRules = [] } = policy.compaction;
  const own = stored.filter((rule) => isAt(rule, place) && !isAdded(rule, rules));
  if (own.length === 0) return policy;
  const texts = new Set([...dropRules, ...own.map(({ text }) => text)]);
  return { ...policy, compaction: { ...policy.compaction, dropRules: [...texts] } };
}

/** The request with the rules that were dropped for good; a rule that the request adds is dropped no longer. */
export async function applyDroppedRules(
  deps: AppDeps,
  request: CompactFileRequest,
  { conversations }: Pick<Prepared, 'conversations'>,
): Promise<CompactFileRequest> {
  const { policy, output, input } = request;
  if (policy.compaction.keepRules === false) return request;
  const archive = await openUnsettled(deps);
  const place = { path: rulePathOf(deps, input), conversationIds: conversations.map(({ id }) => id) };
  const given = policy.compaction.rules ?? [];
  if (archive !== null && !archive.isReadOnly && output.kind !== 'none' && given.length > 0) {
    for (const rule of await archive.droppedRules.list())
      if (isAt(rule, place) && isAdded(rule, given)) await archive.droppedRules.remove(rule);
  }
  return { ...request, policy: await withDroppedRules(policy, archive, place) };
}

function isAt(rule: DroppedRule, { path, conversationIds }: RulePlace): boolean {
  return rule.path === path && conversationIds.includes(rule.conversationId);
}

function isAdded({ text }: DroppedRule, given: readonly string[]): boolean {
  return given.some((rule) => isDropped(rule, [text]));
}
