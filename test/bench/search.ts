import { openArchive } from '../../src/adapters/archive/sqlite.ts';
import { formatRegistry } from '../../src/adapters/transcript/format-registry.ts';
import { searchArchive } from '../../src/app/search-archive.ts';
import { createWriter } from './prose.ts';

const ANY = { conversation: null, role: null, since: null, until: null, source: null } as const;
const QUERIES = 200;
const SLOWEST_SHARE = 0.05;

/** The time within which 19 of 20 searches of an archive answer, excerpts included: single words, a few, whole sentences, paths. */
export async function searchP95Ms(archivePath: string): Promise<number> {
  const opened = openArchive({ path: archivePath, create: false });
  if (!opened.ok) throw new Error(JSON.stringify(opened.error));
  const archive = opened.value;
  const deps = {
    openArchive: () => Promise.resolve({ ok: true, value: archive } as const),
    archivePath,
    formats: formatRegistry,
  };
  const writer = createWriter(9);
  const asked = [writer.word, () => `${writer.word()} ${writer.word()} ${writer.word()}`, writer.sentence, writer.path];
  const times: number[] = [];
  for (let at = 0; at < QUERIES; at += 1) {
    const query = asked[at % asked.length]?.() ?? '';
    const before = performance.now();
    const found = await searchArchive(deps, { ...ANY, query, kinds: 'all', order: 'best', limit: 10 });
    times.push(performance.now() - before);
    if (!found.ok) throw new Error(JSON.stringify(found.error));
  }
  archive.close();
  return times.sort((a, b) => a - b)[Math.floor(QUERIES * (1 - SLOWEST_SHARE))] ?? Number.NaN;
}
