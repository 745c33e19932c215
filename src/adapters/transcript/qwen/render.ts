import { estimateTokens } from '../../../core/tokens.ts';
import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';
import { renderTitle } from './listing.ts';
import { refuseDeepNesting } from '../message-parts.ts';

/** Qwen Code's number for a compression that succeeded. */
const COMPRESSED = 1;

/**
 * A `chat_compression` like Qwen Code's own. It takes the uuid that the first kept record names as its parent, so that
 * kept lines attach to it unchanged. Before it come the settings that would be lost. All have the session's id and
 * folder: Qwen Code goes by those of the first line, and refuses a file with two session ids.
 */
export function renderSummary(input: SummaryInput, lost: readonly JsonRecord[]): readonly string[] {
  const { text, firstKept, lastDropped, lastDroppedBefore, tokensBefore, uuid } = input;
  const like: JsonRecord = isRecord(firstKept) ? firstKept : {};
  const timestamp = [lastDroppedBefore ?? null, lastDropped, firstKept].flatMap(timeOf)[0];
  const common = Object.fromEntries(
    ['sessionId', 'cwd', 'version', 'gitBranch'].flatMap((key) => (like[key] === undefined ? [] : [[key, like[key]]])),
  );
  let parentUuid: string | null = null;
  const title = input.listedAs === undefined ? [] : [renderTitle(input.listedAs, timestamp)];
  const settings = [...lost, ...title].flatMap((record, at) => {
    const id = uuid(`setting ${at}`);
    const line = refuseDeepNesting('a setting that is', () =>
      JSON.stringify({ ...record, uuid: id, parentUuid, ...common }),
    );
    if (typeof line !== 'string') return [];
    parentUuid = id;
    return [line];
  });
  const compression = {
    uuid: stringAt(like, 'parentUuid') ?? uuid('compression'),
    parentUuid,
    ...common,
    ...(timestamp !== undefined && { timestamp }),
    type: 'system',
    subtype: 'chat_compression',
    systemPayload: {
      info: {
        originalTokenCount: tokensBefore,
        newTokenCount: estimateTokens(text),
        compressionStatus: COMPRESSED,
      },
      compressedHistory: [{ role: 'user', parts: [{ text }] }],
    },
  };
  return [...settings, JSON.stringify(compression)];
}

function timeOf(record: Json): readonly string[] {
  const time = isRecord(record) ? stringAt(record, 'timestamp') : undefined;
  return time === undefined ? [] : [time];
}
