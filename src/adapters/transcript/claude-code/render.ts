import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';

/** Fields that the client writes on every record of a session; copied if the first kept record has them. */
const SESSION_KEYS = ['isSidechain', 'agentId', 'userType', 'cwd', 'sessionId', 'version', 'gitBranch'];

/**
 * A boundary and a summary, as the client's own /compact writes them. The summary takes the uuid that the first kept
 * record names as its parent, so that the kept lines attach to it unchanged. The preserved segment makes the client
 * ignore the token counts in the kept answers. Before the boundary may come a prompt: the client's list takes it for
 * the first one, and the client sends nothing that is before a boundary.
 */
export function renderSummary(input: SummaryInput): readonly string[] {
  const first = recordOf(input.firstKept);
  const dropped = recordOf(input.lastDropped);
  const headId = stringAt(first, 'uuid');
  const boundaryId = input.uuid('boundary');
  const summaryId = stringAt(first, 'parentUuid') ?? input.uuid('summary');
  const timestamp = stringAt(dropped, 'timestamp') ?? stringAt(first, 'timestamp');
  const session = {
    isSidechain: false,
    ...copyKeys(input.firstKept === null ? dropped : first),
    ...(timestamp !== undefined && { timestamp }),
  };
  const boundary = {
    parentUuid: null,
    ...session,
    type: 'system',
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    isMeta: false,
    uuid: boundaryId,
    level: 'info',
    compactMetadata: {
      trigger: 'manual',
      preTokens: input.tokensBefore,
      ...(headId !== undefined && {
        preservedSegment: { headUuid: headId, anchorUuid: summaryId, tailUuid: input.lastKeptId ?? headId },
      }),
    },
  };
  const summary = {
    parentUuid: boundaryId,
    ...session,
    type: 'user',
    message: { role: 'user', content: input.text },
    isVisibleInTranscriptOnly: true,
    isCompactSummary: true,
    uuid: summaryId,
  };
  const begunAt = stringAt(recordOf(input.firstDropped ?? null), 'timestamp') ?? timestamp;
  const title = {
    parentUuid: null,
    ...session,
    ...(begunAt !== undefined && { timestamp: begunAt }),
    type: 'user',
    message: { role: 'user', content: input.listedAs ?? '' },
    uuid: input.uuid('title'),
  };
  const lines = input.listedAs === undefined ? [boundary, summary] : [title, boundary, summary];
  return lines.map((line) => JSON.stringify(line));
}

function recordOf(value: Json): JsonRecord {
  return isRecord(value) ? value : {};
}

function copyKeys(record: JsonRecord): JsonRecord {
  return Object.fromEntries(SESSION_KEYS.flatMap((key) => (record[key] === undefined ? [] : [[key, record[key]]])));
}
