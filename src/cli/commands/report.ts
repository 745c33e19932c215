import type { PageReport } from '../../app/contract/reports.ts';
import type { FileReport } from '../../app/contract/file-report.ts';
import { type PolicyRequest, toPolicy } from '../../config/resolve.ts';
import { EXIT_CODES, type ExitCode } from '../exit-codes.ts';
import { gatherInputs, type ReadyInput } from '../gather.ts';
import type { CommonRequest, PipedRequest } from '../invocation.ts';
import { isSameFile } from '../../compose/outputs.ts';
import { renderFailure } from '../render/failure.ts';
import { reportJson, safeText, shellWord } from '../render/text.ts';
import { describeOutputProblem } from '../render/problems.ts';
import { countOf, formatBytes } from '../render/quantities.ts';
import type { CliContext, Session } from '../session.ts';
import { defineCommand, inSession } from './command.ts';
import {
  FORMAT_FLAG,
  MAX_UNPACKED_FLAG,
  OUTPUT_FLAGS,
  readOutputOptions,
  readSettings,
  SELECTION_FLAGS,
  SETTINGS_FLAGS,
  SHARED_STDOUT,
} from './options.ts';

export type ReportInvocation = CommonRequest &
  PipedRequest & {
    readonly kind: 'report';
    readonly operand: string;
    readonly format: string | null;
    /** Null: named after the transcript, in the working folder. '-': standard output. */
    readonly output: string | null;
    readonly policy: PolicyRequest;
    readonly isPlan: boolean;
    /** Secrets are shown as they are. */
    readonly isRaw: boolean;
  };

export const reportCommand = defineCommand({
  operands: { syntax: '<compacted>', description: 'a compacted file, or - for standard input' },
  flags: [
    { flags: '-o, --output <path>', description: 'write the page here (NAME.report.html); - for stdout' },
    { flags: '--plan', description: 'show what a compaction would do, for a file that is not compacted' },
    { flags: '--raw', description: 'do not mask secrets' },
    ...SELECTION_FLAGS,
    FORMAT_FLAG,
    MAX_UNPACKED_FLAG,
    ...SETTINGS_FLAGS,
    ...OUTPUT_FLAGS,
  ],
  examples: [
    ['compact report session.compact.jsonl', 'writes session.report.html'],
    ['compact report --plan session.jsonl -o plan.html', 'before it is compacted'],
  ],
  takesPipe: true,
  read: ({ options, args, isStdinImplied }): ReportInvocation => ({
    kind: 'report',
    isStdinImplied,
    operand: args[0] ?? '',
    format: options.format ?? null,
    output: options.output ?? null,
    policy: { targetTokens: options.target ?? null, ifOver: null, conversation: options.conversation ?? null },
    isPlan: options.plan === true,
    isRaw: options.raw === true,
    outputOptions: readOutputOptions(options),
    settings: readSettings(options),
  }),
  findConflict: ({ output, outputOptions }) => (outputOptions.json && output === '-' ? SHARED_STDOUT : null),
  run,
});

async function run(context: CliContext, invocation: ReportInvocation): Promise<ExitCode> {
  return inSession(
    context,
    { ...invocation, command: 'compact report', needs: ['selection', 'archive'] },
    async (session) => {
      const { operand, isStdinImplied } = invocation;
      const gathered = await gatherInputs(session, [operand], { skipsCompacted: false, isStdinImplied });
      if (typeof gathered === 'number') return gathered;
      const [input, ...others] = gathered.inputs;
      if (others.length > 0) return session.refuse('report takes one file, but this names several');
      if (input === undefined) return gathered.failures.length > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
      return reportOn(session, { input, invocation });
    },
  );
}

async function reportOn(
  session: Session,
  { input, invocation }: { readonly input: ReadyInput; readonly invocation: ReportInvocation },
): Promise<ExitCode> {
  const { reporter, terminal, settings, useCases } = session;
  const { isRaw, isPlan, format } = invocation;
  const output = invocation.output ?? pageName(input.name);
  if (output !== '-' && (await isSameFile(output, input.path)))
    return session.refuse(describeOutputProblem({ kind: 'equals-input', output, input: input.path }));
  const mask = isRaw ? null : await useCases.createMask(settings.privacy.redact_rules);
  if (mask?.ok === false) return session.refuse(mask.error);
  reporter.report((mask?.value.warnings ?? []).map(safeText));
  reporter.progress.name(input.name);
  const request = {
    input: { path: input.path, name: input.name, format, refusesLinks: input.refusesLinks },
    policy: toPolicy(settings, invocation.policy),
    isPlan,
    ...(mask !== null && { mask: mask.value.value }),
  };
  const described = await useCases.reportFile(request, reporter.progress);
  if (!described.ok) {
    if (described.error.kind !== 'interrupted') reporter.error(renderFailure(described.error));
    if (described.error.kind === 'not-compacted')
      reporter.report([
        `To see what a compaction would do: ${terminal.program()} report --plan ${shellWord(input.name)}`,
      ]);
    session.explain(described.error);
    return EXIT_CODES.failed;
  }
  const { PAGE_START, renderPage } = await import('../render/page/page.ts');
  const { archiveToName } = await import('../compact-jobs.ts');
  const page = renderPage(described.value, {
    program: terminal.program(),
    archiveFlag: archiveToName(session, invocation.settings),
    isFile: invocation.operand !== '-',
    isRaw,
  });
  if (output === '-') {
    reporter.answerPiece(page);
    return EXIT_CODES.done;
  }
  const bytes = new TextEncoder().encode(page);
  const start = new TextEncoder().encode(PAGE_START);
  const written = await useCases.writePage({ path: output, bytes, start, file: input.name });
  if (!written.ok) {
    reporter.error(renderFailure(written.error));
    return EXIT_CODES.failed;
  }
  const report = summarize(described.value, { output, sizeBytes: bytes.length });
  if (invocation.outputOptions.json) reporter.answerPiece(reportJson(report));
  else reporter.report([renderPageReport(report)]);
  return EXIT_CODES.done;
}

/** `logs/a.compact.jsonl` → `a.report.html`. */
function pageName(name: string): string {
  const base = name.split('/').at(-1) ?? name;
  return `${base.replace(/\.(?:gz|zst)$/, '').replace(/(?:\.compact)?\.[^.]{1,8}$/, '')}.report.html`;
}

function summarize(
  { file, messages, state }: FileReport,
  { output, sizeBytes }: { readonly output: string; readonly sizeBytes: number },
): PageReport {
  const result = state.kind === 'compacted' ? state.verified.result : state.kind;
  return { schema: 'compact/page@1', file, output, bytes: sizeBytes, messages: messages.length, result };
}

const RESULTS: Readonly<Record<PageReport['result'], string>> = {
  verified: 'verified',
  failed: 'failed: the page lists the problems',
  unproven: 'not proven: the original could not be read from the archive, and the page says why',
  planned: 'a plan: nothing was compacted',
};

function renderPageReport({ file, output, bytes, messages, result }: PageReport): string {
  return `${safeText(file)} → ${safeText(output)}: ${countOf(messages, 'message')}, ${formatBytes(bytes)}; ${RESULTS[result]}`;
}
