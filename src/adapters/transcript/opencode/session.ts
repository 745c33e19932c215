import type { CodecSession } from '../../../ports/codec.ts';
import { isRecord, stringAt } from '../json.ts';
import { readContext } from './context.ts';
import { decodeMessage } from './message.ts';
import { renderSummary } from './render.ts';

/** Every message tells all that is needed of it: nothing is remembered. */
export function createSession(): CodecSession {
  return {
    decode: decodeMessage,
    openList: (around) => {
      const info = isRecord(around) ? around['info'] : undefined;
      const conversation = isRecord(info) ? stringAt(info, 'id') : undefined;
      return conversation === undefined ? {} : { conversation };
    },
    readContext,
    legalCuts: () => () => null,
    renderSummary,
  };
}
