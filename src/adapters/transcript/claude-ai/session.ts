import type { CodecSession } from '../../../ports/codec.ts';
import { isRecord, stringAt } from '../json.ts';
import { leadingSummaryLine } from '../leading-summary.ts';
import { findBranches } from './branches.ts';
import { decodeMessage } from './message.ts';
import { renderSummary } from './render.ts';

/** Every message tells all that is needed of it: nothing is remembered. */
export function createSession(): CodecSession {
  return {
    decode: decodeMessage,
    openList: (around) => {
      const conversation = isRecord(around) ? stringAt(around, 'uuid') : undefined;
      return conversation === undefined ? {} : { conversation };
    },
    readContext: (entries) => {
      const branches = findBranches(entries);
      return {
        priorLine: leadingSummaryLine(entries),
        isStale: ({ line }) => branches.has(line),
      };
    },
    legalCuts: () => () => null,
    renderSummary,
  };
}
