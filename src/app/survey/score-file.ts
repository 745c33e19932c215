import type { ConversationView, PlanMessage } from '../../core/plan/view.ts';
import { DEFAULT_SCORING_CONFIG, type ImportanceScoringConfig } from '../../core/policy.ts';
import { ok, type Result } from '../../core/result.ts';
import { explainFeatures } from '../../core/scoring.ts';
import { statesRule } from '../../core/standing-rules/rules.ts';
import { type CompactPlan, planPrepared } from '../compact/plan.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { MessageOutcome, ScoreReport, ScoreRow } from '../contract/reports.ts';
import type { ScoreFileRequest } from '../contract/requests.ts';
import { type IndexedTranscript, type PreparedConversation, readTranscript } from '../read/prepare.ts';
import { openUnsettled } from '../write/settle.ts';

/** Scores every message as a compaction under the same policy would. */
export async function scoreFile(deps: AppDeps, request: ScoreFileRequest): Promise<Result<ScoreReport, Failure>> {
  const { input, policy } = request;
  return attempt({ file: input.name, progress: deps.progress }, async () => {
    const prepared = await readTranscript(deps, input, { policy, archive: () => openUnsettled(deps) });
    if (!prepared.ok) return prepared;
    const { source, codec } = prepared.value;
    try {
      const messages = scoreRows(prepared.value, request);
      return ok({ schema: 'compact/score@1', file: input.name, format: codec.format.name, messages });
    } finally {
      source.close();
    }
  });
}

/** The rows of every message, conversation after conversation. */
export function scoreRows(
  transcript: IndexedTranscript,
  { policy, selectShown }: Pick<ScoreFileRequest, 'policy' | 'selectShown'>,
): readonly ScoreRow[] {
  const scoring = policy.compaction.scoring ?? DEFAULT_SCORING_CONFIG;
  const rows = transcript.conversations.flatMap((prepared) => {
    const plan = planPrepared(transcript, prepared, { policy });
    return conversationRows(prepared, plan.kind === 'compact' ? plan : null, scoring);
  });
  if (policy.compaction.keepRules === false) return rows;
  const shown = selectShown === undefined ? rows : selectShown(rows);
  const ruled = findRuled(transcript, new Set(shown.map(({ line }) => line)));
  return rows.map((one) => (ruled.has(one.line) ? { ...one, hasRule: true } : one));
}

/** Those of these lines in which a person states a rule. */
function findRuled(transcript: IndexedTranscript, lines: ReadonlySet<number>): ReadonlySet<number> {
  const messages = transcript.conversations.flatMap(({ view }) => view.messages);
  const typed = messages.filter(
    ({ line, typedTokens, carriedLineId }) =>
      typedTokens !== undefined && carriedLineId === undefined && lines.has(line),
  );
  const ruled = typed.filter((entry) => statesRule(transcript.readMessage(entry)?.typed ?? ''));
  return new Set(ruled.map(({ line }) => line));
}

function conversationRows(
  { id, view }: PreparedConversation,
  plan: CompactPlan | null,
  scoring: ImportanceScoringConfig,
): readonly ScoreRow[] {
  const boundary = plan?.boundary ?? 0;
  const rows = view.messages.map((message, index): ScoreRow | null => {
    if (message.carriedLineId !== undefined) return null;
    const isOlder = index < boundary;
    const at = isOlder ? { index, total: boundary } : { index, total: view.messages.length };
    return row(message, { ...at, scoring, conversation: id, outcome: isOlder ? olderOutcome(plan, index) : 'kept' });
  });
  const instructions = instructionRows(view, { scoring, conversation: id });
  return [...instructions, ...rows.filter((one) => one !== null)]
    .sort((a, b) => a.line - b.line)
    .map((one, index) => ({ ...one, index }));
}

function olderOutcome(plan: CompactPlan | null, index: number): MessageOutcome {
  return plan?.retained.has(index) === true ? 'survived' : 'summarized';
}

/** Instructions stay whatever their score (P8). They are scored over the whole history, at the position of the next message. */
function instructionRows(
  { messages, instructions }: ConversationView,
  { scoring, conversation }: { readonly scoring: ImportanceScoringConfig; readonly conversation: string },
): readonly ScoreRow[] {
  const total = Math.max(1, messages.length);
  let place = 0;
  return instructions.map((entry) => {
    while (place < messages.length && (messages[place]?.line ?? 0) < entry.line) place += 1;
    return row(entry, { index: Math.min(place, total - 1), total, scoring, conversation, outcome: 'kept' });
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
  },
): ScoreRow {
  const { index, outcome, conversation } = at;
  const base = {
    index,
    id: message.id ?? `line:${message.line}`,
    role: message.role ?? 'user',
    outcome,
    line: message.line,
    conversation,
  };
  if (message.features === undefined) return { ...base, score: 0, terms: [] };
  const { score, terms } = explainFeatures(message.features, index, at.total, at.scoring);
  return { ...base, score, terms };
}
