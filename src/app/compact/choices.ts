import { findNamed } from '../../core/message.ts';
import type { PlanMessage } from '../../core/plan/view.ts';
import type { TranscriptPolicy } from '../../core/policy.ts';
import { isDropped } from '../../core/standing-rules/rules.ts';
import type { Archive } from '../../ports/archive.ts';
import type { Choice } from '../../ports/retention.ts';
import type { AppDeps } from '../contract/deps.ts';
import { stop } from '../contract/failure.ts';
import type { CompactFileRequest, TranscriptInput } from '../contract/requests.ts';
import type { IndexedTranscript, Pin, Prepared, PreparedConversation } from '../read/prepare.ts';
import { trimRecord } from '../read/records.ts';
import { openForStoring, openUnsettled } from '../write/settle.ts';

// What a person chose for a conversation for good: rules to drop, and messages to keep.

/** Where rules are dropped. */
export type RulePlace = Pick<Choice, 'path'> & { readonly conversationIds: readonly string[] };

/** The path by which a transcript, its `x.compact.jsonl` and its `x.restored.jsonl` are known. */
export function transcriptPathOf({ files }: Pick<AppDeps, 'files'>, { path }: TranscriptInput): string {
  return files.absolute(path).replace(/(?:\.compact|\.restored)+(?=(?:\.[^./\\]+){0,2}$)/i, '');
}

/** The policy with the rules that were dropped for good in these conversations. Rules that it adds are no longer dropped. */
export async function withDroppedRules(policy: TranscriptPolicy, archive: Archive | null, place: RulePlace) {
  const stored = (await archive?.choices.list()) ?? [];
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
  const place = { path: transcriptPathOf(deps, input), conversationIds: conversations.map(({ id }) => id) };
  const given = policy.compaction.rules ?? [];
  if (archive !== null && !archive.isReadOnly && output.kind !== 'none' && given.length > 0) {
    for (const rule of await archive.choices.list())
      if (isAt(rule, place) && isAdded(rule, given)) await archive.choices.remove(rule);
  }
  return { ...request, policy: await withDroppedRules(policy, archive, place) };
}

function isAt(rule: Choice, { path, conversationIds }: RulePlace): boolean {
  return rule.kind === 'drop-rule' && rule.path === path && conversationIds.includes(rule.conversationId);
}

function isAdded({ text }: Choice, given: readonly string[]): boolean {
  return given.some((rule) => isDropped(rule, [text]));
}

type Pinning = Pick<CompactFileRequest, 'input' | 'policy'> & {
  /** Null: there is none. */
  readonly archive: Archive | null;
  /** Whether the archive is to remember what the policy keeps, or keeps no longer. */
  readonly isStored: boolean;
};

/** The transcript with its pinned messages: those that the archive remembers, and those that the policy names. */
export async function withPins<T extends IndexedTranscript>(
  deps: AppDeps,
  transcript: T,
  { input, policy, archive, isStored }: Pinning,
): Promise<T> {
  const { keep = [], unkeep = [] } = policy;
  const { conversations } = transcript;
  const isHere = (id: string): boolean => conversations.some((one) => one.id === id);
  const all = (await archive?.choices.list()) ?? [];
  const stored = all.filter(({ kind, conversationId }) => kind === 'pin' && isHere(conversationId));
  if (stored.length + keep.length + unkeep.length === 0) return transcript;
  const rows = await listPinnable(deps, transcript, archive);
  const check = (name: string, found: ReadonlySet<string>, none: string): void => {
    const some = [...found].slice(0, 3).join(', ');
    const problem = found.size === 0 ? none : `names ${found.size} messages: ${some}${found.size > 3 ? ', …' : ''}`;
    if (found.size !== 1) stop({ kind: 'no-message', file: input.name, name, problem });
  };
  const place = { path: transcriptPathOf(deps, input), chosenAt: deps.runtime.now() };
  const added = keep.flatMap((name) => {
    const named = findNamed(rows, name);
    check(name, new Set(named.map(({ id }) => id)), 'is not a message in it now');
    return named.map(({ key, of }): Choice => ({ kind: 'pin', conversationId: of.id, text: key, ...place }));
  });
  const removed = unkeep.flatMap((name) => {
    const keys = findNamed(rows, name).map(({ key }) => key);
    const named = stored.filter(({ text }) => keys.includes(text) || text.startsWith(name));
    check(name, new Set(named.map(({ text }) => text)), 'is not pinned');
    return named;
  });
  const change = isStored && added.length + removed.length > 0 ? await openForStoring(deps) : null;
  for (const one of removed) await change?.choices.remove(one);
  for (const one of added) await change?.choices.add(one);
  const valid = [...stored.filter((one) => !removed.includes(one)), ...added];
  const pins = rows.flatMap(({ of, index, id, key }) => {
    const pin = valid.find(({ conversationId, text }) => conversationId === of.id && text === key);
    return pin === undefined ? [] : [{ of, index, id, key, since: pin.chosenAt }];
  });
  const withOwn = conversations.map((one) => ({ ...one, pins: pins.filter(({ of }) => of === one) }));
  return { ...transcript, conversations: withOwn };
}

/** A message that can be pinned, and the conversation that it is of. */
type Pinnable = Omit<Pin, 'since'> & {
  readonly of: PreparedConversation;
  readonly line: number;
};

/** A message without an id of its own has another number in a compacted file, but the same bytes. */
async function listPinnable(
  { runtime }: Pick<AppDeps, 'runtime'>,
  { conversations, codec, readLine }: IndexedTranscript,
  archive: Archive | null,
): Promise<readonly Pinnable[]> {
  const rows: Pinnable[] = [];
  for (const of of conversations) {
    const said: readonly PlanMessage[] = [...of.view.messages, ...of.view.instructions];
    for (const [index, message] of said.entries()) {
      // It would hide the summary that stands before it.
      if (message.hidesBefore === true) continue;
      const { line, carriedLineId: carried, id = 'line:' } = message;
      const place = { of, index, line };
      if (!id.startsWith('line:')) {
        rows.push({ ...place, id, key: id });
        continue;
      }
      const bytes = carried === undefined ? readLine(message) : await archive?.readLine(carried);
      const key = `sha256:${runtime.sha256(trimRecord(codec, bytes ?? new Uint8Array()))}`;
      rows.push({ ...place, id: carried === undefined ? `line:${line}` : `message:${carried}`, key });
    }
  }
  return rows;
}

/** What names the pinned messages, for the settings of a result; `before`: only those that were pinned by then. */
export function pinnedKeys({ conversations }: Pick<IndexedTranscript, 'conversations'>, before?: Date) {
  const pins = conversations.flatMap(({ pins: own = [] }) => own);
  const keys = pins.flatMap(({ key, since }) => (before === undefined || since <= before ? key : []));
  return keys.length === 0 ? undefined : [...new Set(keys)].toSorted();
}
