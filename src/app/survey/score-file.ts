import { type ConversationView, groupsOf, type PlanMessage } from '../../core/plan/view.ts';
import { DEFAULT_SCORING_CONFIG, type ImportanceScoringConfig } from '../../core/policy.ts';
import { ok, type Result } from '../../core/result.ts';
import { explainFeatures } from '../../core/scoring.ts';
import { statesRule } from '../../core/standing-rules/rules.ts';
import { type CompactPlan, planPrepared } from '../compact/plan.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { MessageOutcome, OutcomeReason, ScoreReport, ScoreRow } from '../contract/reports.ts';
import type { ScoreFileRequest } from '../contract/requests.ts';
import { type IndexedTranscript, type PreparedConversation, readTranscript } from '../read/prepare.ts';
import { holdsOnly, openUnsettled } from '../write/settle.ts';

/** Scores every message as a compaction under the same policy would. */
export async function scoreFile(deps: AppDeps, request: ScoreFileRequest): Promise<Result<ScoreReport, Failure>> {
  const { input, policy } = request;
  return attempt({ file: input.name, progress: deps.progress }, async () => {
    const transcript = await readTranscript(deps, input, { policy, archive: () => openUnsettled(deps) });
    const { source, codec } = transcript;
    try {
      const messages = scoreRows(transcript, request);
      const asCompacted = (await isAsCompacted(deps, input.path, transcript)) ? { isAsCompacted: true as const } : {};
      return ok({
        schema: 'compact/score@1',
        file: input.name,
        format: codec.format.name,
        ...asCompacted,
        ...(codec.format.whyReadOnly !== undefined && { whyReadOnly: codec.format.whyReadOnly }),
        messages,
      });
    } finally {
      source.close();
    }
  });
}

/** Whether a file is, byte for byte, what its last compaction wrote. */
async function isAsCompacted(deps: AppDeps, path: string, { conversations }: IndexedTranscript): Promise<boolean> {
  const writers = new Set(
    conversations.flatMap(({ prior }) => (prior.kind === 'lineage' ? [prior.cycle.compactionId] : [])),
  );
  const archive = writers.size === 0 ? null : await openUnsettled(deps);
  if (archive === null) return false;
  for (const id of writers) {
    const writer = await archive.loadCompaction(id);
    if (writer !== null && (await holdsOnly(deps, path, writer.output))) return true;
  }
  return false;
}

/** The rows of every message, conversation after conversation. */
export function scoreRows(
  transcript: IndexedTranscript,
  { policy, selectShown, hasExcerpts = false }: Omit<ScoreFileRequest, 'input'>,
): readonly ScoreRow[] {
  const scoring = policy.compaction.scoring ?? DEFAULT_SCORING_CONFIG;
  const rows = transcript.conversations.flatMap((prepared) => {
    const isReadOnly = transcript.codec.format.whyReadOnly !== undefined;
    const plan = isReadOnly ? null : planPrepared(transcript, prepared, { policy });
    const hasTarget = policy.targetTokens !== null;
    return conversationRows(prepared, { plan: plan?.kind === 'compact' ? plan : null, scoring, hasTarget });
  });
  const shown = new Set((selectShown === undefined ? rows : selectShown(rows)).map(({ line }) => line));
  const ruled = policy.compaction.keepRules === false ? new Set() : findRuled(transcript, shown);
  const excerpts = hasExcerpts ? readExcerpts(transcript, shown) : new Map<number, string>();
  return rows.map((one) => {
    const excerpt = excerpts.get(one.line);
    if (excerpt === undefined && !ruled.has(one.line)) return one;
    return {
      ...one,
      ...(ruled.has(one.line) && { hasRule: true as const }),
      ...(excerpt !== undefined && { excerpt }),
    };
  });
}

const EXCERPT_CHARS = 60;

/** The beginnings of the messages in these lines, as one line each. */
function readExcerpts(transcript: IndexedTranscript, lines: ReadonlySet<number>): ReadonlyMap<number, string> {
  const said = transcript.conversations.flatMap(({ view }) => [...view.instructions, ...view.messages]);
  const shown = said.filter((entry) => lines.has(entry.line) && (entry as PlanMessage).carriedLineId === undefined);
  return new Map(
    shown.map((entry) => {
      const text = transcript.readMessage(entry)?.content.trim() ?? '';
      const characters = Array.from(text.slice(0, 10 * EXCERPT_CHARS).replace(/\s+/g, ' '));
      const cut = characters.length > EXCERPT_CHARS ? '…' : '';
      return [entry.line, text === '' ? '(no text)' : characters.slice(0, EXCERPT_CHARS).join('') + cut];
    }),
  );
}

/** Those of these lines in which a person states a rule. */
function findRuled(transcript: IndexedTranscript, lines: ReadonlySet<number>): ReadonlySet<number> {
  const messages = transcript.conversations.flatMap(({ view }) => view.messages);
  const typed = messages.filter(
    ({ line, typedTokens, carriedLineId }) =>
      typedTokens !== undefined && carriedLineId === undefined && lines.has(line),
  );
  const ruled = typed.filter((entry) => statesRule(transcript.readMessage(entry)?.ruleText ?? ''));
  return new Set(ruled.map(({ line }) => line));
}

function conversationRows(
  { id, view }: PreparedConversation,
  {
    plan,
    scoring,
    hasTarget,
  }: { readonly plan: CompactPlan | null; readonly scoring: ImportanceScoringConfig; readonly hasTarget: boolean },
): readonly ScoreRow[] {
  const boundary = plan?.boundary ?? 0;
  const reasons = {
    quoted: hasTarget ? 'target' : 'latest-request',
    summarized: hasTarget ? 'below-target' : 'older',
  } as const;
  const rows = view.messages.map((message, index): Draft | null => {
    if (message.carriedLineId !== undefined) return null;
    const isOlder = index < boundary;
    const at = isOlder ? { index, total: boundary } : { index, total: view.messages.length };
    if (!isOlder) {
      const because = plan === null ? 'unchanged' : 'recent';
      return row(message, { ...at, scoring, conversation: id, outcome: 'kept', because });
    }
    const outcome = plan?.retained.has(index) === true ? 'quoted' : 'summarized';
    return row(message, { ...at, scoring, conversation: id, outcome, because: reasons[outcome] });
  });
  const groups = groupsOf(view.messages);
  const best = new Float64Array(rows.length).fill(Number.NEGATIVE_INFINITY);
  for (const [index, one] of rows.entries()) {
    const group = groups[index] ?? index;
    best[group] = Math.max(best[group] ?? 0, one?.score ?? Number.NEGATIVE_INFINITY);
  }
  for (const [index, one] of rows.entries()) {
    const groupScore = best[groups[index] ?? index];
    if (one !== null && groupScore !== undefined && groupScore !== one.score) one.groupScore = groupScore;
  }
  const instructions = instructionRows(view, { scoring, conversation: id });
  const all = [...instructions, ...rows.filter((one) => one !== null)].sort((a, b) => a.line - b.line);
  for (const [index, one] of all.entries()) one.index = index;
  return all;
}

/** A row whose number and whose group's score are added last, because copying a row for each would take longer than making it. */
type Draft = { -readonly [key in keyof ScoreRow]: ScoreRow[key] };

/** Instructions stay whatever their score (P8). They are scored over the whole history, at the position of the next message. */
function instructionRows(
  { messages, instructions }: ConversationView,
  { scoring, conversation }: { readonly scoring: ImportanceScoringConfig; readonly conversation: string },
): readonly Draft[] {
  const total = Math.max(1, messages.length);
  let place = 0;
  return instructions.map((entry) => {
    while (place < messages.length && (messages[place]?.line ?? 0) < entry.line) place += 1;
    return row(entry, {
      index: Math.min(place, total - 1),
      total,
      scoring,
      conversation,
      outcome: 'kept',
      because: 'instruction',
    });
  });
}

function row(
  message: PlanMessage,
  at: {
    readonly index: number;
    readonly total: number;
    readonly scoring: ImportanceScoringConfig;
    readonly conversation: string;
    readonly outcome: MessageOutcome;
    readonly because: OutcomeReason;
  },
): Draft {
  const { index, outcome, because, conversation } = at;
  const scored = message.features && explainFeatures(message.features, index, at.total, at.scoring);
  return {
    index,
    id: message.id ?? `line:${message.line}`,
    role: message.role ?? 'user',
    tokens: message.tokens ?? 0,
    outcome,
    because,
    line: message.line,
    conversation,
    score: scored?.score ?? 0,
    terms: scored?.terms ?? [],
  };
}
