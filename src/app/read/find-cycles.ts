import { originOf } from '../../core/clip-archive.ts';
import type { ClipMark } from '../../core/transcript.ts';
import type { Archive, StoredCompaction, StoredCycle } from '../../ports/archive.ts';
import type { Codec } from '../../ports/codec.ts';
import type { AppDeps } from '../contract/deps.ts';
import { parseRecord, trimRecord } from './records.ts';

type Deps = Pick<AppDeps, 'formats' | 'runtime'>;

/** The compactions whose key is in the last line of a clip-archive, newest first. */
async function* findNamedCompactions(
  { runtime }: Pick<Deps, 'runtime'>,
  archive: Archive,
  { key }: ClipMark,
): AsyncGenerator<StoredCompaction> {
  if (key === null) return;
  for (const { compactionId, sourceSha256, settingsSha256 } of await archive.listCompactions()) {
    if (!runtime.sha256(originOf(sourceSha256, settingsSha256)).startsWith(key)) continue;
    const compaction = await archive.loadCompaction(compactionId);
    if (compaction !== null) yield compaction;
  }
}

/**
 * The cycle whose clip-archive has the same text, although its producer rewrote the record: a document that became a log, a session of an
 * older version, an export. The key alone proves nothing, because anybody can write one into a transcript.
 */
export async function findRewrittenCycle(deps: Deps, archive: Archive, clip: ClipMark): Promise<RewrittenCycle | null> {
  for await (const found of findRewrittenCycles(deps, archive, clip)) return found;
  return null;
}

type RewrittenCycle = { readonly cycle: StoredCycle; readonly format: string };

/** All of them, the newest first: copies of a file have one each. */
export async function* findRewrittenCycles(
  deps: Deps,
  archive: Archive,
  clip: ClipMark,
): AsyncGenerator<RewrittenCycle> {
  for await (const compaction of findNamedCompactions(deps, archive, clip)) {
    const textOf = createTextReader(deps, compaction);
    const cycle = compaction.cycles.find((one) => textOf(one.clipSha256) === clip.textSha256);
    if (cycle !== undefined) yield { cycle, format: compaction.format };
  }
}

/** Looks up the sha256 of a clip-archive's text by that of its line. */
function createTextReader(
  { formats, runtime }: Deps,
  { inserted, format }: StoredCompaction,
): (clipSha256: string) => string | null {
  const codec = formats.find(format);
  if (codec === null) return () => null;
  const lines = new Map(
    inserted.map(({ bytes }) => trimRecord(codec, bytes)).map((line) => [runtime.sha256(line), line]),
  );
  return (clipSha256) => {
    const line = lines.get(clipSha256);
    return line === undefined ? null : clipTextOf({ formats, runtime }, codec, line);
  };
}

/** The sha256 of the text in a trimmed record, as `ClipMark` has it; null: it cannot be read. */
export function clipTextOf({ formats, runtime }: Deps, codec: Codec, record: Uint8Array): string | null {
  const parsed = parseRecord(formats, codec, record);
  const decoded = parsed.ok ? codec.open().observe(parsed.value, 1) : null;
  if (decoded === null || 'problem' in decoded) return null;
  return runtime.sha256(normalizeClipText(decoded.message?.content ?? ''));
}

/** The text without the white space that a producer may change when it rewrites a record. */
export function normalizeClipText(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Checks on the way back through compactions that every continued cycle is found. */
type LineageCheck = {
  readonly add: (compaction: StoredCompaction) => Promise<void>;
  /** Cycles whose clip-archive was found in a record that its producer rewrote. */
  readonly addFound: (cycles: readonly StoredCycle[]) => Promise<void>;
  /** Cycles that continue one that was not found: what came before it is lost. */
  readonly orphans: () => readonly StoredCycle[];
};

export function createLineageCheck(archive: Archive): LineageCheck {
  const children = new Map<number, StoredCycle>();
  const found = new Set<number>();
  return {
    add: async ({ cycles }) => {
      for (const cycle of cycles) if (cycle.parentCycleId !== null) children.set(cycle.parentCycleId, cycle);
      // Copies of one file, or of one conversation in it, contain the same line: each of them counts as that cycle.
      const clips = new Set(cycles.map(({ clipSha256 }) => clipSha256));
      for (const clip of clips) for (const { id } of await archive.findCycles(clip)) found.add(id);
    },
    addFound: async (cycles) => {
      for (const { clipSha256 } of cycles) for (const { id } of await archive.findCycles(clipSha256)) found.add(id);
    },
    orphans: () => [...children].flatMap(([parentId, child]) => (found.has(parentId) ? [] : [child])),
  };
}
