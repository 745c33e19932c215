import { ModelError, type ModelRequest, type ModelResponse } from '../../core/model-request.ts';
import type { Archive } from '../../ports/archive.ts';
import type { ModelProvider, Redactor } from '../../ports/model.ts';
import type { AppDeps, LaterAnswers } from '../contract/deps.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import { createPaidSummaries, type PaidSummaries } from './paid-summaries.ts';
import { createRedactingModel, redactRequest } from './redacting-model.ts';
import type { SummaryDeps } from './summarize-chunk.ts';
import { createMeter } from './usage.ts';

/** What summarizing one transcript needs. A service's model is masked, and its summaries are remembered in the archive. */
export function createSummaryDeps(
  { runtime, signal }: Pick<AppDeps, 'runtime' | 'signal'>,
  { summarizer, input }: Pick<CompactFileRequest, 'summarizer' | 'input'>,
  archive: Pick<Archive, 'summaries'> | null,
): SummaryDeps {
  const { model, service, fallback, stem } = summarizer;
  const common = { model, runtime, signal, ...(fallback === undefined ? {} : { fallback }) };
  if (service === undefined) return { ...common, ...(stem === undefined ? {} : { audit: { stem } }) };
  if (archive === null) throw new Error('a service needs an archive for the summaries that it is paid for');
  const redactor = service.createRedactor?.() ?? null;
  const paid = createPaidSummaries(archive.summaries, runtime, {
    ...service.paidAs,
    inFlight: service.inFlight,
  });
  const { later } = service;
  const mask: Mask = (one) => (redactor === null ? one : createRedactingModel(one, redactor));
  return {
    ...common,
    model: later === undefined ? mask(model) : createLaterModel(later, paid.keyOf, mask),
    ...(later === undefined ? {} : { isWaiting: later.isWaiting }),
    paid: redactor === null ? paid : withMasks(paid, redactor),
    limiter: service.limiter,
    ...(service.budget !== undefined && { budget: service.budget }),
    meter: createMeter(),
    notice: (sentence) => service.notice(`${input.name}: ${sentence}`),
    ...(stem === undefined ? {} : { audit: { stem, ...(redactor === null ? {} : { redactor }) } }),
  };
}

type Mask = (model: ModelProvider) => ModelProvider;

/** Gives the answers that have come, and writes the other requests down. */
function createLaterModel(later: LaterAnswers, keyOf: PaidSummaries['keyOf'], mask: Mask): ModelProvider {
  return {
    complete: (request, signal) => {
      const complete = async (sent: ModelRequest): Promise<ModelResponse> => {
        const key = keyOf(request);
        const known = await later.find(key);
        if (known !== null) return known;
        later.defer(key, sent);
        throw new ModelError('deferred', 'its answer comes later, from a batch', { retryable: false });
      };
      return mask({ complete }).complete(request, signal);
    },
  };
}

/** Masks a remembered summary again together with its request, so that its masks stand for the same secrets as in later requests. */
function withMasks(paid: PaidSummaries, redactor: Redactor): PaidSummaries {
  return {
    ...paid,
    find: async (request) => {
      const text = await paid.find(request);
      if (text === null) return null;
      redactRequest(request, redactor);
      return redactor.redact(text);
    },
  };
}
