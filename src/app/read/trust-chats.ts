import type { Decoded } from '../../core/transcript.ts';
import type { Codec, RecordProblem } from '../../ports/codec.ts';

/** A codec whose user messages may state rules, although its format does not say who wrote them. */
export function trustChats(codec: Codec): Codec {
  if (codec.format.marksTyped === true) return codec;
  const trust = <T extends Decoded | RecordProblem>(decoded: T): T | Decoded => {
    if ('problem' in decoded || decoded.message?.typed === undefined) return decoded;
    return { ...decoded, message: { ...decoded.message, ruleText: decoded.message.typed } };
  };
  return {
    ...codec,
    open: () => {
      const session = codec.open();
      return {
        ...session,
        observe: (value, line) => trust(session.observe(value, line)),
        decode: (value, line) => trust(session.decode(value, line)),
      };
    },
  };
}
