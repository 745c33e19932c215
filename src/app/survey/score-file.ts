import { groupsOf, type PlanMessage } from '../../core/plan/view.ts';
import { DEFAULT_SCORING_CONFIG, type ImportanceScoringConfig } from '../../core/policy.ts';
import { ok, type Result } from '../../core/result.ts';
import { explainFeatures, scoreFeatures } from '../../core/scoring.ts';
import { statesRule } from '../../core/standing-rules/rules.ts';
import { type CompactPlan, planPrepared } from '../compact/plan.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { ScoreReport, ScoreRow } from '../contract/reports.ts';
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

type RowsRequest = Omit<ScoreFileRequest, 'input'> & {
  /** Rows that are not shown have their terms too. */
  readonly explainsAll?: boolean;
};

/** The rows of every message, conversation after conversation. What only people read is in those that are shown. */
export function scoreRows(
  transcript: IndexedTranscript,
  { policy, selectShown, hasExcerpts = false, explainsAll = selectShown === undefined }: RowsRequest,
): readonly ScoreRow[] {
  const scoring = policy.compaction.scoring ?? DEFAULT_SCORING_CONFIG;
  const isReadOnly = transcript.codec.format.whyReadOnly !== undefined;
  const scored = transcript.conversations.map((prepared): Scored => {
    const plan = isReadOnly ? null : planPrepared(transcript, prepared, { policy });
    const hasTarget = policy.targetTokens !== null;
    return { prepared, plan: plan?.kind === 'compact' ? plan : null, scoring, hasTarget };
  });
  const rows = scored.flatMap(conversationRows);
  const shown = new Set((selectShown === undefined ? rows : selectShown(rows)).map(({ line }) => line));
  const terms = explainPlaces(scored, explainsAll ? null : shown);
  const ruled = policy.compaction.keepRules === false ? new Set() : findRuled(transcript, shown);
  const excerpts = hasExcerpts ? readExcerpts(transcript, shown) : new Map<number, string>();
  for (const one of rows) {
    const excerpt = excerpts.get(one.line);
    one.terms = terms.get(one.line) ?? one.terms;
    if (ruled.has(one.line)) one.hasRule = true;
    if (excerpt !== undefined) one.excerpt = excerpt;
  }
  return rows;
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

/** A conversation and what becomes of it; null: it stays as it is. */
type Scored = {
  readonly prepared: PreparedConversation;
  readonly plan: CompactPlan | null;
  readonly scoring: ImportanceScoringConfig;
  readonly hasTarget: boolean;
};

/** A message and its place among those that it is scored with. */
type Place = {
  readonly entry: PlanMessage;
  readonly index: number;
  readonly total: number;
  readonly isInstruction: boolean;
};

/** Instructions stay whatever their score (P8). They are scored over the whole history, at the position of the next message. */
function* placesOf({ prepared, plan }: Scored): Generator<Place> {
  const { messages, instructions } = prepared.view;
  const total = Math.max(1, messages.length);
  let next = 0;
  for (const entry of instructions) {
    while (next < messages.length && (messages[next]?.line ?? 0) < entry.line) next += 1;
    yield { entry, index: Math.min(next, total - 1), total, isInstruction: true };
  }
  const boundary = plan?.boundary ?? 0;
  for (const [index, entry] of messages.entries()) {
    if (entry.carriedLineId !== undefined) continue;
    yield { entry, index, total: index < boundary ? boundary : total, isInstruction: false };
  }
}

/** The parts of the scores in these lines; null: in all. */
function explainPlaces(scored: readonly Scored[], lines: ReadonlySet<number> | null) {
  const terms = new Map<number, ScoreRow['terms']>();
  for (const one of scored)
    for (const { entry, index, total } of placesOf(one)) {
      if (entry.features === undefined || lines?.has(entry.line) === false) continue;
      terms.set(entry.line, explainFeatures(entry.features, index, total, one.scoring).terms);
    }
  return terms;
}

/** What is still unknown when a row is made: copying it later would take longer than making it. */
type Draft = { -readonly [key in keyof ScoreRow]: ScoreRow[key] };

function conversationRows(scored: Scored): readonly Draft[] {
  const { prepared, scoring } = scored;
  const groups = groupsOf(prepared.view.messages);
  const best = new Float64Array(groups.length).fill(Number.NEGATIVE_INFINITY);
  const rows: Draft[] = [];
  for (const place of placesOf(scored)) {
    const { entry, index, total, isInstruction } = place;
    const score = entry.features === undefined ? 0 : scoreFeatures(entry.features, index, total, scoring);
    const { outcome, because } = fateOf(place, scored);
    const group = isInstruction ? null : (groups[index] ?? index);
    if (group !== null) best[group] = Math.max(best[group] ?? 0, score);
    rows.push({
      index: group ?? -1,
      id: entry.id ?? `line:${entry.line}`,
      role: entry.role ?? 'user',
      tokens: entry.tokens ?? 0,
      outcome,
      because,
      line: entry.line,
      conversation: prepared.id,
      score,
      terms: NO_TERMS,
    });
  }
  for (const row of rows) {
    const groupScore = best[row.index];
    if (groupScore !== undefined && groupScore !== row.score) row.groupScore = groupScore;
  }
  rows.sort((a, b) => a.line - b.line);
  for (const [index, row] of rows.entries()) row.index = index;
  return rows;
}

const NO_TERMS: ScoreRow['terms'] = [];

/** What becomes of a message, and why. */
function fateOf({ index, isInstruction }: Place, { plan, hasTarget }: Scored): Pick<ScoreRow, 'outcome' | 'because'> {
  if (isInstruction) return { outcome: 'kept', because: 'instruction' };
  if (plan === null) return { outcome: 'kept', because: 'unchanged' };
  if (index >= plan.boundary) return { outcome: 'kept', because: 'recent' };
  if (plan.retained.has(index)) return { outcome: 'quoted', because: hasTarget ? 'target' : 'latest-request' };
  return { outcome: 'summarized', because: hasTarget ? 'below-target' : 'older' };
}
