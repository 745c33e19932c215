import type { TranscriptPolicy } from '../../core/policy.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Count, IsoTime, Ordinal, Sha256 } from '../../core/units.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { FileReport, ReportedMessage } from '../contract/file-report.ts';
import type { BeforeAfter } from '../contract/reports.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { beginsWith, isOutputThere } from '../write/settle.ts';
import { reportFile } from './report-file.ts';

/** What became of each message of the original, and what the summary says instead. */
export type DiffReport = {
  readonly schema: 'compact/diff@1';
  /** The compacted file. */
  readonly file: string;
  readonly format: string;
  readonly original: { readonly sha256: Sha256; readonly bytes: Count };
  /** How many compactions lie between the two. */
  readonly cycles: Count;
  readonly bytes: BeforeAfter;
  readonly tokens: BeforeAfter & { readonly by: string };
  /** In the order of the original, without its own summaries. */
  readonly messages: readonly DiffMessage[];
  /** The lines of the summary; of several conversations, one after the other. */
  readonly summary: readonly string[];
};

/**
 * kept: still in the file, byte for byte. quoted: the summary quotes it word for word. summarized: it left and the summary covers it. archived:
 * it left and is only in the archive.
 */
export type DiffMessage = {
  /** From 1. */
  readonly number: Ordinal;
  readonly id: string;
  /** Line in the original, from 1. */
  readonly line: Ordinal;
  readonly role: string;
  readonly at: IsoTime | null;
  readonly tokens: Count;
  readonly outcome: 'kept' | 'quoted' | 'summarized' | 'archived';
  /** The compaction in which it left, from 1; null: it is still there. */
  readonly cycle: Ordinal | null;
  /** The label of the batch that covers it. */
  readonly batch: string | null;
  /** The tools that it calls, or whose results it contains. */
  readonly tools: readonly string[];
  /** The beginning of its text, at most 400 characters. */
  readonly text: string;
};

export type DiffFileRequest = {
  /** The compacted file; or, if `original` is null, an original that has a compacted file. */
  readonly input: TranscriptInput;
  readonly original: TranscriptInput | null;
  readonly policy: TranscriptPolicy;
};

const MAX_TEXT_CHARS = 400;

/** Compares a compacted file with its original, which is in the archive and the file together. */
export async function diffFile(deps: AppDeps, request: DiffFileRequest): Promise<Result<DiffReport, Failure>> {
  return attempt({ file: request.input.name, progress: deps.progress }, async () => {
    const { input, original, policy } = request;
    const report = (one: TranscriptInput): ReturnType<typeof reportFile> =>
      reportFile({ ...deps, mask: (text) => text }, { input: one, policy, isPlan: false });
    const first = await report(input);
    if (first.ok) return describe(deps, first.value, original);
    if (first.error.kind !== 'not-compacted' || original !== null) return first;
    const path = await findCompacted(deps, input);
    if (path === null) return first;
    const found = await report({ path, name: path, format: null });
    return found.ok ? describe(deps, found.value, input) : found;
  });
}

async function describe(
  deps: AppDeps,
  { file, format, state, bytes, tokens, messages, summaries }: FileReport,
  original: TranscriptInput | null,
): Promise<Result<DiffReport, Failure>> {
  if (state.kind === 'unproven') return err(state.failure);
  if (state.kind === 'planned') return err({ kind: 'not-compacted', file });
  const { verified } = state;
  const [problem] = verified.problems;
  if (problem !== undefined)
    return err({ kind: 'altered', file, line: problem.line ?? null, problem: problem.message });
  const content = { sha256: verified.original.sha256, sizeBytes: verified.original.bytes };
  if (original !== null && !(await beginsWith(deps, original.path, content)))
    return err({ kind: 'not-its-original', file: original.name, compacted: file });
  return ok({
    schema: 'compact/diff@1',
    file,
    format,
    original: verified.original,
    cycles: verified.cycles,
    bytes: { before: bytes.before ?? 0, after: bytes.after ?? 0 },
    tokens: { before: tokens.before ?? 0, after: tokens.after, by: tokens.by },
    messages: messages.map(toDiffMessage),
    summary: summaries.flatMap((lines) => lines.map(({ text }) => text)),
  });
}

function toDiffMessage(message: ReportedMessage): DiffMessage {
  const { number, id, line, role, at, tokens, outcome, cycle, batch, tools, text } = message;
  return {
    number,
    id,
    line,
    role,
    at,
    tokens,
    outcome,
    cycle,
    batch,
    tools,
    text: Array.from(text.slice(0, 2 * MAX_TEXT_CHARS))
      .slice(0, MAX_TEXT_CHARS)
      .join(''),
  };
}

/** The newest compacted file of an original that is still as it was written, apart from lines added at its end; null: there is none. */
async function findCompacted(deps: AppDeps, { path }: TranscriptInput): Promise<string | null> {
  const opened = await deps.openArchive('existing');
  const archive = opened.ok ? opened.value : null;
  if (archive === null) return null;
  const source = deps.files.absolute(path);
  // The runs also know the outputs that were written from a stored compaction of another file with the same content.
  const runs = await archive.runs.list();
  for (const { compactionId, outputPath, sourcePath } of runs.flatMap(({ files }) => files)) {
    if (outputPath === null || sourcePath !== source || outputPath === source) continue;
    const compaction = await archive.loadCompaction(compactionId);
    if (compaction === null || !(await isOutputThere(deps, compaction))) continue;
    if (await beginsWith(deps, path, compaction.source)) return outputPath;
  }
  return null;
}
