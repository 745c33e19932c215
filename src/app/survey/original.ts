import type { TranscriptPolicy } from '../../core/policy.ts';
import type { Archive, StoredCompaction } from '../../ports/archive.ts';
import type { RawLine } from '../../ports/files.ts';
import type { AppDeps } from '../contract/deps.ts';
import type { PlacedOutcome } from '../contract/file-report.ts';
import { type IndexedTranscript, indexTranscript, type TranscriptBytes } from '../read/prepare.ts';
import { UTF8_BOM } from '../read/records.ts';
import type { ProvenStep } from '../restore/verify-file.ts';

/** A compacted transcript as if it had never been compacted. */
export type Original = {
  readonly transcript: IndexedTranscript;
  readonly sizeBytes: number;
  readonly outcomeOf: (line: number) => PlacedOutcome;
};

/** Restores the original into memory and indexes it. `steps`: the proven compactions, newest first. */
export async function readOriginal(
  deps: AppDeps,
  input: {
    readonly steps: readonly ProvenStep[];
    readonly archive: Archive;
    readonly name: string;
    readonly policy: TranscriptPolicy;
  },
): Promise<Original | null> {
  const { steps, archive, name, policy } = input;
  const first = steps.at(-1)?.before;
  if (first === undefined) return null;
  const pieces: Uint8Array[] = first.hasBom ? [UTF8_BOM] : [];
  for await (const batch of first.lines()) for (const bytes of batch) pieces.push(Uint8Array.from(bytes));
  const source = toTranscriptBytes(pieces, first.hasBom ? UTF8_BOM.length : 0);
  const transcript = await indexTranscript(deps, {
    source,
    codec: first.codec,
    name,
    isOneFormat: false,
    policy: { ...policy, keepInvalid: true },
    archive: async () => null,
  });
  const outcomeOf = followLines(steps.toReversed(), await quotedLines(archive, steps[0]?.compaction));
  return { transcript, sizeBytes: source.sizeBytes, outcomeOf };
}

function toTranscriptBytes(pieces: readonly Uint8Array[], bomLength: number): TranscriptBytes {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const bytes of pieces) {
    whole.set(bytes, end);
    end += bytes.length;
  }
  const read = (start: number, length: number): Uint8Array => whole.subarray(start, start + length);
  return { bomLength, sizeBytes: whole.length, read, lines: () => splitLines(whole, bomLength) };
}

const LF = 0x0a;
const CR = 0x0d;

function* splitLines(whole: Uint8Array, bomLength: number): Generator<RawLine> {
  let line = 0;
  for (let start = bomLength; start < whole.length;) {
    const found = whole.indexOf(LF, start);
    const end = found < 0 ? whole.length : found + 1;
    const eolLength = found < 0 ? 0 : found > start && whole[found - 1] === CR ? 2 : 1;
    line += 1;
    yield { line, start, bytes: whole.subarray(start, end), eolLength };
    start = end;
  }
}

/** The rows of the lines that the newest clip-archives quote word for word. */
async function quotedLines(archive: Archive, newest: StoredCompaction | undefined): Promise<ReadonlySet<number>> {
  const quoted = new Set<number>();
  for (const { id } of newest?.cycles ?? []) for (const line of await archive.readSurvivors(id)) quoted.add(line.id);
  return quoted;
}

export const KEPT: PlacedOutcome = { outcome: 'kept', cycle: null, batch: null };

/** Follows a line of the original from compaction to compaction, oldest first, until it leaves. */
function followLines(steps: readonly ProvenStep[], quoted: ReadonlySet<number>): (line: number) => PlacedOutcome {
  const places = steps.map(({ compaction }) => createPlaceFinder(compaction));
  const labels = new Map(
    steps
      .flatMap(({ compaction }) => compaction.cycles.flatMap(({ made }) => made))
      .map(({ id, label }) => [id, label]),
  );
  return (original) => {
    let line = original;
    for (const [at, { left }] of steps.entries()) {
      const gone = left.get(line);
      if (gone !== undefined) {
        const batch = gone.batchId === null ? null : (labels.get(gone.batchId) ?? null);
        const isQuoted = gone.outcome === 'quoted' && quoted.has(gone.id);
        const summarized = gone.outcome === 'other' ? 'archived' : 'summarized';
        return { outcome: isQuoted ? 'quoted' : summarized, cycle: at + 1, batch };
      }
      line = places[at]?.(line) ?? line;
    }
    return KEPT;
  };
}

/** Where a line that stays, or that was appended, is in the output of a compaction. */
function createPlaceFinder({ kept, inserted, source }: StoredCompaction): (line: number) => number {
  const own = inserted.map(({ beforeLine }) => beforeLine);
  const ownBefore = (line: number): number => own.filter((beforeLine) => beforeLine <= line).length;
  const starts: number[] = [];
  let count = 0;
  for (const run of kept) {
    starts.push(count);
    count += run.lineCount;
  }
  return (line) => {
    if (line > source.lineCount) return count + own.length + line - source.lineCount;
    const at = kept.findLastIndex(({ firstLine }) => firstLine <= line);
    return (starts[at] ?? 0) + line - (kept[at]?.firstLine ?? line) + 1 + ownBefore(line);
  };
}
