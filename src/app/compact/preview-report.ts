import type { CompactReport } from '../contract/reports.ts';
import type { CompactFileRequest } from '../contract/requests.ts';
import type { Prepared } from '../read/prepare.ts';
import { planOutcomes } from './plan-transcript.ts';
import { countLedger, reportBase, reportRetention, skippedReport } from './report.ts';
import { reportUsage } from './store.ts';
import type { Attempted } from './summarize-transcript.ts';

/** The plan with the summaries as they are: what was paid for is remembered, and nothing else is written. */
export function previewReport(
  transcript: Prepared,
  attempts: readonly Attempted[],
  request: CompactFileRequest,
): CompactReport {
  const plans = attempts.map((one) => (one.kind === 'compacted' ? one.result.plan : null));
  const { outcomes } = planOutcomes(transcript, plans);
  const { name: file } = request.input;
  const compacted = attempts.flatMap((one) => (one.kind === 'compacted' ? [one] : []));
  const results = compacted.map(({ result }) => result);
  const retention = reportRetention(
    results.flatMap(({ retentionOf }) => [...retentionOf.values()].map((one) => ({ label: '', retention: one }))),
  );
  const asIs = skippedReport(transcript, { file, reason: 'too-short', notes: [], output: null }).conversations;
  return {
    ...reportBase(transcript, file),
    result: 'planned',
    notes: compacted.flatMap(({ notes }) => notes),
    output: null,
    sha256: { before: transcript.scan.sha256, after: null },
    bytes: { before: transcript.source.sizeBytes, after: null },
    conversations: transcript.conversations.flatMap((_, index) => {
      const attempt = attempts[index];
      return attempt?.kind === 'compacted' ? [attempt.report] : asIs.slice(index, index + 1);
    }),
    ledger: countLedger(outcomes),
    archive: null,
    preview: results.map(({ prepared, text }) => ({ conversation: prepared.id, text: text() })),
    usage: reportUsage(results, request),
    ...(retention === undefined ? {} : { retention }),
  };
}
