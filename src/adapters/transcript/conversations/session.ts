import { readToolCall } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded, Entry } from '../../../core/transcript.ts';
import type { CodecSession, ContextView, Json, RecordProblem } from '../../../ports/codec.ts';
import { readContent } from '../chat-lines/content.ts';
import { toDecoded } from '../chat-lines/message.ts';
import { createCallFinder, createPairing, type Pairing } from '../chat-lines/pairing.ts';
import { classify, type Said } from '../chat-lines/record.ts';
import { refuseDeepNesting } from '../deep-nesting.ts';
import { idAt, isRecord } from '../json.ts';
import { leadingSummaryLine } from '../leading-summary.ts';
import { toChatRecord } from './element.ts';
import { renderSummary } from './render.ts';
import { createTurnTaking } from './turn-taking.ts';

/** Of the conversation at hand. */
type ListState = { hasBegun: boolean; readonly pairing: Pairing };

/**
 * Elements are messages as chat lines have them. What is remembered beyond the conversation at hand: the lines of summaries, and of each
 * result without an id the call that it answers.
 */
export function createSession(): CodecSession {
  const summaryLines = new Set<number>();
  const callFinder = createCallFinder();
  const turnTaking = createTurnTaking();
  let lastLine = 0;
  let list = createListState();

  const noteNew = ({ role }: Said, content: ReturnType<typeof readContent>, line: number): void => {
    const isSummary = !list.hasBegun && role !== 'assistant' && isClipArchiveText(content.text);
    if (isSummary) summaryLines.add(line);
    if (!isSummary && role === 'system') return;
    list.hasBegun = true;
    for (const id of content.results) list.pairing.noteResult('', id);
    if (content.results.length === 0) list.pairing.noteCalls('', content.calls.map(readToolCall));
  };

  const decode = (value: Json, line: number): Decoded | RecordProblem => {
    const isNew = line > lastLine;
    lastLine = Math.max(lastLine, line);
    return refuseDeepNesting('a message that is', (): Decoded | RecordProblem => {
      const said = classify(toChatRecord(value));
      if ('problem' in said || said.kind === 'meta') return said;
      const findCall = callFinder(list.pairing, { line, conversation: '', isNew });
      const content = readContent(said.record, { line, isResult: said.role === 'tool', findCall });
      if (isNew) {
        turnTaking.note(said.record, line);
        noteNew(said, content, line);
      }
      return toDecoded({ said, content, line, isSummary: summaryLines.has(line) });
    });
  };
  const openList = (around: Json): { readonly conversation?: string } => {
    list = createListState();
    const id = isRecord(around) ? (idAt(around, 'id') ?? idAt(around, 'conversation_id')) : undefined;
    return id === undefined || id === '' ? {} : { conversation: id };
  };
  return { decode, openList, readContext, legalCuts: turnTaking.cutProblem, renderSummary };
}

function createListState(): ListState {
  return { hasBegun: false, pairing: createPairing() };
}

/** All that stands in the list is in the context. */
function readContext(entries: readonly Entry[]): ContextView {
  return { priorLine: leadingSummaryLine(entries), isStale: () => false };
}
