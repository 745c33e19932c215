export type Goal = { readonly kind: 'at-most' | 'at-least'; readonly limit: number };

export type Row = { readonly name: string; readonly unit: string; readonly goal: Goal | null };

const atMost = (limit: number): Goal => ({ kind: 'at-most', limit });
const atLeast = (limit: number): Goal => ({ kind: 'at-least', limit });

const STARTS = '× node -e 0';
const LOOPS = '× bare loop';
const OVER_NODE = 'MB over Node';
const ARCHIVED = '× the bytes archived';
const GROWTH = '× the cost of the smallest';

const row = (name: string, unit: string, goal: Goal | null): Row => ({ name, unit, goal });

/** Everything that the benchmark measures, and its goal. Goals for files hold from 100 MB on: start-up weighs more on small files. */
export const ROWS = {
  version: row('compact --version', STARTS, atMost(1.3)),
  help: row('compact --help', STARTS, atMost(2)),
  'small.score': row('compact score', STARTS, atMost(2.5)),
  'small.dry-run': row('compact -n', STARTS, atMost(3)),
  'small.compact': row('compact', STARTS, atMost(4)),

  'claude-code.score': row('score', LOOPS, atMost(2)),
  'claude-code.compact': row('compact, with archive and search index', LOOPS, atMost(12)),
  'claude-code.verify': row('verify', LOOPS, atMost(4)),
  'claude-code.restore': row('restore', LOOPS, atMost(2)),
  'claude-code.archive': row('archive with search index', ARCHIVED, atMost(0.35)),
  'chat.score': row('score', LOOPS, atMost(4)),
  'chat.compact': row('compact, with archive and search index', LOOPS, atMost(25)),
  'chat.verify': row('verify', LOOPS, atMost(8)),
  'chat.restore': row('restore', LOOPS, atMost(4)),
  'chat.archive': row('archive with search index', ARCHIVED, atMost(0.6)),
  'peak.score': row('score, peak memory', OVER_NODE, atMost(150)),
  'peak.compact': row('compact, peak memory', 'MB', atMost(350)),
  'peak.verify': row('verify, peak memory', OVER_NODE, atMost(150)),
  'peak.restore': row('restore, peak memory', OVER_NODE, atMost(150)),

  'folder.compact': row('compact -i', 's', atMost(8)),
  'folder.jobs': row('-j 2 against -j 1', 'times as fast', atLeast(1.7)),
  'folder.peak': row('compact -i -j 4, peak memory', 'MB', atMost(700)),

  'growth.score': row('score, cost of a MB', GROWTH, atMost(1.3)),
  'growth.compact': row('compact, cost of a MB', GROWTH, atMost(1.3)),
  'growth.verify': row('verify, cost of a MB', GROWTH, atMost(1.3)),
  'growth.restore': row('restore, cost of a MB', GROWTH, atMost(1.3)),
  'growth.files': row('compact -i, cost of a file', GROWTH, atMost(1.3)),

  summarizer: row('offline summarizer', 's per million tokens', atMost(0.4)),
  'search.words': row('19 of 20 searches answer within', 'ms', atMost(40)),
  'search.meaning': row('the same with vectors, by meaning too', 'ms', atMost(40)),

  'peer.jq': row("jq -s '.[-1000:][]'", LOOPS, null),
  'peer.sqlite-utils': row('sqlite-utils insert, then enable-fts', LOOPS, null),
  'peer.langchain': row('LangChain trimMessages', LOOPS, null),
} as const satisfies { readonly [id: string]: Row };

export type RowId = keyof typeof ROWS;

/** The goal for a part of the input that it was set for. */
export function scaleGoal(goal: Goal | null, share: number): Goal | null {
  return goal === null ? null : { ...goal, limit: goal.limit * share };
}
