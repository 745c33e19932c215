import type { Archive } from '../../ports/archive.ts';
import type { Redactor } from '../../ports/model.ts';
import type { AppDeps } from '../contract/deps.ts';
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
  return {
    ...common,
    model: redactor === null ? model : createRedactingModel(model, redactor),
    paid: redactor === null ? paid : withMasks(paid, redactor),
    limiter: service.limiter,
    meter: createMeter(),
    notice: (sentence) => service.notice(`${input.name}: ${sentence}`),
    ...(stem === undefined ? {} : { audit: { stem, ...(redactor === null ? {} : { redactor }) } }),
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
