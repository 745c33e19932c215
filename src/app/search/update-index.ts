import { ok, type Result } from '../../core/result.ts';
import type { IndexBacklog, IndexCursor, IndexedMessage, IndexSlice } from '../../ports/archive-lookup.ts';
import type { Archive } from '../../ports/archive.ts';
import type { FormatRegistry } from '../../ports/codec.ts';
import type { ArchiveIndexReport } from '../contract/archive-reports.ts';
import { type AppDeps, isInterrupted } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import { openUnsettled, refuseReadOnly } from '../write/settle.ts';
import { readArchivedMessage, readCaptured } from './find-archived.ts';

export type IndexDeps = Pick<AppDeps, 'formats' | 'runtime' | 'signal' | 'progress'>;

/** A transaction takes about 50 ms for a megabyte, and others wait for it. */
const FIRST_SLICE_BYTES = 1024 * 1024;
const [MIN_SLICE_BYTES, MAX_SLICE_BYTES] = [64 * 1024, 8 * 1024 * 1024];
const [QUICK_MS, SLOW_MS] = [60, 120];

const BEGIN: IndexCursor = { kind: 'archived', before: null };

/**
 * Takes what the archive stores into its search index, the newest first, until about `maxBytes` are done. May be stopped at any time. Gives what is
 * left; without `hasMore`, none of it can be taken now, because it is damaged or its compaction has not ended.
 */
export async function updateIndex(
  deps: IndexDeps,
  archive: Pick<Archive, 'index' | 'readBefore'>,
  maxBytes: number,
): Promise<IndexBacklog & { readonly hasMore: boolean }> {
  const { index } = archive;
  const all = await index.measure();
  const done = { bytes: 0 };
  let sliceBytes = FIRST_SLICE_BYTES;
  let hasMore = all.bytes > 0;
  for (let from = BEGIN; hasMore && done.bytes < maxBytes;) {
    const slice = await index.read(from, sliceBytes);
    hasMore = slice !== null;
    if (slice === null) break;
    const messages = await readMessages(deps.formats, archive, slice);
    const begun = deps.runtime.now().getTime();
    await index.add(slice, messages);
    const tookMs = deps.runtime.now().getTime() - begun;
    if (tookMs > SLOW_MS) sliceBytes = Math.max(MIN_SLICE_BYTES, sliceBytes / 2);
    else if (tookMs < QUICK_MS) sliceBytes = Math.min(MAX_SLICE_BYTES, sliceBytes * 2);
    done.bytes += slice.bytes;
    from = slice.next;
    deps.progress.update('indexing', done.bytes, all.bytes);
    if (await isInterrupted(deps)) break;
  }
  deps.progress.finish();
  return { ...(done.bytes === 0 ? all : await index.measure()), hasMore };
}

/** The messages of lines that are not in the index. */
export async function readMessages(
  formats: FormatRegistry,
  archive: Pick<Archive, 'readBefore'>,
  { lines }: IndexSlice,
): Promise<readonly IndexedMessage[]> {
  const messages: IndexedMessage[] = [];
  for (const { lineId, format, line, bytes } of lines) {
    const codec = await formats.load(format);
    if (lineId > 0) {
      const read = readArchivedMessage(formats, codec, { line, bytes });
      messages.push({ lineId, text: typeof read === 'string' ? read : read.content, captured: null });
      continue;
    }
    const found = await readCaptured(archive, formats, { lineId, codec, bytes });
    if (found !== null) messages.push({ lineId, text: found.text, captured: found.facts });
  }
  return messages;
}

/** `maxBytes`: how much at most; null: everything. */
export async function indexArchive(
  deps: AppDeps,
  { maxBytes }: { maxBytes: number | null },
): Promise<Result<ArchiveIndexReport, Failure>> {
  return attempt<ArchiveIndexReport>({ file: deps.archivePath, progress: deps.progress }, async () => {
    const archive = await openUnsettled(deps);
    const report = { schema: 'compact/archive-index@1', archive: archive === null ? null : archive.path } as const;
    if (archive === null) return ok({ ...report, indexed: NONE, left: NONE });
    refuseReadOnly(archive);
    const before = await archive.index.measure();
    const left = await updateIndex(deps, archive, maxBytes ?? Number.POSITIVE_INFINITY);
    const indexed = { messages: before.messages - left.messages, bytes: before.bytes - left.bytes };
    return ok({ ...report, indexed, left: { messages: left.messages, bytes: left.bytes } });
  });
}

const NONE: IndexBacklog = { messages: 0, bytes: 0 };
