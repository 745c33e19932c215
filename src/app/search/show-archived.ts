import { formatTime } from '../../core/batch.ts';
import { ok, type Result } from '../../core/result.ts';
import type { ArchivedBatch, ArchivedLine } from '../../ports/archive-lookup.ts';
import type { Archive } from '../../ports/archive.ts';
import { reportBatch } from '../compact/report.ts';
import type { BatchShown, CompactionShown, MessageShown, ShowReport } from '../contract/archive-reports.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type LookupFailure } from '../contract/failure.ts';
import type { ShowRequest } from '../contract/requests.ts';
import { openExisting } from '../write/settle.ts';
import { type CallFinder, showMessage } from '../../core/search/shown-text.ts';
import { findCalls } from './arrange-hits.ts';
import { createTextReader, findArchived, type FoundArchived, nameLine, readArchivedMessage } from './find-archived.ts';

type ShowDeps = Pick<AppDeps, 'openArchive' | 'archivePath' | 'formats' | 'runtime' | 'signal'> & {
  /** Masks secrets in reports, never in the bytes of lines; undefined: texts are shown as they are. */
  readonly mask?: ((text: string) => string) | undefined;
};

/** One original line with its ending; the report is only built on demand. */
export type ShownOriginal = { readonly bytes: Uint8Array; readonly report: () => Promise<MessageShown> };

/** Shows what a label or id names. */
export async function showArchived(deps: ShowDeps, { name }: ShowRequest): Promise<Result<ShowReport, LookupFailure>> {
  const { mask = (text) => text } = deps;
  return withFound(deps, name, async (archive, found): Promise<ShowReport> => {
    if (found.kind === 'batch') return masked(await reportShownBatch(archive, found.batch), mask);
    if (found.kind === 'compaction') return reportShownCompaction(archive, found);
    const { line } = found;
    const reader = createTextReader(archive, deps.formats);
    await reader.load([line]);
    const callOf = await findCalls(archive, reader, [line]);
    return masked(await reportMessage(deps, line, { bytes: await archive.readLine(line.lineId), callOf }), mask);
  });
}

/** Passes the original lines behind a label or id to `onLine`, in order, until it returns false or the run is interrupted. Gives their number. */
export async function showOriginals(
  deps: ShowDeps,
  { name }: ShowRequest,
  onLine: (line: ShownOriginal) => boolean | Promise<boolean>,
): Promise<Result<number, LookupFailure>> {
  return withFound(deps, name, async (archive, found) => {
    let count = 0;
    const { mask = (text) => text } = deps;
    for await (const { bytes, find } of readFound(archive, found)) {
      if (deps.signal.aborted) break;
      count += 1;
      const report = async () => masked(await reportMessage(deps, await find(), { bytes }), mask);
      if (!(await onLine({ bytes, report }))) break;
    }
    return count;
  });
}

function masked<R extends { readonly text: string }>(report: R, mask: (text: string) => string): R {
  return { ...report, text: mask(report.text) };
}

/** The facts of a line are looked up on demand: a page may begin after a million others. */
async function* readFound(archive: Archive, found: FoundArchived) {
  if (found.kind === 'line') yield { bytes: await archive.readLine(found.line.lineId), find: () => found.line };
  else if (found.kind === 'batch')
    for await (const lines of archive.readOriginals(found.batch.id))
      for (const line of lines) yield { bytes: line.bytes, find: () => line };
  else
    for await (const lines of archive.readLines(found.compaction.compactionId))
      for (const { id, bytes } of lines) yield { bytes, find: () => findLine(archive, id) };
}

async function findLine(archive: Archive, id: number): Promise<ArchivedLine> {
  const [line] = await archive.findLines({ kind: 'id', id }, 1);
  if (line === undefined) throw new Error(`archived line ${id} is read and cannot be found`);
  return line;
}

async function withFound<T>(
  deps: ShowDeps,
  name: string,
  work: (archive: Archive, found: FoundArchived) => Promise<T>,
): Promise<Result<T, LookupFailure>> {
  return attempt<T, LookupFailure>({ file: deps.archivePath }, async () => {
    const archive = await openExisting(deps);
    const found = await findArchived(archive, name, deps.runtime.sha256);
    return found.ok ? ok(await work(archive, found.value)) : found;
  });
}

async function reportShownBatch(archive: Archive, batch: ArchivedBatch): Promise<BatchShown> {
  const { firstIndex, lastIndex } = batch;
  return {
    schema: 'compact/show@1',
    kind: 'batch',
    show: `batch:${batch.id}`,
    ...reportBatch(batch),
    conversation: batch.conversationId,
    cycle: batch.cycle,
    indices: firstIndex === undefined || lastIndex === undefined ? null : { first: firstIndex, last: lastIndex },
    file: batch.sourcePath,
    format: batch.format,
    archivedAt: formatTime(batch.archivedAt) ?? '',
    isLive: batch.isLive,
    sources: (await archive.loadSources(batch.id)).map(reportBatch),
    replacedBy: (await archive.loadReplacements(batch.id)).map(({ label }) => label),
    sha256: batch.contentSha256,
    text: batch.content,
  };
}

/** Shows the compaction that a clip-archive's key names, with all its live summaries, shown or not. */
async function reportShownCompaction(
  archive: Archive,
  { key, compaction }: Extract<FoundArchived, { kind: 'compaction' }>,
): Promise<CompactionShown> {
  const cycles = (await archive.loadCompaction(compaction.compactionId))?.cycles ?? [];
  return {
    schema: 'compact/show@1',
    kind: 'compaction',
    show: key,
    file: compaction.sourcePath,
    output: compaction.outputPath,
    format: compaction.format,
    archivedAt: formatTime(compaction.archivedAt) ?? '',
    conversations: compaction.conversations,
    lines: compaction.lines,
    batches: cycles.flatMap(({ live }) => live.map(reportBatch)),
    sha256: compaction.sourceSha256,
  };
}

async function reportMessage(
  { formats, runtime }: Pick<ShowDeps, 'formats' | 'runtime'>,
  line: ArchivedLine,
  { bytes, callOf = () => null }: { bytes: Uint8Array; callOf?: CallFinder },
): Promise<MessageShown> {
  const { message, format } = line;
  const read = readArchivedMessage(formats, await formats.load(format), { line: line.line, bytes });
  return {
    schema: 'compact/show@1',
    kind: 'message',
    show: nameLine(line.lineId),
    id: message?.id ?? null,
    label: line.batchLabel,
    conversation: line.conversationId,
    role: message?.role ?? null,
    name: message?.name ?? null,
    at: formatTime(message?.at ?? null),
    index: message?.index ?? null,
    file: line.sourcePath,
    format,
    line: line.line,
    archivedAt: formatTime(line.archivedAt) ?? '',
    sha256: runtime.sha256(bytes),
    text: typeof read === 'string' ? read : showMessage(read, { callOf }),
    original: encodeOriginal(bytes),
  };
}

function encodeOriginal(bytes: Uint8Array): MessageShown['original'] {
  try {
    return { encoding: 'utf-8', data: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { encoding: 'base64', data: encodeBase64(bytes) };
  }
}

const BINARY_PIECE = 8192;

function encodeBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += BINARY_PIECE) {
    binary += String.fromCharCode(...bytes.subarray(at, at + BINARY_PIECE));
  }
  return btoa(binary);
}
