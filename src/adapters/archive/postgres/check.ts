import type { EngineCheck } from '../check/check.ts';
import { countRows } from '../sql/query.ts';
import { finding, nowhere } from '../check/finding.ts';
import { POSTGRES } from './dialect.ts';

const STRAYS = `
message_words AS t
WHERE NOT EXISTS (SELECT 1 FROM lines WHERE id = t.line_id AND month = t.month AND role IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM captured_messages WHERE captured_id = -t.line_id AND line_id IS NULL)`;

/** Pages and indexes are the server's to check. */
export const POSTGRES_CHECK: EngineCheck = {
  structure: async function* structure() {},
  derived: async function* derived({ query }) {
    const count = await countRows(query, STRAYS);
    const what = `${count} of its rows ${count === 1 ? 'refers' : 'refer'} to missing messages`;
    if (count > 0) yield finding('search', nowhere('the search index of messages'), what);
    yield null;
  },
  lastIds: ['SELECT coalesce(max(id), 0) AS id FROM compactions'],
  fileBytes: POSTGRES.usedBytes,
};
