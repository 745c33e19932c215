import { originOf } from '../../core/origin-key.ts';
import type { ClipMark } from '../../core/transcript.ts';
import type { Archive, StoredCompaction, StoredCycle } from '../../ports/archive.ts';
import type { AppDeps } from '../contract/deps.ts';
import { parseRecord, trimRecord } from './records.ts';

type Deps = Pick<AppDeps, 'formats' | 'runtime'>;

/** The compactions that a clip-archive names by the key in its last line, newest first. */
function findNamedCompactions(
  { runtime }: Pick<Deps, 'runtime'>,
  archive: Archive,
  { key }: ClipMark,
): readonly StoredCompaction[] {
  if (key === null) return [];
  return archive
    .listCompactions()
    .filter((one) => runtime.sha256(originOf(one.sourceSha256, one.settingsSha256)).startsWith(key))
    .flatMap(({ compactionId }) => archive.loadCompaction(compactionId) ?? []);
}

/**
 * The cycle whose clip-archive says the same, word for word, in a record that the producer wrote anew: in a document that became a log, a session of
 * an older version, an export. The key alone is no proof: anybody can write one into a transcript.
 */
export function findRewrittenCycle(
  deps: Deps,
  archive: Archive,
  clip: ClipMark,
): { readonly cycle: StoredCycle; readonly format: string } | null {
  for (const compaction of findNamedCompactions(deps, archive, clip)) {
    const textOf = createTextReader(deps, compaction);
    const cycle = compaction.cycles.find((one) => textOf(one.clipSha256) === clip.textSha256);
    if (cycle !== undefined) return { cycle, format: compaction.format };
  }
  return null;
}

/** Gives the sha256 of a clip-archive's text by that of its line. */
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
    const parsed = line === undefined ? null : parseRecord(formats, codec, line);
    if (parsed === null || !parsed.ok) return null;
    const decoded = codec.open().decode(parsed.value, 1);
    return 'problem' in decoded ? null : runtime.sha256(normalizeClipText(decoded.message?.content ?? ''));
  };
}

/** The text without what a producer may change when it writes a record anew: white space. */
export function normalizeClipText(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
