import type { Archive } from '../../ports/archive.ts';
import { lazily } from '../../core/lazy.ts';
import { createUnpack } from './blocks.ts';
import type { LaterEngine } from './loaded-later.ts';
import { createCompactionReader } from './read/compactions.ts';
import { createLineReader } from './read/lines.ts';
import { readUsedBytes, type Sql, within } from './sql/query.ts';
import { createCompactionStore } from './store/compactions.ts';
import { createChoices, createProviderBatches, createSummaryCache } from './store/records.ts';
import type { StoreEngine } from './store/engine.ts';
import { createRunLog } from './store/runs.ts';

/** What engines do differently. */
type Engine = {
  readonly store: StoreEngine;
  readonly loadOthers: () => Promise<LaterEngine>;
  /** The same port, whose methods throw `ArchiveError`s for failures of the database. */
  readonly guard: <Port extends object>(port: Port) => Port;
};

const LIST_UNPURGED = 'SELECT id FROM erasures WHERE is_purged <> 1 LIMIT 1';

/** The archive in a database. */
export function createArchive(
  sql: Sql,
  facts: Pick<Archive, 'path' | 'isReadOnly' | 'isReadableWhileStoring' | 'close'>,
  engine: Engine,
): Archive {
  const { path } = facts;
  const reading = { ...sql, unpack: createUnpack() };
  const load = lazily(async () => {
    const [parts, others] = await Promise.all([import('./loaded-later.ts'), engine.loadOthers()]);
    return { createState: parts.createState, others, parts: parts.createLaterParts(reading, path, others) };
  });
  const later = onDemand(async () => (await load()).parts, {
    findBatches: 'once',
    findLines: 'once',
    loadLines: 'once',
    nearLabels: 'once',
    loadSources: 'once',
    loadReplacements: 'once',
    readOriginals: 'several',
    readLine: 'once',
    readHeads: 'once',
    readBefore: 'once',
    listOpenings: 'once',
    listCompactions: 'once',
    measure: 'once',
    searchBatches: 'once',
    messages: {
      countMessages: 'once',
      listSpeakers: 'once',
      countHits: 'once',
      listHits: 'once',
      listHitsAmong: 'once',
      listFrom: 'once',
      loadCandidates: 'once',
      listNewest: 'once',
    },
    vectors: {
      findModel: 'once',
      count: 'once',
      countMissing: 'once',
      listMissing: 'once',
      keep: 'once',
      nearestMessages: 'once',
      similarities: 'once',
      nearestBatches: 'once',
    },
    index: { measure: 'once', read: 'once', add: 'once' },
    captures: {
      find: 'once',
      list: 'once',
      listStates: 'once',
      read: 'several',
      begin: 'once',
      confirm: 'once',
      markGone: 'once',
    },
    retention: {
      listHolds: 'once',
      addHold: 'once',
      removeHold: 'once',
      lastFileId: 'once',
      listErasable: 'several',
      findMessageLines: 'once',
      readPieces: 'several',
      findEffect: 'once',
      erase: 'once',
      purge: 'once',
      listErasures: 'once',
    },
    log: { list: 'once', add: 'once' },
    backup: 'once',
    check: 'several',
  });
  return engine.guard({
    ...facts,
    ...later,
    ...createCompactionReader(reading),
    ...createLineReader(reading),
    ...createCompactionStore(sql, engine.store),
    runs: createRunLog(sql),
    summaries: createSummaryCache(sql),
    providerBatches: createProviderBatches(sql),
    choices: createChoices(sql),
    // Every command that opens an archive asks this, so it is not loaded later.
    retention: { ...later.retention, isPurged: async () => (await sql.query(LIST_UNPURGED)).length === 0 },
    usedBytes: () => readUsedBytes(sql),
    inOneState: async (work) => {
      const { createState, others } = await load();
      const { query, rollback } = await sql.begin('snapshot');
      try {
        return await work(engine.guard(createState({ ...reading, ...within(sql, query) }, path, others)));
      } finally {
        await rollback(); // nothing was written
      }
    },
  });
}

type Method = (...args: readonly never[]) => unknown;
type Several = (...args: readonly never[]) => AsyncIterable<unknown>;

/** Whether a method of a port answers once or several times; a part of the port has methods of its own. */
type Answers<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends Several
    ? 'several'
    : Port[Name] extends Method
      ? 'once'
      : Answers<Port[Name]>;
};

/** A port that is loaded when one of its methods is called for the first time. */
export function onDemand<Port extends object>(load: () => Promise<Port>, answers: Answers<Port>): Port {
  return createPart(lazily(load), answers) as Port; // the same names with values of the same types
}

function createPart(load: () => Promise<object>, answers: object): object {
  const entries = Object.entries(answers).map(([name, answer]: readonly [string, object | string]) => {
    const loadValue = async (): Promise<Record<string, Method>> => Reflect.get(await load(), name);
    if (typeof answer === 'object') return [name, createPart(loadValue, answer)];
    const call = async (args: readonly unknown[]): Promise<{ readonly answer: unknown }> => {
      const port = await load();
      return { answer: Reflect.apply(Reflect.get(port, name), port, args) };
    };
    const several = async function* (...args: readonly unknown[]): AsyncGenerator {
      yield* (await call(args)).answer as AsyncIterable<unknown>;
    };
    return [name, answer === 'several' ? several : async (...args: readonly unknown[]) => (await call(args)).answer];
  });
  return Object.fromEntries(entries);
}
