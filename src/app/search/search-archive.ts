import { formatTime } from '../../core/batch.ts';
import { ok, type Result } from '../../core/result.ts';
import { createExcerpter, type Excerpt } from '../../core/search/excerpt.ts';
import { holdsPhrases, readQuoted } from '../../core/search/query-hints.ts';
import { type QueryTerm, readQuestion, wordsOf } from '../../core/search/question.ts';
import { foldWord, readSearchTerms, rootOf, spaceOut, spaceOutQuery } from '../../core/search/words.ts';
import type {
  ArchivedBatch,
  ArchivedLine,
  FoundMessage,
  IndexBacklog,
  IndexCursor,
  MessageIndex,
  Scored,
  SearchFilter,
} from '../../ports/archive-lookup.ts';
import type { Archive, ArchiveState } from '../../ports/archive.ts';
import { programOf, type FormatRegistry } from '../../ports/codec.ts';
import type { BatchHit, MessageHit, SearchHit, SearchReport } from '../contract/archive-reports.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, carriedFailure, type Failure } from '../contract/failure.ts';
import type { SearchRequest } from '../contract/requests.ts';
import { openUnsettled } from '../write/settle.ts';
import type { QueryVectors } from './embeddings/query-vectors.ts';
import { arrangeLines, findCalls, shownOf } from './arrange-hits.ts';
import { createTextReader, createTitles, nameLine, type TextReader } from './find-archived.ts';
import { findBatches, findMessages, type MessageSearch } from './find-messages.ts';
import { type IndexDeps, readMessages, updateIndex } from './update-index.ts';

/** Enough to show what a hit is about, in a terminal and in a model's context. */
const MAX_EXCERPT_CHARS = 320;
/** A search indexes no more than this by itself: one to three seconds of work, at 7 MB/s for chat lines and 20 MB/s for sessions of agents. */
const MAX_UNASKED_BYTES = 16 * 1024 * 1024;

export type SearchDeps = IndexDeps &
  Pick<AppDeps, 'openArchive' | 'archivePath' | 'indexing'> & {
    /** Undefined: search uses words alone. */
    readonly queryVectors?: QueryVectors;
    /** Masks secrets before excerpts are cut, because a cut could split one; undefined: texts are shown as they are. */
    readonly mask?: (text: string) => string;
  };

/** Finds archived batches and messages by words and, if possible, by meaning. What the search index lacks is added to it first. */
export async function searchArchive(deps: SearchDeps, request: SearchRequest): Promise<Result<SearchReport, Failure>> {
  return attempt<SearchReport>({ file: deps.archivePath }, async () => {
    const archive = await openUnsettled(deps);
    const report = { schema: 'compact/search@1', query: request.query } as const;
    if (archive === null) return ok({ ...report, hits: [], archive: null, unindexed: null });
    const { unindexed, scanned } = await prepareIndex(deps, archive, request);
    const vector = request.order === 'best' ? await deps.queryVectors?.find(archive.vectors, request) : null;
    const hits = await archive.inOneState(async (state) => {
      // Another run may meanwhile have begun to replace all vectors.
      const isUsable = vector?.length === (await state.vectors.findModel())?.dimensions;
      const messages = scanned === null ? state.messages : withScanned(state, scanned);
      return findHits({ ...state, messages }, { ...deps, request, vector: isUsable ? (vector ?? null) : null });
    });
    return ok({ ...report, hits, archive: deps.archivePath, unindexed });
  });
}

/** Brings the index up to date as far as a search may. `scanned`: what is read instead; `unindexed`: what cannot be found. */
async function prepareIndex(
  deps: SearchDeps,
  archive: Archive,
  { isPatient = false }: SearchRequest,
): Promise<Pick<SearchReport, 'unindexed'> & { readonly scanned: Awaited<ReturnType<typeof scanBacklog>> | null }> {
  const why = archive.isReadOnly ? 'read-only' : deps.indexing === 'never' ? 'never' : null;
  const scan = async (why: NonNullable<SearchReport['unindexed']>['why']): ReturnType<typeof prepareIndex> => {
    const scanned = await scanBacklog(deps, archive);
    return { scanned, unindexed: scanned.left.messages === 0 ? null : { ...scanned.left, why } };
  };
  if (why !== null) return scan(why);
  try {
    const { hasMore, messages, bytes } = await updateIndex(
      deps,
      archive,
      isPatient ? Number.POSITIVE_INFINITY : MAX_UNASKED_BYTES,
    );
    return {
      scanned: null,
      unindexed: messages === 0 ? null : { messages, bytes, why: hasMore ? 'more' : 'unreadable' },
    };
  } catch (error) {
    const kind = carriedFailure(error)?.kind;
    if (kind === 'busy' || kind === 'no-space') return scan(kind);
    throw error;
  }
}

type FoundLine = Scored<FoundMessage>;
type Found =
  | { readonly kind: 'message'; readonly found: FoundLine }
  | { readonly kind: 'batch'; readonly found: Scored<ArchivedBatch> };

type Asked = {
  readonly request: SearchRequest;
  readonly formats: FormatRegistry;
  readonly mask?: (text: string) => string;
  /** The query's vector; null: search by words alone. */
  readonly vector: Float32Array | null;
};

async function findHits(archive: ArchiveState, { request, formats, mask = (text) => text, vector }: Asked) {
  const { query, kinds, order, limit, conversation: conversationId, role, since, until, source } = request;
  const filter: SearchFilter = { conversationId, role, since, until, source };
  const reader = createTextReader(archive, formats);
  const quoted = readQuoted(query);
  const wide = quoted.length === 0 ? limit + SPARE : Math.max(limit, QUOTED_LIMIT);
  const lines =
    kinds === 'batches'
      ? []
      : await findLines(archive, { request: { ...request, limit: wide }, filter, reader, vector });
  await reader.load(lines);
  const holding = lines.filter((line) => holdsPhrases(reader.textOf(line), quoted)).slice(0, limit + SPARE);
  const callOf = await findCalls(archive, reader, holding);
  const messages = order === 'best' ? arrangeLines(holding, reader, callOf) : holding;
  const terms = readSearchTerms(spaceOutQuery(query));
  const hasBatches = kinds !== 'messages' && filter.role === null;
  const listed = hasBatches ? await findBatches(archive, { terms, filter, order, limit }, vector) : [];
  const batches = listed.filter(({ content }) => holdsPhrases(content, quoted));
  const found = mergeFound({ messages, batches: scaleBatches(batches, messages) }, order).slice(0, limit);
  const marked = readQuestion(query, []).words.flatMap(({ forms }) => forms);
  const excerptOf = createExcerpter({ terms: marked, maxChars: MAX_EXCERPT_CHARS });
  const excerptOfLine = (line: FoundLine): Excerpt => {
    const { lead, text } = shownOf(reader, line, callOf);
    return withLead(excerptOf(mask(text)), mask(lead));
  };
  const titleOf = request.withTitles === true ? createTitles(archive, formats) : async () => null;
  const hits: SearchHit[] = [];
  for (const one of found) {
    const title = await titleOf({ conversation: one.found.conversationId, file: one.found.sourcePath });
    const { format } = one.found;
    const about = {
      program: programOf(formats.list(), format) ?? format,
      title: title === null ? null : mask(title),
    };
    hits.push(
      one.kind === 'batch'
        ? { ...toBatchHit(one.found, excerptOf(mask(one.found.content))), ...about }
        : { ...toMessageHit(one.found, excerptOfLine(one.found)), ...about },
    );
  }
  if (order === 'newest') return hits;
  // A reader usually has the summary already.
  return [...hits.filter(({ kind }) => kind === 'message'), ...hits.filter(({ kind }) => kind === 'batch')];
}

type About = Pick<SearchHit, 'program' | 'title'>;

/** Puts a line before an excerpt from the middle of a text. */
function withLead({ text, marks }: Excerpt, lead: string): Excerpt {
  if (lead === '' || !text.startsWith('…')) return { text, marks };
  const shift = lead.length + 1;
  return {
    text: `${lead} ${text}`,
    marks: marks.map(({ start, end }) => ({ start: start + shift, end: end + shift })),
  };
}

/** More than asked for, to take the places of those that say nothing. */
const SPARE = 10;
/** So many messages with the words of a quotation are read. */
const QUOTED_LIMIT = 400;

async function findLines(
  archive: ArchiveState,
  {
    request: { query, order, limit },
    filter,
    reader,
    vector,
  }: Omit<Asked, 'formats'> & { filter: SearchFilter; reader: TextReader },
): Promise<readonly FoundLine[]> {
  if (order === 'newest') {
    const { words } = readQuestion(query, []);
    return (await archive.messages.listNewest(words, { filter, limit })).map((line) => ({ ...line, score: null }));
  }
  const load = async (lineIds: readonly number[]): Promise<readonly ArchivedLine[]> => {
    const byId = new Map((await archive.loadLines(lineIds, filter)).map((line) => [line.lineId, line]));
    return lineIds.flatMap((id) => byId.get(id) ?? []);
  };
  const readTexts = async (lineIds: readonly number[]): Promise<readonly string[]> => reader.load(await load(lineIds));
  const meaning: MessageSearch['meaning'] =
    vector === null
      ? undefined
      : {
          nearest: (count) => archive.vectors.nearestMessages(vector, { filter, limit: count }),
          similarities: (lineIds) => archive.vectors.similarities(vector, lineIds),
        };
  const ranked = await findMessages(archive.messages, { query, filter, limit, readTexts, meaning });
  const scores = new Map(ranked.map(({ lineId, score }) => [lineId, score]));
  return (await load([...scores.keys()])).flatMap(({ message, ...line }) =>
    message === null ? [] : [{ ...line, message, score: scores.get(line.lineId) ?? null }],
  );
}

/**
 * Batches and messages are ranked separately, because a word's weight depends on how many of its kind contain it. The best of each count as
 * equally good; the other batches are scaled with them.
 */
function scaleBatches(batches: readonly Scored<ArchivedBatch>[], messages: readonly Scored<FoundMessage>[]) {
  const [bestBatch, bestMessage] = [batches[0]?.score ?? 0, messages[0]?.score ?? 0];
  if (bestBatch <= 0 || bestMessage <= 0) return batches;
  return batches.map((batch) =>
    batch.score === null ? batch : { ...batch, score: (batch.score / bestBatch) * bestMessage },
  );
}

/** Merges two ordered lists. Of equals, the batch comes first. */
function mergeFound(
  { messages, batches }: { messages: readonly FoundLine[]; batches: readonly Scored<ArchivedBatch>[] },
  order: SearchRequest['order'],
): readonly Found[] {
  // A captured message is as new as what it says.
  const timeOf = ({ found, kind }: Found): number =>
    (kind === 'message' && found.lineId < 0 ? (found.message.at ?? found.archivedAt) : found.archivedAt).getTime();
  const compare = (a: Found, b: Found): number =>
    order === 'best'
      ? (b.found.score ?? 0) - (a.found.score ?? 0)
      : timeOf(b) - timeOf(a) || b.found.compactionId - a.found.compactionId;
  return [
    ...batches.map((found): Found => ({ kind: 'batch', found })),
    ...messages.map((found): Found => ({ kind: 'message', found })),
  ].toSorted(compare);
}

function toMessageHit(line: Scored<FoundMessage>, { text, marks }: Excerpt): Omit<MessageHit, keyof About> {
  const { message } = line;
  return {
    kind: 'message',
    show: nameLine(line.lineId),
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

function toBatchHit(batch: Scored<ArchivedBatch>, { text, marks }: Excerpt): Omit<BatchHit, keyof About> {
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

/** Messages that the index lacks, by the roots of their words. */
type Scanned = { readonly ids: ReadonlyMap<string, readonly number[]>; readonly left: IndexBacklog };

/** Reading takes about 30 ms for a megabyte, in every search. */
const MAX_SCANNED_BYTES = 4 * 1024 * 1024;
const BEGIN: IndexCursor = { kind: 'archived', before: null };

/** Reads the newest of what is not indexed, for an archive whose index cannot be brought up to date. */
async function scanBacklog({ formats }: Pick<IndexDeps, 'formats'>, archive: Archive): Promise<Scanned> {
  const { index } = archive;
  const all = await index.measure();
  const slice = all.bytes === 0 ? null : await index.read(BEGIN, MAX_SCANNED_BYTES);
  const ids = new Map<string, number[]>();
  // Of a captured line, the archive does not know yet who said it and when.
  const scanned = slice === null || slice.next.kind === 'captured' ? null : slice;
  for (const { lineId, text } of scanned === null ? [] : await readMessages(formats, archive, scanned))
    for (const root of new Set(wordsOf(spaceOut(text)).map(rootOf))) {
      const known = ids.get(root);
      if (known === undefined) ids.set(root, [lineId]);
      else known.push(lineId);
    }
  const left = { messages: all.messages - (scanned?.messages ?? 0), bytes: all.bytes - (scanned?.bytes ?? 0) };
  return { ids, left };
}

/** The same index, with the scanned messages in it. */
function withScanned({ messages, loadLines }: ArchiveState, { ids }: Scanned): MessageIndex {
  const find = ({ forms, isBeginning }: QueryTerm): readonly number[] => {
    const roots = isBeginning
      ? [...ids.keys()].filter((root) => forms.some((form) => root.startsWith(foldWord(form))))
      : forms.map(rootOf);
    return [...new Set(roots.flatMap((root) => ids.get(root) ?? []))];
  };
  const unite = (left: readonly number[], right: readonly number[]): readonly number[] =>
    right.length === 0 ? left : [...left, ...right].toSorted((a, b) => a - b);
  return {
    ...messages,
    countHits: async (words, atMost) =>
      (await messages.countHits(words, atMost)).map((count, at) =>
        Math.min(atMost, count + find(words[at] ?? NOTHING).length),
      ),
    listHits: async (words, filter) =>
      (await messages.listHits(words, filter)).map((found, at) => unite(found, find(words[at] ?? NOTHING))),
    listHitsAmong: async (word, lineIds) => {
      const asked = new Set(lineIds);
      return unite(
        await messages.listHitsAmong(word, lineIds),
        find(word).filter((id) => asked.has(id)),
      );
    },
    listNewest: async (words, limits) => {
      const scanned = await messages.loadCandidates(unite([], [...new Set(words.flatMap(find))]), limits.filter);
      const found = (await loadLines(scanned.map(({ lineId }) => lineId))).flatMap((line): readonly FoundMessage[] =>
        line.message === null ? [] : [{ ...line, message: line.message }],
      );
      const newest = [...found, ...(await messages.listNewest(words, limits))];
      return newest.toSorted((a, b) => b.lineId - a.lineId).slice(0, limits.limit);
    },
  };
}

const NOTHING: QueryTerm = { forms: [], isBeginning: false };
