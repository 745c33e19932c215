import { openArchive } from '../../src/adapters/archive/sqlite/open.ts';
import { findVectorExtension } from '../../src/adapters/archive/sqlite/extension.ts';
import { searchArchive, type SearchDeps } from '../../src/app/search/search-archive.ts';
import type { Archive } from '../../src/ports/archive.ts';
import { INDEX_DEPS, indexAll } from '../support/indexing.ts';
import type { Times } from './measure/bench.ts';
import { createWriter } from './prose.ts';
import { createVectors, fillVectors } from './vectors.ts';

const ANY = { conversation: null, role: null, since: null, until: null, source: null } as const;
const QUERIES = 200;
const SLOWEST_SHARE = 0.05;

export type SearchMeasured = {
  readonly words: Times;
  /** With vectors; what they take in the archive, for each that is in it. */
  readonly meaning: Times;
  readonly vectorBytes: number;
};

/** The time within which 19 of 20 searches of an archive answer, excerpts included: single words, a few, whole sentences, paths. */
export async function measureSearches(archivePath: string): Promise<SearchMeasured> {
  const extension = await findVectorExtension();
  if (!extension.ok) throw new Error(extension.error);
  const inArchive = async <T>(work: (archive: Archive) => T | Promise<T>): Promise<T> => {
    const opened = await openArchive({ path: archivePath, create: false, vectorExtension: extension.value });
    if (!opened.ok) throw new Error(JSON.stringify(opened.error));
    try {
      return await work(opened.value);
    } finally {
      await opened.value.close(); // the log of what was written is taken in
    }
  };
  const bytesOf = (): Promise<number> => inArchive(async (archive) => (await archive.measure()).bytes.file);
  await inArchive(indexAll);
  const words = await inArchive((archive) => timeSearches(archive, {}));
  const before = await bytesOf();
  const count = await inArchive(async (archive) => {
    await fillVectors(archive);
    return (await archive.vectors.count()).done;
  });
  const vectorBytes = ((await bytesOf()) - before) / count;
  const next = createVectors(9);
  const queryVectors = { find: () => Promise.resolve(next()) };
  const meaning = await inArchive((archive) => timeSearches(archive, { queryVectors }));
  return { words, meaning, vectorBytes };
}

async function timeSearches(archive: Archive, meaning: Pick<SearchDeps, 'queryVectors'>): Promise<Times> {
  const deps = {
    openArchive: () => Promise.resolve({ ok: true, value: archive } as const),
    archivePath: archive.path,
    ...INDEX_DEPS,
    ...meaning,
  };
  const writer = createWriter(9);
  const asked = [writer.word, () => `${writer.word()} ${writer.word()} ${writer.word()}`, writer.sentence, writer.path];
  const times: Times[] = [];
  for (let at = 0; at < QUERIES; at += 1) {
    const query = asked[at % asked.length]?.() ?? '';
    const before = performance.now();
    const cpuBefore = process.cpuUsage();
    const found = await searchArchive(deps, { ...ANY, query, kinds: 'all', order: 'best', limit: 10 });
    const { user, system } = process.cpuUsage(cpuBefore);
    times.push({ wallMs: performance.now() - before, cpuMs: (user + system) / 1000 });
    if (!found.ok) throw new Error(JSON.stringify(found.error));
  }
  const p95 = (measured: readonly number[]): number =>
    measured.toSorted((a, b) => a - b)[Math.floor(QUERIES * (1 - SLOWEST_SHARE))] ?? Number.NaN;
  return { wallMs: p95(times.map(({ wallMs }) => wallMs)), cpuMs: p95(times.map(({ cpuMs }) => cpuMs)) };
}
