import type { ConversationMessage } from '../core/message.ts';
import type { ImportanceScoringConfig } from '../core/policy.ts';
import { err, ok } from '../core/result.ts';
import type { Result } from '../core/result.ts';
import { createFeatureReader } from '../core/scoring.ts';
import type { ScoreFeatures } from '../core/scoring.ts';
import { isClipArchiveText } from '../core/split.ts';
import { estimateTokensByBytes } from '../core/tokens.ts';
import type { Decoded, Entry } from '../core/transcript.ts';
import type { CodecSession } from '../ports/codec.ts';
import type { RawLine, SourceFile } from '../ports/files.ts';
import type { FormatRegistry } from '../ports/formats.ts';
import type { Progress, Runtime } from '../ports/runtime.ts';
import type { Failure } from './failure.ts';
import { isInterrupted } from './interruption.ts';
import { UTF8_BOM } from './bom.ts';
import { createFactSharer } from './share-facts.ts';
import { isBlank } from './open-transcript.ts';

/** The first pass over a transcript: offsets, facts and score features of every line, never its text. */
export type Scan = {
  readonly entries: readonly Entry[];
  readonly lineCount: number;
  /** Of the whole file, hex. */
  readonly sha256: string;
  /** The line ending of the file's first line that has one. */
  readonly eol: '\n' | '\r\n';
};

export type ScanDeps = {
  readonly formats: FormatRegistry;
  readonly runtime: Runtime;
  readonly progress: Progress;
  readonly signal: AbortSignal;
};

/** What the first pass needs of a file: a real one, or one that is being restored. */
export type ScanSource = Pick<SourceFile, 'lines' | 'bomLength'> & {
  readonly stamp: Pick<SourceFile['stamp'], 'sizeBytes'>;
};

export type ScanInput = {
  readonly source: ScanSource;
  readonly session: CodecSession;
  /** The file's name in messages. */
  readonly name: string;
  readonly scoring: ImportanceScoringConfig;
  readonly keepInvalid: boolean;
};

/** Between two looks at signals and the terminal. */
const YIELD_BYTES = 8 * 1024 * 1024;

export async function scanTranscript(deps: ScanDeps, input: ScanInput): Promise<Result<Scan, Failure>> {
  const { source } = input;
  const hash = deps.runtime.createHash();
  if (source.bomLength > 0) hash.update(UTF8_BOM);
  const entries: Entry[] = [];
  let eol: Scan['eol'] | null = null;
  const shared = { features: createFeatureReader(input.scoring), facts: createFactSharer() };
  let nextYield = YIELD_BYTES;
  for (const raw of source.lines()) {
    hash.update(raw.bytes);
    const entry = scanLine(deps, input, { raw, shared });
    if (!entry.ok) return entry;
    entries.push(entry.value);
    eol ??= raw.eolLength === 0 ? null : raw.eolLength === 2 ? '\r\n' : '\n';
    if (raw.start < nextYield) continue;
    nextYield += YIELD_BYTES;
    deps.progress.update('reading', raw.start, source.stamp.sizeBytes);
    if (await isInterrupted(deps)) return err({ kind: 'interrupted' });
  }
  return ok({ entries, lineCount: entries.length, sha256: hash.digest(), eol: eol ?? '\n' });
}

type Shared = { readonly features: FeatureReader; readonly facts: ReturnType<typeof createFactSharer> };

function scanLine(
  { formats, runtime }: ScanDeps,
  input: ScanInput,
  { raw, shared }: { readonly raw: RawLine; readonly shared: Shared },
): Result<Entry, Failure> {
  const place = { line: raw.line, start: raw.start, length: raw.bytes.length };
  const content = raw.bytes.subarray(0, raw.bytes.length - raw.eolLength);
  if (isBlank(content)) return ok({ ...place, kind: 'blank' });
  const bad = (column: number, problem: string): Result<Entry, Failure> =>
    input.keepInvalid
      ? ok({ ...place, kind: 'opaque' })
      : err({ kind: 'bad-line', file: input.name, line: raw.line, column, problem, canCarry: true });
  const parsed = formats.parseLine(content);
  if (!parsed.ok) return bad(parsed.column, parsed.problem);
  const decoded = input.session.decode(parsed.value, raw.line);
  if ('problem' in decoded) return bad(1, decoded.problem);
  const entry = toEntry(shared.facts(decoded), place, shared.features);
  const isClip = decoded.kind === 'summary' && isClipArchiveText(decoded.message?.content ?? '');
  return ok(isClip ? { ...entry, sha256: runtime.sha256(content) } : entry);
}

type FeatureReader = (message: ConversationMessage) => ScoreFeatures;

/** A decoded line as the plan keeps it. */
export function toEntry(
  { message, ...facts }: Decoded,
  place: { readonly line: number; readonly start: number; readonly length: number },
  readFeatures: FeatureReader,
): Entry {
  if (message === undefined) return { ...facts, ...place };
  return {
    ...facts,
    ...place,
    id: message.id,
    role: message.role,
    features: readFeatures(message),
    tokens: estimateTokensByBytes(message.content),
  };
}
