import type { Archive } from '../../ports/archive.ts';
import type { Prepared } from '../read/prepare.ts';

/** Whether a transcript is, byte for byte, what a compaction with the same settings wrote: to do it again would change nothing. */
export function isOwnOutput(
  { conversations, scan }: Pick<Prepared, 'conversations' | 'scan'>,
  settingsSha256: string,
  archive: Pick<Archive, 'loadCompaction'>,
): boolean {
  const writers = new Set(
    conversations.flatMap(({ prior }) => (prior.kind === 'lineage' ? [prior.cycle.compactionId] : [])),
  );
  return [...writers].some((id) => {
    const writer = archive.loadCompaction(id);
    return writer !== null && writer.output.sha256 === scan.sha256 && writer.settingsSha256 === settingsSha256;
  });
}
