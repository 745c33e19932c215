export type Goal = { readonly kind: 'at-most' | 'at-least'; readonly limit: number };

export type Row = { readonly name: string; readonly unit: string; readonly goal: Goal | null };

const atMost = (limit: number): Goal => ({ kind: 'at-most', limit });
const atLeast = (limit: number): Goal => ({ kind: 'at-least', limit });

const STARTS = '× node -e 0';
const LOOPS = '× bare loop';
const FLOORS = '× floor';
const OVER_NODE = 'MB over Node';
const ARCHIVED = '× the bytes archived';
const STORED = 'MB of archived lines a second';
const GROWTH = '× the cost of the smallest';

const row = (name: string, unit: string, goal: Goal | null): Row => ({ name, unit, goal });

/** Everything that the benchmark measures, and its goal. Goals for files hold from 100 MB on: start-up weighs more on small files. */
export const ROWS = {
  version: row('compact --version', STARTS, atMost(1.3)),
  help: row('compact --help', STARTS, atMost(1.8)),
  'small.score': row('compact score', STARTS, atMost(2.5)),
  'small.dry-run': row('compact -n', STARTS, atMost(3)),
  'small.compact': row('compact', STARTS, atMost(4)),

  'claude-code.score': row('score', LOOPS, atMost(2)),
  'claude-code.compact': row('compact', LOOPS, atMost(8)),
  'claude-code.index': row('archive index', LOOPS, atMost(6)),
  'claude-code.indexed': row('compact and archive index', LOOPS, atMost(14)),
  'claude-code.floor': row('compact', FLOORS, atMost(2.4)),
  'claude-code.indexed-floor': row('compact and archive index', `${FLOORS} with index`, atMost(1.2)),
  'claude-code.verify': row('verify', LOOPS, atMost(3)),
  'claude-code.restore': row('restore', LOOPS, atMost(2)),
  'claude-code.archive': row('archive', ARCHIVED, atMost(0.22)),
  'claude-code.indexed-archive': row('archive with search index', ARCHIVED, atMost(0.33)),
  'chat.score': row('score', LOOPS, atMost(4)),
  'chat.compact': row('compact', LOOPS, atMost(16)),
  'chat.index': row('archive index', LOOPS, atMost(12)),
  'chat.indexed': row('compact and archive index', LOOPS, atMost(28)),
  'chat.floor': row('compact', FLOORS, atMost(3.6)),
  'chat.indexed-floor': row('compact and archive index', `${FLOORS} with index`, atMost(2.9)),
  'chat.verify': row('verify', LOOPS, atMost(8)),
  'chat.restore': row('restore', LOOPS, atMost(4)),
  'chat.archive': row('archive', ARCHIVED, atMost(0.4)),
  'chat.indexed-archive': row('archive with search index', ARCHIVED, atMost(0.55)),
  'peak.score': row('score, peak memory', OVER_NODE, atMost(150)),
  'peak.compact': row('compact, peak memory', 'MB', atMost(350)),
  'peak.index': row('archive index, peak memory', OVER_NODE, atMost(150)),
  'peak.verify': row('verify, peak memory', OVER_NODE, atMost(150)),
  'peak.restore': row('restore, peak memory', OVER_NODE, atMost(150)),

  'folder.compact': row('compact -i', 's', atMost(8)),
  'folder.jobs': row('-j 2 against -j 1', 'times as fast', atLeast(1.7)),
  'folder.peak': row('compact -i -j 4, peak memory', 'MB', atMost(700)),

  'exchange.merge': row('archive merge', STORED, atLeast(40)),
  'exchange.import': row('archive import', STORED, atLeast(40)),

  'growth.score': row('score, cost of a MB', GROWTH, atMost(1.3)),
  'growth.compact': row('compact, cost of a MB', GROWTH, atMost(1.3)),
  'growth.index': row('archive index, cost of a MB', GROWTH, atMost(1.3)),
  'growth.verify': row('verify, cost of a MB', GROWTH, atMost(1.3)),
  'growth.restore': row('restore, cost of a MB', GROWTH, atMost(1.3)),
  'growth.files': row('compact -i, cost of a file', GROWTH, atMost(1.3)),
  'files.archive': row('archive', ARCHIVED, atMost(0.35)),
  'lineage.verify': row('verify', 's', atMost(1.5)),
  'lineage.restore': row('restore --all', 's', atMost(1)),

  summarizer: row('offline summarizer', 's per million tokens', atMost(0.4)),
  'search.words': row('19 of 20 searches answer within', 'ms', atMost(40)),
  'search.meaning': row('the same with vectors, by meaning too', 'ms', atMost(40)),

  'peer.zstd': row('zstd -3', LOOPS, null),
  'peer.ccusage': row('ccusage daily', LOOPS, null),
  'peer.scan': row('compact scan', LOOPS, null),
  'peer.jq': row("jq -s '.[-1000:][]'", LOOPS, null),
  'peer.sqlite-utils': row('sqlite-utils insert, then enable-fts', LOOPS, null),
  'peer.langchain': row('LangChain trimMessages', LOOPS, null),
} as const satisfies { readonly [id: string]: Row };

export type RowId = keyof typeof ROWS;

/** The goal for a part of the input that it was set for. */
export function scaleGoal(goal: Goal | null, share: number): Goal | null {
  return goal === null ? null : { ...goal, limit: goal.limit * share };
}
