import type { Archive } from '../ports/archive.ts';
import type { CompactDeps } from './deps.ts';
import { createPaidSummaries } from './paid-summaries.ts';
import { createRedactingModel } from './redacting-model.ts';
import type { SummaryDeps } from './summarize-chunk.ts';

/** What the summaries of one transcript are had with: the model, masked and remembered where it is a service. */
export function summaryDepsOf(deps: CompactDeps, archive: Archive, name: string): SummaryDeps {
  const { model, runtime, signal, service, fallback, stem } = deps;
  const common = { model, runtime, signal, ...(fallback === undefined ? {} : { fallback }) };
  if (service === undefined) return { ...common, ...(stem === undefined ? {} : { audit: { stem } }) };
  const redactor = service.createRedactor?.() ?? null;
  return {
    ...common,
    model: redactor === null ? model : createRedactingModel(model, redactor),
    paid: createPaidSummaries(archive.summaries, runtime, service.paidAs),
    limiter: service.limiter,
    notice: (sentence) => service.notice(`${name}: ${sentence}`),
    ...(stem === undefined ? {} : { audit: { stem, ...(redactor === null ? {} : { redactor }) } }),
  };
}
