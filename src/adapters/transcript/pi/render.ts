import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';

/** The place of the summary on pi's path; null: version 1, whose entries have no ids and are linked by their order. */
type PathPlace = { readonly id: string; readonly parentId: string | null } | null;

type RenderInput = {
  readonly summary: SummaryInput;
  readonly place: PathPlace;
  /** Entries with settings that would be lost. */
  readonly settings: readonly JsonRecord[];
  /** The latest time in the file, ISO 8601. */
  readonly latest: string | undefined;
};

/**
 * Settings that would be lost, then a `compaction` like pi's own. Its time is the latest in the file: pi ignores the
 * token counts of answers up to that time, and would otherwise compact at once because of them.
 */
export function renderSummary({ summary: input, place, settings, latest }: RenderInput): readonly string[] {
  let parentId = place?.parentId ?? null;
  const lines = settings.flatMap((record, index) => {
    const { id: _id, parentId: _parentId, type = null, ...rest } = record;
    const id = input.uuid(`setting ${index}`);
    const line = writeRecord({ type, ...(place !== null && { id, parentId }), ...rest });
    if (line !== null) parentId = id;
    return line ?? [];
  });
  const firstKeptEntryId = idOf(input.firstKept);
  const compaction = {
    type: 'compaction',
    ...(place !== null && { id: place.id, parentId }),
    ...(latest !== undefined && { timestamp: latest }),
    summary: input.text,
    ...(place === null && { firstKeptEntryIndex: lines.length + 2 }), // counted after the header, the settings and this entry
    ...(place !== null && firstKeptEntryId !== undefined && { firstKeptEntryId }),
    tokensBefore: input.tokensBefore,
    fromHook: true,
  };
  return [...lines, JSON.stringify(compaction)];
}

/**
 * The summary takes the id that the first kept entry names as its parent, so that the kept lines attach to it
 * unchanged. If the kept part begins before a compaction that leaves (`replaced`), the entries after that compaction
 * depend on its id: then the summary takes its id and parent.
 */
export function placeSummary({ firstKept, uuid }: SummaryInput, replaced: Json): NonNullable<PathPlace> {
  const id = idOf(replaced);
  if (id !== undefined) return { id, parentId: parentOf(replaced) };
  return { id: parentOf(firstKept) ?? uuid('compaction'), parentId: null };
}

export function idOf(record: Json): string | undefined {
  return isRecord(record) ? stringAt(record, 'id') : undefined;
}

function parentOf(record: Json): string | null {
  return isRecord(record) ? (stringAt(record, 'parentId') ?? null) : null;
}

/** The entry that pi writes when a person names a session. */
export function renderName(name: string, timestamp: string | undefined): JsonRecord {
  return { type: NAME, ...(timestamp !== undefined && { timestamp }), name };
}

/** null: nested too deeply to be written. */
function writeRecord(record: JsonRecord): string | null {
  try {
    return JSON.stringify(record);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** A setting that pi finds in an entry when it reads a session. */
type Setting = { readonly line: number; readonly record: JsonRecord };

/** The settings of a session that would be lost with the entries that leave. */
type SessionState = {
  readonly note: (record: JsonRecord, line: number) => void;
  /**
   * The entries to repeat: for each setting the one in force, if it is before `cutLine`. `stepOf` maps an entry's line
   * to its distance from the end of the path.
   */
  readonly lostBefore: (cutLine: number, stepOf: ReadonlyMap<number, number>) => readonly JsonRecord[];
};

/** The only setting that counts wherever it is. */
const NAME = 'session_info';

/**
 * Thinking level, model, name of the session, and the latest entry of each extension. Small entries are all remembered
 * (the latest may be on an abandoned branch); of extensions' entries, which may be large, only the latest of each
 * type.
 */
export function createSessionState(): SessionState {
  const settings = new Map<string, Setting[]>();
  const add = (name: string, setting: Setting): void => {
    const known = settings.get(name);
    if (known === undefined) settings.set(name, [setting]);
    else known.push(setting);
  };
  const noteModel = (record: JsonRecord, line: number): void => {
    const before = settings.get('model')?.at(-1)?.record;
    const isSame = before?.['provider'] === record['provider'] && before?.['modelId'] === record['modelId'];
    add('model', { line, record: isSame && before !== undefined ? before : record });
  };
  return {
    note: (record, line) => {
      switch (record['type']) {
        case 'thinking_level_change':
          return add('thinking', { line, record });
        case 'model_change':
          return noteModel(record, line);
        case 'message': {
          const change = modelOf(record);
          return change === null ? undefined : noteModel(change, line);
        }
        case NAME:
          return void settings.set(NAME, [{ line, record }]);
        case 'custom':
          return void settings.set(`custom ${stringAt(record, 'customType') ?? ''}`, [{ line, record }]);
      }
    },
    lostBefore: (cutLine, stepOf) =>
      [...settings].flatMap(([name, known]) => {
        const step = ({ line }: Setting): number =>
          name === NAME ? 0 : (stepOf.get(line) ?? Number.POSITIVE_INFINITY);
        const inForce = known.reduce((best, one) => (step(one) < step(best) ? one : best));
        return step(inForce) < Number.POSITIVE_INFINITY && inForce.line < cutLine ? [inForce.record] : [];
      }),
  };
}

/** An answer names the model that was in use, just as a change of model would. */
function modelOf({ message, timestamp = null }: JsonRecord): JsonRecord | null {
  if (!isRecord(message) || message['role'] !== 'assistant') return null;
  const provider = stringAt(message, 'provider');
  const modelId = stringAt(message, 'model');
  if (provider === undefined || modelId === undefined) return null;
  return { type: 'model_change', timestamp, provider, modelId };
}
