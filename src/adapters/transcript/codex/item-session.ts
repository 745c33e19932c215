import { hasQuotationNotice } from '../../../core/clip-archive.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded, Entry } from '../../../core/transcript.ts';
import type { CodecSession, ContextView, Json, RecordProblem } from '../../../ports/codec.ts';
import { refuseDeepNesting } from '../deep-nesting.ts';
import { isRecord, stringAt } from '../json.ts';
import { readIsoTime } from '../time.ts';
import { findCompanions } from './companions.ts';
import { isOldHeader } from './detect.ts';
import { createAnswerTracker, decodeItem } from './item.ts';
import { renderItem } from './render.ts';

/** Remembers where the header and the summary stand, and which answer is being given. */
export function createItemSession(): CodecSession {
  const trackAnswer = createAnswerTracker();
  const seen = { headerLine: 0, summaryLine: 0, hasBegun: false, lastLine: 0 };

  const read = (value: Json, line: number): Decoded | RecordProblem => {
    if (!isRecord(value) || 'record_type' in value) return { kind: 'meta' };
    if (isOldHeader(value)) {
      if (seen.headerLine === 0 && !seen.hasBegun) seen.headerLine = line;
      const conversation = stringAt(value, 'id');
      if (line !== seen.headerLine) return { kind: 'meta' };
      return { kind: 'header', ...(conversation !== undefined && { conversation }) };
    }
    return refuseDeepNesting('an item that is', () => decodeItem(value, { line, at: readIsoTime(value['timestamp']) }));
  };
  const noteNew = (decoded: Decoded, line: number): void => {
    if (!seen.hasBegun && isClip(decoded)) seen.summaryLine = line;
    if (decoded.kind === 'message' || isClip(decoded)) seen.hasBegun = true;
  };
  const decode = (value: Json, line: number): Decoded | RecordProblem => {
    const decoded = read(value, line);
    if ('problem' in decoded) return decoded;
    const isNew = line > seen.lastLine;
    seen.lastLine = Math.max(seen.lastLine, line);
    if (isNew) noteNew(decoded, line);
    // A second one, in the middle, tells what was said, and goes as that does.
    if (isClip(decoded)) return asClip(decoded, line === seen.summaryLine ? 'summary' : 'message');
    return isNew ? trackAnswer(decoded, line) : decoded;
  };
  return { decode, readContext, legalCuts: () => () => null, renderSummary: (input) => [renderItem(input)] };
}

/** Nobody typed it, whoever's message it is. */
function asClip(decoded: Decoded, kind: 'summary' | 'message'): Decoded {
  const { message } = decoded;
  return {
    ...decoded,
    kind,
    isPrompt: false,
    ...(message !== undefined && { message: { ...message, role: 'system' } }),
  };
}

function isClip({ message }: Decoded): boolean {
  if (message?.role === 'user') return hasQuotationNotice(message.content);
  return message?.role === 'system' && isClipArchiveText(message.content);
}

/** The file is the context: nothing in it is stale. */
function readContext(entries: readonly Entry[]): ContextView {
  const summary = entries.find(({ kind }) => kind === 'summary');
  return { priorLine: summary?.line ?? null, isStale: () => false, companionOf: findCompanions(entries) };
}
