import type { Runtime } from '../../../ports/runtime.ts';
import type { VectorStore } from '../../../ports/archive-lookup.ts';
import type { SearchRequest } from '../../contract/requests.ts';
import { redactTexts } from '../../summarize/redacting-model.ts';
import { describeVectors, type EmbeddingService, embedTexts, isOfService, sendable } from './embed-texts.ts';

export type QueryVectors = {
  /** Null: search by words alone; the reason was reported. */
  readonly find: (
    vectors: Pick<VectorStore, 'findModel'>,
    asked: Pick<SearchRequest, 'query' | 'upcoming'>,
  ) => Promise<Float32Array | null>;
};

type QueryDeps = {
  readonly service: EmbeddingService;
  readonly runtime: Pick<Runtime, 'now' | 'sleep' | 'random'>;
  readonly signal: AbortSignal;
  /** Shared by all searches of one user; undefined: these queries have their own. */
  readonly outage?: Outage | undefined;
};

/** A person waits for the answer: one short attempt. */
const LIMITS = { timeoutMs: 15_000, maxRetries: 0 } as const;
const MAX_AT_ONCE = 64;
const WORDS_ALONE = 'this search uses words only';

/** Makes one request for a query and those that follow; reports each reason for doing without only once. */
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
      const model = await vectors.findModel();
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
        // An interrupted search says nothing about the service.
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

/** Whether a failed service is left alone for a while, so that the next search does not wait for it too. */
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
