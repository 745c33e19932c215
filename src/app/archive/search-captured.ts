import { formatTime } from '../../core/batch.ts';
import { ok, type Result } from '../../core/result.ts';
import { createExcerpter, type Excerpt } from '../../core/search/excerpt.ts';
import { readQuestion } from '../../core/search/question.ts';
import { rootOf } from '../../core/search/words.ts';
import type { Archive } from '../../ports/archive.ts';
import type { CapturedFile, CapturedState } from '../../ports/captures.ts';
import type { Codec } from '../../ports/codec.ts';
import type { CapturedHit, CapturedSearchReport } from '../contract/archive-reports.ts';
import type { CapturedPiece } from '../../ports/retention.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, attemptDamaged, carriedFailure, type Failure, stopIfInterrupted } from '../contract/failure.ts';
import type { SearchRequest } from '../contract/requests.ts';
import { parseUntrimmed } from '../read/records.ts';
import { openUnsettled } from '../write/settle.ts';
import { lastStates } from './captured.ts';
import { joinPieces } from './sessions.ts';

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
    return ok({ ...report, hits: await findHits(deps, archive, request), archive: deps.archivePath });
  });
}

async function findHits(
  deps: AppDeps,
  archive: Archive,
  request: SearchCapturedRequest,
): Promise<readonly CapturedHit[]> {
  const forms = readQuestion(request.query, []).words.flatMap(({ forms: all }) => all);
  const mayContain = createFilter(forms);
  const excerptOf = createExcerpter({ terms: forms, maxChars: MAX_EXCERPT_CHARS });
  const best: { readonly hit: CapturedHit; readonly key: string }[] = [];
  const known = new Set<string>();
  /** Sorts the best first and forgets the rest. */
  const keepBest = (): void => {
    best.sort((a, b) => b.hit.score - a.hit.score || (b.hit.at ?? '').localeCompare(a.hit.at ?? ''));
    for (const { key } of best.splice(request.limit)) known.delete(key);
  };
  for (const file of await archive.captures.list()) {
    const codec = await searchableCodec(deps, file, request);
    if (codec === null) continue;
    for (const state of await lastStates(archive, file)) {
      // What is damaged is left out, because `archive check` names it, and so are versions with erased lines.
      const search = attemptDamaged(async () => {
        for await (const { line, bytes } of readEach(archive, state, codec)) {
          if (!mayContain(bytes)) continue;
          const hit = readHit(deps, { file, state, line, bytes, codec, excerptOf });
          const key = hit === null ? '' : identify(hit);
          if (hit === null || !passes(hit, request) || known.has(key)) continue;
          known.add(key);
          best.push({ hit, key });
          if (best.length > 2 * request.limit) keepBest();
        }
      });
      await search.catch((error: unknown) => {
        if (carriedFailure(error)?.kind !== 'erased') throw error;
      });
      await stopIfInterrupted(deps);
    }
  }
  keepBest();
  return best.map(({ hit }) => hit);
}

/** Null: the file is not asked for, or its records cannot be read one by one. */
async function searchableCodec(
  { files, formats }: AppDeps,
  { path, format }: CapturedFile,
  { source }: SearchCapturedRequest,
): Promise<Codec | null> {
  if (source !== null && path !== source && !path.endsWith(`/${source}`)) return null;
  const codec = await formats.load(format);
  if (codec === null || files.compressionOf(path) !== 'none') return null;
  return codec.records === undefined || codec.format.layout.kind === 'lines' ? codec : null;
}

/** The lines of a captured file, or its records if it is not JSON Lines. */
async function* readEach(
  { captures }: Archive,
  { id }: CapturedState,
  { records }: Codec,
): AsyncGenerator<{ readonly line: number; readonly bytes: Uint8Array }> {
  async function* pieces(): AsyncGenerator<readonly CapturedPiece[]> {
    for await (const bytes of captures.read(id)) yield [{ id, bytes }];
  }
  if (records === undefined) return yield* joinPieces(pieces());
  const splitter = records.open(0);
  for await (const piece of captures.read(id)) yield* splitter.add(piece);
  return yield* splitter.end();
}

/** Whether a line of JSON may contain a word of the query: rules most lines out without parsing them. */
function createFilter(forms: readonly string[]): (bytes: Uint8Array) => boolean {
  const beginnings = forms.map(beginningOf);
  // JSON may escape all other characters.
  if (beginnings.some((one) => !/^[a-z0-9]+$/.test(one))) return () => forms.length > 0;
  const pattern = new RegExp(beginnings.join('|'), 'i');
  const decoder = new TextDecoder('latin1');
  return (bytes) => forms.length > 0 && pattern.test(decoder.decode(bytes));
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
    readonly excerptOf: (text: string) => Excerpt;
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
