import type { Runtime } from '../../../ports/runtime.ts';
import type { VectorStore } from '../../../ports/vector-store.ts';
import type { SearchRequest } from '../../contract/requests.ts';
import { redactTexts } from '../../summarize/redacting-model.ts';
import { sendable } from './embed-missing.ts';
import { describeVectors, type EmbeddingService, embedTexts, isOfService } from './embed-texts.ts';

/** The vectors of what is looked for. */
export type QueryVectors = {
  /** Null: the query is to be looked for by its words alone; why, was told. */
  readonly find: (
    vectors: Pick<VectorStore, 'findModel'>,
    asked: Pick<SearchRequest, 'query' | 'upcoming'>,
  ) => Promise<Float32Array | null>;
};

type QueryDeps = {
  readonly service: EmbeddingService;
  readonly runtime: Pick<Runtime, 'now' | 'sleep' | 'random'>;
  readonly signal: AbortSignal;
  /** Shared by all who search for one user; undefined: these queries have one of their own. */
  readonly outage?: Outage | undefined;
};

/** Somebody waits for the answer: one try, and no long one. */
const LIMITS = { timeoutMs: 15_000, maxRetries: 0 } as const;
const MAX_AT_ONCE = 64;
const WORDS_ALONE = 'search is by words alone';

/** Asks once for a query and those that follow; each reason for doing without is told once. */
export function createQueryVectors({ service, runtime, signal, outage = createOutage() }: QueryDeps): QueryVectors {
  const known = new Map<string, Float32Array>();
  const told = new Set<string>();
  const redactor = service.createRedactor?.() ?? null;
  const doWithout = (why: string): null => {
    if (!told.has(why)) service.notice(`${why}; ${WORDS_ALONE}`);
    told.add(why);
    return null;
  };

  const embed = async (queries: readonly string[]): Promise<string | null> => {
    const texts = queries.map(sendable);
    const masked = redactor === null ? texts : redactTexts(texts, redactor);
    const embedded = await embedTexts({ ...service, runtime, signal }, masked, LIMITS);
    if (!embedded.ok) return embedded.error.message;
    known.clear();
    queries.forEach((query, at) => {
      const vector = embedded.value[at];
      if (vector !== undefined) known.set(query, vector);
    });
    return null;
  };

  return {
    find: async (vectors, { query, upcoming = [] }) => {
      if (sendable(query) === '') return null;
      const model = vectors.findModel();
      if (model === null) return doWithout('the archive has no vectors yet: `compact archive embed` makes them');
      if (!isOfService(model, service)) {
        return doWithout(
          `the vectors in the archive are by ${describeVectors(model)}, and the configuration names ${describeVectors(service)}: \`compact archive embed\` makes them anew`,
        );
      }
      const cached = known.get(query);
      if (cached?.length === model.dimensions) return cached;
      const nowMs = runtime.now().getTime();
      if (outage.isOn(nowMs)) return null;
      const others = upcoming.filter((one) => one !== query && sendable(one) !== '');
      const problem = await embed([...new Set([query, ...others])].slice(0, MAX_AT_ONCE));
      if (signal.aborted) return null;
      if (problem !== null) {
        // Who calls a search off says nothing about the service.
        if (!signal.aborted) outage.begin(nowMs);
        return doWithout(problem);
      }
      const vector = known.get(query);
      if (vector?.length === model.dimensions) return vector;
      const length = vector?.length ?? 0;
      return doWithout(
        `${service.model} gives ${length} numbers now, and those in the archive have ${model.dimensions}: with dimensions = ${length} in [embedding] \`compact archive embed\` makes them anew`,
      );
    },
  };
}

/** Whether a service that has failed is left alone for a while: who searches next does not wait for it too. */
export type Outage = {
  readonly begin: (nowMs: number) => void;
  readonly isOn: (nowMs: number) => boolean;
};

const PAUSE_MS = 60_000;

export function createOutage(): Outage {
  const state = { untilMs: 0 };
  return {
    begin: (nowMs) => {
      state.untilMs = nowMs + PAUSE_MS;
    },
    isOn: (nowMs) => nowMs < state.untilMs,
  };
}
