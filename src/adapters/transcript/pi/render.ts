import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';

/** Where the summary stands on pi's path; null: version 1, whose entries have no ids and hang together by their order. */
export type PathPlace = { readonly id: string; readonly parentId: string | null } | null;

export type RenderInput = {
  readonly summary: SummaryInput;
  readonly place: PathPlace;
  /** Entries whose settings would be lost. */
  readonly settings: readonly JsonRecord[];
  /** The latest time in the file, ISO 8601. */
  readonly latest: string | undefined;
};

/**
 * Settings that would be lost, then a `compaction` as pi writes one. Its time is the latest in the file: pi takes the token counts of answers up
 * to that time for outdated, and would compact at once because of them otherwise.
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
    ...(place === null && { firstKeptEntryIndex: lines.length + 2 }), // after the header, the settings and this entry
    ...(place !== null && firstKeptEntryId !== undefined && { firstKeptEntryId }),
    tokensBefore: input.tokensBefore,
    fromHook: true,
  };
  return [...lines, JSON.stringify(compaction)];
}

/**
 * The summary takes the id that the first kept entry names as its parent, so that the kept lines hang on it unchanged. Where the kept part begins
 * before a compaction that leaves (`replaced`), what came after that one hangs on its id: the summary takes that id, and its parent.
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

/** Null: nested too deeply to be written. */
function writeRecord(record: JsonRecord): string | null {
  try {
    return JSON.stringify(record);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
