import { formatTime } from '../../core/batch.ts';
import { ok, type Result } from '../../core/result.ts';
import { createExcerpter, type Excerpt } from '../../core/search/excerpt.ts';
import { readQuestion } from '../../core/search/question.ts';
import { rootOf } from '../../core/search/words.ts';
import type { Archive } from '../../ports/archive.ts';
import type { CapturedFile, CapturedState } from '../../ports/captures.ts';
import type { Codec } from '../../ports/codec.ts';
import type { CapturedHit, CapturedSearchReport } from '../contract/archive-reports.ts';
import { type AppDeps, isInterrupted } from '../contract/deps.ts';
import { attempt, attemptDamaged, carriedFailure, type Failure } from '../contract/failure.ts';
import type { SearchRequest } from '../contract/requests.ts';
import { parseUntrimmed } from '../read/records.ts';
import { openUnsettled } from '../write/settle.ts';
import { lastStates } from './captured.ts';

export type SearchCapturedRequest = Pick<SearchRequest, 'query' | 'limit' | 'role' | 'since' | 'until' | 'source'>;

const MAX_EXCERPT_CHARS = 320;

/**
 * Finds messages in captured files, all versions, by reading them: captures have no index. Those with the most words of the query come first,
 * then the latest. Documents and compressed files are left out, and what is damaged or erased.
 */
export async function searchCaptured(
  deps: AppDeps,
  request: SearchCapturedRequest,
): Promise<Result<CapturedSearchReport, Failure>> {
  return attempt<CapturedSearchReport>({ file: deps.archivePath, progress: deps.progress }, async () => {
    const archive = await openUnsettled(deps);
    const report = { schema: 'compact/search@1', query: request.query } as const;
    if (archive === null) return ok({ ...report, hits: [], archive: null });
    const hits = await findHits(deps, archive, request);
    return hits.ok ? ok({ ...report, hits: hits.value, archive: deps.archivePath }) : hits;
  });
}

async function findHits(
  deps: AppDeps,
  archive: Archive,
  request: SearchCapturedRequest,
): Promise<Result<readonly CapturedHit[], Failure>> {
  const forms = readQuestion(request.query, []).words.flatMap(({ forms: all }) => all);
  const find = createFinder(forms);
  const best: { readonly hit: CapturedHit; readonly key: string }[] = [];
  const known = new Set<string>();
  for (const file of await archive.captures.list()) {
    const codec = searchableCodec(deps, file, request);
    if (codec === null) continue;
    for (const state of await lastStates(archive, file)) {
      // What is damaged is left out, because `archive check` names it, and so are versions with erased lines.
      const search = attemptDamaged(async () => {
        for await (const { line, bytes } of readEach(archive, state, codec)) {
          if (!find.mayContain(bytes)) continue;
          const hit = readHit(deps, { file, state, line, bytes, codec, excerptOf: find.excerptOf });
          if (hit === null || !passes(hit, request)) continue;
          const key = identify(hit);
          if (known.has(key)) continue;
          known.add(key);
          best.push({ hit, key });
          if (best.length > 2 * request.limit) keepBest(best, request.limit, known);
        }
      });
      await search.catch((error: unknown) => {
        if (carriedFailure(error)?.kind !== 'erased') throw error;
      });
      if (await isInterrupted(deps)) return { ok: false, error: { kind: 'interrupted' } };
    }
  }
  keepBest(best, request.limit, known);
  return ok(best.map(({ hit }) => hit));
}

/** Null: the file is not asked for, or its records cannot be read one by one. */
function searchableCodec(
  { files, formats }: AppDeps,
  { path, format }: CapturedFile,
  { source }: SearchCapturedRequest,
): Codec | null {
  if (source !== null && path !== source && !path.endsWith(`/${source}`)) return null;
  const codec = formats.find(format);
  if (codec === null || files.compressionOf(path) !== 'none') return null;
  return codec.records === undefined || codec.format.layout.kind === 'lines' ? codec : null;
}

const LF = 0x0a;

type CapturedLine = { readonly line: number; readonly bytes: Uint8Array };

/** The lines of a captured file, or its records if it is not JSON Lines. */
async function* readEach(archive: Archive, state: CapturedState, { records }: Codec): AsyncGenerator<CapturedLine> {
  if (records === undefined) {
    yield* readLines(archive, state);
    return;
  }
  const splitter = records.open(0);
  for await (const piece of archive.captures.read(state.id)) yield* splitter.add(piece);
  yield* splitter.end();
}

/** A captured piece may hold many lines, or a part of one. */
async function* readLines({ captures }: Archive, { id }: CapturedState): AsyncGenerator<CapturedLine> {
  let rest: Uint8Array = new Uint8Array();
  let line = 0;
  for await (const piece of captures.read(id)) {
    let start = 0;
    for (let end = piece.indexOf(LF); end >= 0; end = piece.indexOf(LF, start)) {
      line += 1;
      yield { line, bytes: join(rest, piece.subarray(start, end)) };
      rest = rest.subarray(rest.length);
      start = end + 1;
    }
    rest = join(rest, piece.subarray(start));
  }
  if (rest.length > 0) yield { line: line + 1, bytes: rest };
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

type Finder = {
  /** Whether a line of JSON may contain a word of the query: rules most lines out without parsing them. */
  readonly mayContain: (bytes: Uint8Array) => boolean;
  readonly excerptOf: (text: string) => Excerpt;
};

function createFinder(forms: readonly string[]): Finder {
  const excerptOf = createExcerpter({ terms: forms, maxChars: MAX_EXCERPT_CHARS });
  const beginnings = forms.map(beginningOf);
  // JSON may escape all other characters.
  if (beginnings.some((one) => !/^[a-z0-9]+$/.test(one))) return { mayContain: () => forms.length > 0, excerptOf };
  const pattern = new RegExp(beginnings.join('|'), 'i');
  const decoder = new TextDecoder('latin1');
  return { mayContain: (bytes) => forms.length > 0 && pattern.test(decoder.decode(bytes)), excerptOf };
}

/** What all forms of a word begin with. */
function beginningOf(word: string): string {
  const root = rootOf(word).replace(/i$/, '');
  let shared = 0;
  while (shared < root.length && root[shared] === word[shared]) shared += 1;
  return shared < 2 ? word : word.slice(0, shared);
}

function readHit(
  { formats }: AppDeps,
  of: {
    readonly file: CapturedFile;
    readonly state: CapturedState;
    readonly line: number;
    readonly bytes: Uint8Array;
    readonly codec: Codec;
    readonly excerptOf: Finder['excerptOf'];
  },
): CapturedHit | null {
  const { file, state, line, bytes, codec, excerptOf } = of;
  const parsed = parseUntrimmed(formats, codec, bytes);
  const decoded = parsed.ok ? codec.open().observe(parsed.value, line) : null;
  if (decoded === null || 'problem' in decoded || decoded.message === undefined) return null;
  const { id, role, name = null, created_at: at, content } = decoded.message;
  const { text, marks } = excerptOf(content);
  if (marks.length === 0) return null;
  const words = new Set(marks.map(({ start, end }) => rootOf(text.slice(start, end))));
  const place = { file: file.path, version: state.version, line };
  return { kind: 'captured', ...place, id, role, name, at: formatTime(at), score: words.size, text, marks };
}

/** The versions and the forks of a session share most of their messages; an id that is only a line's number differs between them. */
function identify({ id, role, at, text }: CapturedHit): string {
  return [id.startsWith('line:') ? '' : id, role, at, text].join(' ');
}

function passes({ role, at }: CapturedHit, request: SearchCapturedRequest): boolean {
  if (request.role !== null && role !== request.role) return false;
  if (request.since === null && request.until === null) return true;
  if (at === null) return false;
  const time = Date.parse(at);
  return time >= (request.since?.getTime() ?? -Infinity) && time < (request.until?.getTime() ?? Infinity);
}

/** Sorts the best first and forgets the rest. */
function keepBest(
  found: { readonly hit: CapturedHit; readonly key: string }[],
  limit: number,
  known: Set<string>,
): void {
  found.sort((a, b) => b.hit.score - a.hit.score || (b.hit.at ?? '').localeCompare(a.hit.at ?? ''));
  for (const { key } of found.splice(limit)) known.delete(key);
}
