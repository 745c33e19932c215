import type { BeforeAfter, CompactReport, ConversationReport } from '../../app/contract/reports.ts';
import { type CompactRendering, renderCompactReport, renderRestoring, sumTokens } from '../render/compact.ts';
import { clipField } from './bounds.ts';
import type { ToolAnswer } from './tool.ts';

/** A remark is a sentence; a transcript of many conversations may have one for each of them. */
const MAX_NOTES = 10;

/** The figures of a compaction, and as text what the command line prints. Nothing in it grows with the number of conversations. */
export function answerCompacted(report: CompactReport, rendering: CompactRendering): ToolAnswer {
  const notes = [...new Set(report.notes)].slice(0, MAX_NOTES).map(clipField);
  const { file, format, result, reason, output, conversations, ledger, archive, plan, usage, bytes } = report;
  const tokens = sumTokens(report);
  const figures = {
    messages: sum(conversations, ({ messages }) => messages),
    tokens: { ...tokens, saved: tokens.before - tokens.after },
    bytes,
    lines: ledger,
    conversations: conversations.length,
    summaries: conversations.reduce((count, { batches }) => count + batches.length, 0),
    cycles: Math.max(0, ...conversations.map(({ cycles }) => cycles)),
  };
  const asked = plan === undefined ? {} : { requests: plan.requests, cost: plan.cost };
  return {
    text: renderCompactReport({ ...report, notes }, rendering).join('\n'),
    data: {
      result,
      ...(reason === undefined ? {} : { reason }),
      file,
      format,
      output,
      ...figures,
      archive,
      restore: renderRestoring(report, rendering),
      ...asked,
      ...(usage === undefined || usage.inputTokens === 0 ? {} : { usage }),
      notes,
    },
  };
}

function sum(
  conversations: readonly ConversationReport[],
  pick: (conversation: ConversationReport) => BeforeAfter,
): BeforeAfter {
  const changes = conversations.map(pick);
  return {
    before: changes.reduce((total, { before }) => total + before, 0),
    after: changes.reduce((total, { after }) => total + after, 0),
  };
}
