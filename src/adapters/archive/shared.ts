import type { Archive } from '../../ports/archive.ts';
import { createCheck, type EngineCheck } from './check/check.ts';
import { createCaptureStore } from './store/captures.ts';
import { createCatalog } from './read/catalog.ts';
import { createCompactionReader } from './read/compactions.ts';
import { createLineReader, createOriginals } from './read/lines.ts';
import { readUsedBytes } from './read/used-bytes.ts';
import { createRetention } from './erase/retention.ts';
import type { RetentionEngine } from './erase/erase.ts';
import type { Sql } from './sql/query.ts';
import { createDroppedRules } from './store/dropped-rules.ts';
import { createProviderBatches } from './store/provider-batches.ts';
import { createRunLog } from './store/runs.ts';
import { createSummaryCache } from './store/summaries.ts';

type Place = {
  /** For messages. */
  readonly path: string;
  /** What the archive takes on disk. */
  readonly fileBytes: () => number | Promise<number>;
};

type Engine = { readonly check: EngineCheck; readonly retention: RetentionEngine };

type Lookup = ReturnType<typeof createCatalog> & ReturnType<typeof createOriginals>;

/** Looks things up, also in one state of the archive. */
export function createLookup(sql: Sql, { path, fileBytes }: Place): Lookup {
  return { ...createCatalog(sql, fileBytes), ...createOriginals(sql, path) };
}

type Shared = Lookup &
  ReturnType<typeof createCompactionReader> &
  ReturnType<typeof createLineReader> &
  Pick<
    Archive,
    'runs' | 'summaries' | 'providerBatches' | 'captures' | 'droppedRules' | 'retention' | 'usedBytes' | 'check'
  >;

/** The parts of an archive that are the same with every engine. */
export function createShared(sql: Sql, place: Place, engine: Engine): Shared {
  return {
    ...createLookup(sql, place),
    ...createCompactionReader(sql),
    ...createLineReader(sql),
    runs: createRunLog(sql),
    summaries: createSummaryCache(sql),
    providerBatches: createProviderBatches(sql),
    captures: createCaptureStore(sql, place.path),
    droppedRules: createDroppedRules(sql),
    retention: createRetention(sql, place.path, engine.retention),
    check: createCheck(sql, place.path, engine.check),
    usedBytes: () => readUsedBytes(sql),
  };
}
