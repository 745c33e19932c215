import type { Archive } from '../ports/archive.ts';
import type { Prepared } from './prepare.ts';

/** Whether a transcript is, byte for byte, what a compaction with the same settings wrote: to do it again would change nothing. */
export function isOwnOutput(
  { conversations, scan }: Pick<Prepared, 'conversations' | 'scan'>,
  settingsSha256: string,
  archive: Pick<Archive, 'loadCompaction'>,
): boolean {
  return conversations.some(({ prior }) => {
    if (prior.kind !== 'lineage') return false;
    const writer = archive.loadCompaction(prior.cycle.compactionId);
    return writer !== null && writer.output.sha256 === scan.sha256 && writer.settingsSha256 === settingsSha256;
  });
}
