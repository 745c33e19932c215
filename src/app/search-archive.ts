import { formatTime } from '../core/batch.ts';
import { createExcerpter } from '../core/excerpt.ts';
import type { Excerpt } from '../core/excerpt.ts';
import { ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import { readSearchTerms } from '../core/search-terms.ts';
import type { Archive } from '../ports/archive.ts';
import type { ArchivedBatch, FoundMessage, Scored } from '../ports/archive-lookup.ts';
import type { FormatRegistry } from '../ports/formats.ts';
import { toFailure } from './archive-failure.ts';
import type { BatchHit, MessageHit, SearchHit, SearchReport } from './archive-reports.ts';
import { readArchivedText } from './archived-text.ts';
import type { AppDeps } from './deps.ts';
import type { Failure } from './failure.ts';
import type { SearchRequest } from './requests.ts';
import { openUnsettled } from './settle.ts';

/** Enough to tell what a hit is about, in a terminal and in a model's window. */
const MAX_EXCERPT_CHARS = 320;
/** The text that search knows of a message stands in the first of its line; the rest of a longer one is not unpacked. */
const MAX_HEAD_BYTES = 1024 * 1024;

/** Archived batches and messages that have the words of a query. Looks only: what a crash left half-done is settled by the next compaction. */
export async function searchArchive(
  deps: Pick<AppDeps, 'openArchive' | 'archivePath' | 'formats'>,
  request: SearchRequest,
): Promise<Result<SearchReport, Failure>> {
  const opened = await openUnsettled(deps);
  if (!opened.ok) return opened;
  const archive = opened.value;
  const report = { schema: 'compact/search@1', query: request.query } as const;
  if (archive === null) return ok({ ...report, hits: [], archive: null });
  try {
    return ok({ ...report, hits: findHits(archive, { request, formats: deps.formats }), archive: deps.archivePath });
  } catch (error) {
    return { ok: false, error: toFailure(error, deps.archivePath) };
  }
}

type Found =
  | { readonly kind: 'message'; readonly found: Scored<FoundMessage> }
  | { readonly kind: 'batch'; readonly found: Scored<ArchivedBatch> };

function findHits(
  archive: Archive,
  { request, formats }: { readonly request: SearchRequest; readonly formats: FormatRegistry },
): readonly SearchHit[] {
  const { query, conversation, kinds, order, limit } = request;
  const terms = readSearchTerms(query);
  const wanted = { terms, conversationId: conversation, order, limit };
  const messages = kinds === 'batches' ? [] : archive.searchMessages(wanted);
  const batches = kinds === 'messages' ? [] : archive.searchBatches(wanted);
  const found = mergeFound({ messages, batches: scaleBatches(batches, messages), order }).slice(0, limit);
  const excerptOf = createExcerpter({ terms, maxChars: MAX_EXCERPT_CHARS });
  const lineIds = found.flatMap((one) => (one.kind === 'message' ? [one.found.lineId] : []));
  const heads = archive.readHeads(lineIds, MAX_HEAD_BYTES);
  return found.map((one) => {
    if (one.kind === 'batch') return toBatchHit(one.found, excerptOf(one.found.content));
    const { format, line, lineId } = one.found;
    const text = readArchivedText(formats, { format, line, bytes: heads.get(lineId) ?? new Uint8Array() });
    return toMessageHit(one.found, excerptOf(text));
  });
}

/**
 * Batches and messages are ranked among their own kind: a word's weight depends on how many of that kind have it. The best of each is taken
 * for equally good, and the other batches stand to theirs as they did.
 */
function scaleBatches(
  batches: readonly Scored<ArchivedBatch>[],
  messages: readonly Scored<FoundMessage>[],
): readonly Scored<ArchivedBatch>[] {
  const [bestBatch, bestMessage] = [batches[0]?.score ?? 0, messages[0]?.score ?? 0];
  if (bestBatch <= 0 || bestMessage <= 0) return batches;
  return batches.map((batch) =>
    batch.score === null ? batch : { ...batch, score: (batch.score * bestMessage) / bestBatch },
  );
}

/** Two orders as one; each keeps its own. */
function mergeFound(input: {
  readonly messages: readonly Scored<FoundMessage>[];
  readonly batches: readonly Scored<ArchivedBatch>[];
  readonly order: SearchRequest['order'];
}): readonly Found[] {
  const messages = input.messages.values();
  const merged: Found[] = [];
  let message = messages.next();
  for (const batch of input.batches) {
    const isFirst = (line: Scored<FoundMessage>): boolean =>
      input.order === 'best' ? (line.score ?? 0) > (batch.score ?? 0) : line.compactionId > batch.compactionId;
    for (; message.value !== undefined && isFirst(message.value); message = messages.next()) {
      merged.push({ kind: 'message', found: message.value });
    }
    merged.push({ kind: 'batch', found: batch });
  }
  for (; message.value !== undefined; message = messages.next()) merged.push({ kind: 'message', found: message.value });
  return merged;
}

function toMessageHit(line: Scored<FoundMessage>, { text, marks }: Excerpt): MessageHit {
  const { message } = line;
  return {
    kind: 'message',
    show: `message:${line.lineId}`,
    id: message.id,
    label: line.batchLabel,
    conversation: line.conversationId,
    role: message.role,
    name: message.name,
    at: formatTime(message.at),
    index: message.index,
    line: line.line,
    file: line.sourcePath,
    score: line.score,
    text,
    marks,
  };
}

function toBatchHit(batch: Scored<ArchivedBatch>, { text, marks }: Excerpt): BatchHit {
  return {
    kind: 'batch',
    show: `batch:${batch.id}`,
    id: batch.label,
    label: batch.label,
    conversation: batch.conversationId,
    depth: batch.depth,
    count: batch.messageCount,
    start: formatTime(batch.startTime),
    at: formatTime(batch.endTime),
    file: batch.sourcePath,
    score: batch.score,
    text,
    marks,
  };
}
