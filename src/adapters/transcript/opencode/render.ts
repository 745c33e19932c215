import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';

/**
 * An id begins with its kind and twelve digits of its time, so the ids of a session are in the order in which they
 * were made.
 */
const ID_TIME = /^[a-z]+_([0-9a-f]{12})/;
/** The number of characters after the time. */
const ID_TAIL_LENGTH = 14;
const NO_TOKENS: Json = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };

/**
 * A request for a compaction and the summary that answers it, as OpenCode's own compaction writes them. OpenCode
 * orders a session by time and then by id: both get the time of the last message that left, and ids right after its
 * id.
 */
export function renderSummary(input: SummaryInput): readonly string[] {
  const kept = infoOf(input.firstKept);
  const dropped = infoOf(input.lastDropped);
  const known = input.lastDropped === null ? kept : dropped;
  const idTime = ID_TIME.exec(stringAt(known, 'id') ?? '')?.[1] ?? '0'.repeat(12);
  const newId = (kind: 'msg' | 'prt', order: number): string => {
    const digits = input.uuid(`${kind} ${order}`).replaceAll('-', '');
    // Sorts after any other id of the same time, since ids contain no characters after z.
    return `${kind}_${idTime}${`zz${order}${digits}`.slice(0, ID_TAIL_LENGTH)}`;
  };
  const sessionID = stringAt(known, 'sessionID') ?? input.conversationId;
  const created = timeOf(dropped) ?? timeOf(kept) ?? 0;
  const { agent, providerID, modelID, path } = settingsOf([kept, dropped]);
  const askId = newId('msg', 1);
  const answerId = newId('msg', 2);
  const ask: Json = {
    info: { role: 'user', time: { created }, agent, model: { providerID, modelID }, id: askId, sessionID },
    parts: [{ type: 'compaction', auto: false, id: newId('prt', 1), sessionID, messageID: askId }],
  };
  const answer: Json = {
    info: {
      parentID: askId,
      role: 'assistant',
      mode: 'compaction',
      agent: 'compaction',
      summary: true,
      path,
      cost: 0,
      tokens: NO_TOKENS,
      modelID,
      providerID,
      time: { created, completed: created },
      finish: 'stop',
      id: answerId,
      sessionID,
    },
    parts: [{ type: 'text', text: input.text, id: newId('prt', 2), sessionID, messageID: answerId }],
  };
  return [JSON.stringify(ask), JSON.stringify(answer)];
}

function infoOf(record: Json): JsonRecord {
  const info = isRecord(record) ? record['info'] : undefined;
  return info !== undefined && isRecord(info) ? info : {};
}

function timeOf(info: JsonRecord): number | undefined {
  const created = isRecord(info['time']) ? info['time']['created'] : undefined;
  return typeof created === 'number' ? created : undefined;
}

/** Fields that OpenCode requires in every message, copied from the neighbors. */
function settingsOf(neighbors: readonly JsonRecord[]): {
  readonly agent: string;
  readonly providerID: string;
  readonly modelID: string;
  readonly path: Json;
} {
  const models = neighbors.map((info) => (isRecord(info['model']) ? info['model'] : info));
  const firstOf = (key: string, records: readonly JsonRecord[]): string | undefined =>
    records.map((record) => stringAt(record, key)).find((value) => value !== undefined);
  const path = neighbors.map((info) => info['path']).find((value) => isRecord(value));
  return {
    agent: firstOf('agent', neighbors) ?? 'build',
    providerID: firstOf('providerID', models) ?? 'unknown',
    modelID: firstOf('modelID', models) ?? 'unknown',
    path: path ?? { cwd: '/', root: '/' },
  };
}
