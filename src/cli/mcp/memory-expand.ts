import { z } from 'zod';
import type { ShowReport } from '../../app/contract/archive-reports.ts';
import type { LookupFailure } from '../../app/contract/failure.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { renderFailure } from '../render/failure.ts';
import { safeText } from '../render/safe-text.ts';
import type { UseCases } from '../use-cases.ts';
import { clipField } from './bounds.ts';
import { answerPage, answerSummary } from './expanded.ts';
import { type Cursor, FIRST, parseCursor, readPage } from './page.ts';
import { type McpScope, NOT_SHOWN, showsBatch, showsMessage, showsReport } from './scope.ts';
import { defineTool, type Tool, type ToolOutcome } from './tool.ts';

const DESCRIPTION = `Gives the exact words behind something that memory_read found, or that a summary in your context names: the original messages, as they were said, with their times and ids.

Give one of the two: label (of a summary, or its beginning) or id ("message:7" for one message, "batch:2" for a summary, or a message's own id). The key of a context summary's last line, [Archive: KEY holds the lines that left …], is a label too: behind it is all that left that transcript.

Long answers come in pages: call again with the cursor that the answer names.`;

const input = z.strictObject({
  label: z.string().min(1).optional().describe("a summary's label or its beginning, or the key in [Archive: KEY …]"),
  id: z.string().min(1).optional().describe('"message:N", "batch:N", or the own id of a message'),
  what: z
    .enum(['messages', 'summary'])
    .default('messages')
    .describe('the original messages, or the text of the summary itself'),
  cursor: z.string().optional().describe('where to go on, as the answer before said'),
});

type Args = z.output<typeof input>;

/** What `compact show NAME --messages` gives, and with `what: "summary"` what `compact show NAME` does, in pages. */
export function createMemoryExpand(openUseCases: (signal: AbortSignal) => Promise<UseCases>, scope: McpScope): Tool {
  return defineTool({
    name: 'memory_expand',
    title: 'Read past messages',
    description: DESCRIPTION,
    input,
    hints: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    isOffered: true,
    call: async (args, signal) => {
      const sought = readSought(args);
      if (!sought.ok) return sought;
      const useCases = await openUseCases(signal);
      try {
        return await expand(useCases, sought.value, scope);
      } finally {
        useCases.close();
      }
    },
  });
}

type Sought = { readonly name: string; readonly what: Args['what']; readonly cursor: Cursor };

function readSought({ label, id, what, cursor: text }: Args): Result<Sought, string> {
  const name = label ?? id;
  if (name === undefined || (label !== undefined && id !== undefined)) {
    return err('Give a label or an id, one of the two; memory_read names them.');
  }
  const cursor = text === undefined ? FIRST : parseCursor(text);
  if (cursor === null) {
    return err(
      `'${safeText(clipField(text ?? ''))}' is no cursor: give the one of the answer before, or none to begin.`,
    );
  }
  return ok({ name, what, cursor });
}

async function expand(useCases: UseCases, { name, what, cursor }: Sought, scope: McpScope): ToolOutcome {
  const shown = await useCases.showArchived({ name });
  if (!shown.ok) return err(isLimited(scope) && isAboutNames(shown.error) ? NOT_SHOWN : renderFailure(shown.error));
  if (!showsReport(scope, shown.value)) return err(NOT_SHOWN);
  const report = within(scope, shown.value);
  if (what === 'summary') {
    return report.kind === 'message'
      ? err('That is a message, not a summary: leave what away for its words.')
      : ok(answerSummary(report, cursor));
  }
  // Found by now; the name that it has of its own is found faster, and means nothing else meanwhile.
  const page = await readPage(useCases, report.kind === 'compaction' ? name : report.show, {
    cursor,
    isShown: (message) => showsMessage(scope, message),
  });
  return page.ok ? ok(answerPage(report, page.value)) : err(renderFailure(page.error));
}

function isLimited({ source, since }: McpScope): boolean {
  return source !== null || since !== null;
}

/** Names that are like it may be of what is not shown. */
function isAboutNames({ kind }: LookupFailure): boolean {
  return kind === 'not-archived' || kind === 'ambiguous';
}

function within(scope: McpScope, report: ShowReport): ShowReport {
  if (report.kind !== 'compaction') return report;
  return { ...report, batches: report.batches.filter((batch) => showsBatch(scope, batch)) };
}
