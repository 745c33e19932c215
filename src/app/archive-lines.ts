import type { LineOutcome } from '../core/plan/fates.ts';
import type { Entry } from '../core/transcript.ts';
import type { LineDraft, MessageDraft } from '../ports/archive.ts';
import type { CompactedConversation } from './compact-conversation.ts';
import type { Prepared } from './prepare.ts';

/** Every line that leaves the transcript, in order, with its bytes and what search finds it by; read from the source one at a time. */
export function* archivedLines(
  transcript: Prepared,
  outcomes: readonly LineOutcome[],
  compacted: readonly CompactedConversation[],
): Generator<LineDraft> {
  const places = compacted.map(({ prepared }) => lifeIndices(prepared));
  const positionOf = new Map(
    compacted.map(({ prepared }, position) => [transcript.conversations.indexOf(prepared), position]),
  );
  for (const [at, outcome] of outcomes.entries()) {
    const entry = transcript.scan.entries[at];
    if (entry === undefined || outcome.kind === 'kept') continue;
    const cycle = outcome.conversation === null ? null : (positionOf.get(outcome.conversation) ?? null);
    const result = cycle === null ? undefined : compacted[cycle];
    const batch = outcome.kind === 'summarized' ? (result?.batchOf.get(outcome.index) ?? null) : null;
    const index = cycle === null ? 0 : (places[cycle]?.get(entry.line) ?? 0);
    const message =
      entry.kind === 'message' || entry.kind === 'instruction' ? draftMessage(transcript, entry, index) : null;
    yield { line: entry.line, bytes: transcript.readLine(entry), fate: outcome.kind, cycle, batch, message };
  }
}

/** Line → place of its message in the conversation's life, from 1. */
function lifeIndices({ view, compressedBefore }: CompactedConversation['prepared']): ReadonlyMap<number, number> {
  return new Map(view.messages.map((message, index) => [message.line, compressedBefore + index + 1]));
}

function draftMessage(transcript: Prepared, entry: Entry, index: number): MessageDraft | null {
  const message = transcript.readMessage(entry);
  if (message === null) return null;
  const { id, role, name, created_at: at, content: text } = message;
  return { id, role, name: name ?? null, at, index, text };
}
