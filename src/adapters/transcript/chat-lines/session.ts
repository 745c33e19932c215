import { hasQuotationNotice, parseClipArchiveHead } from '../../../core/clip-archive.ts';
import { readToolCall } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded, Entry } from '../../../core/transcript.ts';
import type { CodecSession, ContextView, Json, RecordProblem } from '../../../ports/codec.ts';
import { refuseDeepNesting } from '../deep-nesting.ts';
import { leadingSummaryLine } from '../leading-summary.ts';
import { type Content, readContent } from './content.ts';
import { createSurvey } from './dialect.ts';
import { toDecoded } from './message.ts';
import { createCallFinder, createPairing } from './pairing.ts';
import { classify, isPersonsRole, type Said } from './record.ts';
import { renderSummary } from './render.ts';

/**
 * Every line is seen once in order; a line that is decoded again later gives the same message. What it remembers is a few words a file, and
 * of each result without an id the call that it answers.
 */
export function createSession(): CodecSession {
  const survey = createSurvey();
  const pairing = createPairing();
  const begun = new Set<string>(); // conversations in which something was said
  const summaryLines = new Set<number>();
  const callFinder = createCallFinder();
  let lastLine = 0;

  const isHeadSummary = ({ givenRole, conversation }: Said, { text }: Content): boolean => {
    if (begun.has(conversation ?? '') || !isClipArchiveText(text)) return false;
    if (givenRole === 'system') return true;
    if (!isPersonsRole(givenRole)) return false;
    // A user's where it quotes tools. One without the notice is an older one's, in files of Anthropic's blocks: whether this is one shows only in the lines to come.
    if (hasQuotationNotice(text)) return true;
    return conversation === undefined && !survey.hasKimi() && parseClipArchiveHead(text) !== null;
  };
  const noteNew = (said: Said, content: Content, line: number): void => {
    const { conversation = '' } = said;
    const isSummary = isHeadSummary(said, content);
    survey.noteSaid(said, isSummary);
    if (isSummary) summaryLines.add(line);
    else if (said.role === 'system') return;
    begun.add(conversation);
    for (const id of content.results) pairing.noteResult(conversation, id);
    if (content.results.length === 0) pairing.noteCalls(conversation, content.calls.map(readToolCall));
  };

  const decode = (value: Json, line: number): Decoded | RecordProblem => {
    const isNew = line > lastLine;
    lastLine = Math.max(lastLine, line);
    const said = classify(value);
    if ('problem' in said) return said;
    if (said.kind === 'meta') {
      if (isNew && said.pin !== undefined) survey.noteKimi();
      return said;
    }
    return refuseDeepNesting('a record that is', (): Decoded | RecordProblem => {
      const { record, role, conversation = '' } = said;
      const findCall = callFinder(pairing, { line, conversation, isNew });
      const content = readContent(record, { line, isResult: role === 'tool', findCall });
      if (isNew) noteNew(said, content, line);
      return toDecoded({ said, content, line, isSummary: summaryLines.has(line) });
    });
  };
  return { decode, readContext, legalCuts: () => () => null, renderSummary: (input) => renderSummary(input, survey) };
}

/** Nothing is ever out of context, since the file is the context. */
function readContext(entries: readonly Entry[]): ContextView {
  return { priorLine: leadingSummaryLine(entries), isStale: () => false };
}
