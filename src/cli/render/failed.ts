import type { Failure } from '../../app/contract/failure.ts';
import type { FailedReport, FailureKind, UsageReport } from '../../app/contract/reports.ts';
import { renderFailure } from './failure.ts';
import { countOf, formatCost, formatCount } from './quantities.ts';
import { safeText } from './safe-text.ts';

/** A failure as the line of `--json`; `file` is what the user calls the transcript. */
export function toFailedReport(
  file: string,
  failure: Exclude<Failure, { readonly kind: 'interrupted' }>,
): FailedReport {
  const usage = 'usage' in failure ? failure.usage : undefined;
  const report = failedReport(file, { kind: kindOf(failure), message: renderFailure(failure) + spentText(usage) });
  return usage === undefined ? report : { ...report, usage };
}

export function failedReport(file: string, error: FailedReport['error']): FailedReport {
  return { schema: 'compact/report@1', file, result: 'failed', error };
}

/** A sentence that names the file, also where what failed is another one (the archive, the output). */
export function renderFailed({ file, error: { message } }: FailedReport): string {
  const name = safeText(file);
  return message.startsWith(name) ? message : `${name}: ${message}`;
}

function kindOf(failure: Exclude<Failure, { readonly kind: 'interrupted' }>): FailureKind {
  if (failure.kind === 'file') return failure.failure.kind;
  return failure.kind === 'archive' ? `archive-${failure.failure.kind}` : failure.kind;
}

/** In the same line, because it belongs to the failure. */
function spentText(usage: UsageReport | undefined): string {
  if (usage === undefined || usage.inputTokens + usage.outputTokens === 0) return '';
  const { calls, inputTokens, outputTokens, cost } = usage;
  const price = cost === null ? '' : `, cost ${formatCost(cost)}`;
  return ` It took ${countOf(calls, 'call')}, ${countOf(inputTokens, 'token')} in, ${formatCount(outputTokens)} out${price}.`;
}
