import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const FIXTURES = join(import.meta.dirname, '../../../fixtures/archives');

/** Transcripts that each frozen archive has compacted, twice. */
export const FROZEN_TRANSCRIPTS = ['talk.jsonl', 'session.jsonl'] as const;

/** The schema versions of which there is an archive as it was written then, lowest first. */
export function frozenVersions(): readonly number[] {
  const versions = readdirSync(FIXTURES).flatMap((name) => /^schema-(\d+)$/.exec(name)?.[1] ?? []);
  return versions.map(Number).sort((a, b) => a - b);
}

/** Puts an archive of an earlier schema and its compacted transcripts into a folder; gives the archive's path. */
export function thawArchive(version: number, folder: string): string {
  const from = join(FIXTURES, `schema-${version}`);
  const path = join(folder, 'archive.db');
  writeFileSync(path, gunzipSync(readFileSync(join(from, 'archive.db.gz'))), { mode: 0o600 });
  for (const name of FROZEN_TRANSCRIPTS) copyFileSync(join(from, name), join(folder, name));
  return path;
}

/** What restoring one of them to before its first compaction has to give. */
export function restoredOf(version: number, name: (typeof FROZEN_TRANSCRIPTS)[number]): Buffer {
  return readFileSync(join(FIXTURES, `schema-${version}`, name.replace('.jsonl', '.restored.jsonl')));
}
