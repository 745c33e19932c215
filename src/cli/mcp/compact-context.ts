import { z } from 'zod';
import type { CompactReport } from '../../app/contract/reports.ts';
import { toModel } from '../../config/resolve.ts';
import type { CompactFileRequest, OutputTarget } from '../../app/contract/requests.ts';
import { err, ok, type Result } from '../../core/result.ts';
import {
  type CompactRendering,
  renderCompactReport,
  renderRestoring,
  sumChanges,
  sumTokens,
} from '../render/compact.ts';
import { renderFailure } from '../../messages/failure.ts';
import { safeText } from '../../messages/text.ts';
import { PLAIN_THEME } from '../render/theme.ts';
import { archiveToName, policyOf } from '../runs/compact.ts';
import { createEmbeddingsIfAny, createSummarizer } from '../runs/services.ts';
import type { Session } from '../session.ts';
import { compactedPath } from '../../compose/transcript-files.ts';
import { type AllowedFolder, leadsOutside, openAllowed } from './allowed-path.ts';
import { clipField, defineTool, type Tool, type ToolAnswer, type ToolOutcome } from './tool.ts';

const DESCRIPTION = `Makes a stored transcript smaller: its recent messages stay byte for byte, older ones become a summary at the top, and every removed line goes into the archive, where memory_read finds it and from which the original can be restored byte for byte.

Use it when the user asks for it. It cannot compact the session that you are in, because the program that runs it has the file open. By default the result is a new file beside the transcript (NAME.compact.jsonl) and the transcript stays as it is; in_place replaces it. dry_run only reports what would be saved.`;

const input = z.strictObject({
  path: z
    .string()
    .min(1)
    .describe('the transcript: an absolute path, or a path relative to one of the allowed folders'),
  keep_recent: z.int().min(0).optional().describe('keep at least this many messages at the end'),
  target: z
    .int()
    .min(1)
    .optional()
    .describe('in tokens: compact the least important messages, and only as many as needed to fit'),
  in_place: z.boolean().default(false).describe('replace the transcript instead of writing a new file'),
  dry_run: z.boolean().default(false).describe('report what would be done, and write nothing'),
});

type Args = z.output<typeof input>;

/** Does what `compact FILE` does, in the folders that the server was started with. */
export function createCompactContext({
  session,
  allowsCompacting,
  folders,
}: {
  readonly session: Session;
  readonly allowsCompacting: boolean;
  readonly folders: readonly AllowedFolder[];
}): Tool {
  return defineTool({
    name: 'compact_context',
    title: 'Compact a transcript',
    description: DESCRIPTION,
    input,
    // Nothing is lost, but in_place replaces a file. With a model, the call may use a service.
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: asksService(session) },
    isOffered: allowsCompacting,
    call: async (args, signal) => {
      if (!allowsCompacting) return err(NOT_ALLOWED);
      const opened = openAllowed(args.path, folders);
      if (!opened.ok) return opened;
      const { path, identity, close } = opened.value;
      const useCases = session.openUseCases(signal);
      try {
        const output = findOutput(path, args, folders);
        if (!output.ok) return output;
        const file = { input: { path, name: path, format: null, identity }, output: output.value };
        return await compact({ ...session, useCases }, args, file);
      } finally {
        await useCases.close();
        close();
      }
    },
  });
}

function asksService({ settings: { summarization, embedding } }: Session): boolean {
  return summarization.provider !== 'extractive' || embedding.provider !== null;
}

const NOT_ALLOWED =
  'compact_context is not allowed here, so nothing was done. Ask the user to start the server as `compact mcp --allow-compact FOLDER…`, or to run `compact FILE`.';

function findOutput(
  real: string,
  { in_place, dry_run }: Args,
  folders: readonly AllowedFolder[],
): Result<OutputTarget, string> {
  if (dry_run) return ok({ kind: 'none' });
  if (in_place) return ok({ kind: 'in-place' });
  const output = compactedPath(real);
  if (leadsOutside(output, folders)) {
    return err(`${safeText(output)}: it is a link that leads out of the allowed folders. Remove it, or use in_place.`);
  }
  return ok({ kind: 'default', path: output });
}

async function compact(session: Session, args: Args, file: Pick<CompactFileRequest, 'input' | 'output'>): ToolOutcome {
  const { settings, useCases, terminal } = session;
  const configured = policyOf(session, { target: args.target });
  const policy =
    args.keep_recent === undefined
      ? configured
      : { ...configured, compaction: { ...configured.compaction, keepRecent: args.keep_recent } };
  const { compaction } = policy;
  const summarizer = await createSummarizer(session, { isDryRun: args.dry_run, compaction });
  if (!summarizer.ok) {
    session.refuse(summarizer.error);
    return err(safeText(summarizer.error));
  }
  const instead = 'archived texts get none';
  const embeddings = args.dry_run ? null : await createEmbeddingsIfAny(session, { instead });
  const request = { ...file, policy, ...toModel(settings), summarizer: summarizer.value, embeddings };
  const compacted = await useCases.compactFile(request, { update: () => undefined, finish: () => undefined });
  if (!compacted.ok) return err(renderFailure(compacted.error));
  const rendering = {
    theme: PLAIN_THEME,
    isVerbose: false,
    archiveFlag: archiveToName(session),
    program: terminal.program(),
    isInPlace: args.in_place,
    widthColumns: terminal.stderr.widthColumns,
  };
  return ok(answerCompacted(compacted.value, rendering));
}

/** A note is a sentence; a transcript of many conversations may have one for each of them. */
const MAX_NOTES = 10;

/** The figures of a compaction, with the command line's output as text. Its size does not grow with the number of conversations. */
function answerCompacted(report: CompactReport, rendering: CompactRendering): ToolAnswer {
  const notes = [...new Set(report.notes)].slice(0, MAX_NOTES).map(clipField);
  const { file, format, result, reason, output, conversations, ledger, archive, plan, usage, bytes } = report;
  const tokens = sumTokens(report);
  const figures = {
    messages: sumChanges(conversations, ({ messages }) => messages),
    tokens: { ...tokens, saved: tokens.before - tokens.after },
    bytes,
    lines: ledger,
    conversations: conversations.length,
    summaries: conversations.reduce((count, { batches }) => count + batches.length, 0),
    cycles: Math.max(0, ...conversations.map(({ cycles }) => cycles)),
  };
  const planned = plan === undefined ? {} : { requests: plan.requests, cost: plan.cost };
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
      ...planned,
      ...(usage === undefined || usage.inputTokens === 0 ? {} : { usage }),
      notes,
    },
  };
}
