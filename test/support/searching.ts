import assert from 'node:assert/strict';
import type { MessageHit, SearchReport } from '../../src/app/contract/archive-reports.ts';
import type { SearchRequest } from '../../src/app/contract/requests.ts';
import { searchArchive } from '../../src/app/search/search-archive.ts';
import type { Workbench } from './workbench.ts';

const ANY = { conversation: null, role: null, since: null, until: null, source: null } as const;

export async function search(
  { deps }: Pick<Workbench, 'deps'>,
  query: string,
  changes: Partial<SearchRequest> = {},
): Promise<SearchReport> {
  const found = await searchArchive(deps, { ...ANY, query, kinds: 'all', order: 'best', limit: 10, ...changes });
  assert.ok(found.ok, JSON.stringify(found));
  return found.value;
}

/** Only the messages. */
export async function findMessages(...of: Parameters<typeof search>): Promise<readonly MessageHit[]> {
  return (await search(...of)).hits.filter((hit) => hit.kind === 'message');
}
