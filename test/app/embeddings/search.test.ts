import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SearchReport } from '../../../src/app/contract/archive-reports.ts';
import type { SearchRequest } from '../../../src/app/contract/requests.ts';
import { embedArchive } from '../../../src/app/search/embeddings/embed-archive.ts';
import { createQueryVectors } from '../../../src/app/search/embeddings/query-vectors.ts';
import { searchArchive } from '../../../src/app/search/search-archive.ts';
import { chatLine, chatTranscript } from '../../support/chat.ts';
import { fakeService, meaningBench, toyVectors } from '../../support/meaning-bench.ts';
import { reportOf, type Workbench } from '../../support/workbench.ts';

const SYNONYMS = { vessel: 'boat', painted: 'varnished' };
const ANY = { conversation: null, role: null, since: null, until: null, source: null } as const;
const BOAT = chatLine({ role: 'user', id: 'boat', content: 'the boat was varnished' });

const knowing = () => fakeService({}, (texts) => toyVectors(texts, undefined, SYNONYMS));

async function benchWith(t: Parameters<typeof meaningBench>[0]): Promise<Workbench> {
  const bench = meaningBench(t);
  bench.write('talk.jsonl', `${chatTranscript(30)}${BOAT}\n${chatTranscript(30, 500)}`);
  reportOf(await bench.compact('talk.jsonl'));
  const done = await embedArchive({ ...bench.deps, service: knowing() });
  assert.ok(done.ok && done.value.result === 'complete');
  return bench;
}

async function search(
  bench: Workbench,
  changes: Partial<SearchRequest>,
  service: ReturnType<typeof fakeService> | null = knowing(),
): Promise<SearchReport> {
  const request: SearchRequest = {
    ...ANY,
    query: 'painted vessel',
    kinds: 'all',
    order: 'best',
    limit: 10,
    ...changes,
  };
  const queryVectors = service === null ? undefined : createQueryVectors({ ...bench.deps, service });
  const found = await searchArchive(queryVectors === undefined ? bench.deps : { ...bench.deps, queryVectors }, request);
  assert.ok(found.ok, JSON.stringify(found));
  return found.value;
}

test('A5: what was said in other words is found by its meaning, and not without', async (t) => {
  const bench = await benchWith(t);
  const [hit] = (await search(bench, { kinds: 'messages' })).hits;
  assert.deepEqual([hit?.id, hit?.text, hit?.marks], ['boat', 'the boat was varnished', []]);
  assert.deepEqual((await search(bench, { kinds: 'messages' }, null)).hits, []);
});

test('A5: a summary is found by its meaning too', async (t) => {
  const bench = await benchWith(t);
  assert.ok((await search(bench, { kinds: 'batches' })).hits.length > 0);
  assert.deepEqual((await search(bench, { kinds: 'batches' }, null)).hits, []);
});

test('the newest first are those with the words: their meaning is not asked for', async (t) => {
  const bench = await benchWith(t);
  const service = knowing();
  assert.deepEqual((await search(bench, { order: 'newest' }, service)).hits, []);
  assert.deepEqual(service.sent, []);
});

test('where the vectors cannot be had the words are looked for', async (t) => {
  const bench = await benchWith(t);
  const other = fakeService({ model: 'another' });
  const { hits } = await search(bench, { query: 'varnish', kinds: 'messages', limit: 1 }, other);
  assert.deepEqual(
    hits.map(({ id }) => id),
    ['boat'],
  );
  assert.match(other.notices.join(), /uses words only/);
});
