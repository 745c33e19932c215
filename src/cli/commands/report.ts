import type { FileReport } from '../../app/contract/file-report.ts';
import type { PageReport } from '../../app/contract/reports.ts';
import { isSameFile } from '../../compose/outputs.ts';
import { gatherInputs } from '../inputs/gather.ts';
import { defineCommand } from '../line/command.ts';
import {
  FORMAT_FLAG,
  MAX_UNPACKED_FLAG,
  OUTPUT_FLAGS,
  SELECTION_FLAGS,
  SETTINGS_FLAGS,
  SHARED_STDOUT,
} from '../line/flags.ts';
import { describeOutputProblem } from '../../messages/problems.ts';
import { countOf, formatBytes } from '../../messages/quantities.ts';
import { reportJson, safeText, shellWord } from '../../messages/text.ts';
import { archiveToName, inputOf, policyOf } from '../runs/compact.ts';
import { warned } from '../runs/services.ts';
import { EXIT_CODES } from '../terminal/exit-codes.ts';

export const command = defineCommand({
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
  findConflict: ({ options, outputOptions }) => (outputOptions.json && options.output === '-' ? SHARED_STDOUT : null),
  session: { needs: ['selection', 'archive'] },
  run: async (session, line) => {
    const { reporter, terminal, settings, useCases } = session;
    const { operands, options, outputOptions } = line;
    const { plan: isPlan = false, raw: isRaw = false } = options;
    const gathered = await gatherInputs(session, line, { skipsCompacted: false });
    if (typeof gathered === 'number') return gathered;
    const [input, ...others] = gathered.inputs;
    if (others.length > 0) return session.refuse('report takes one file, but this names several');
    if (input === undefined) return gathered.failures.length > 0 ? EXIT_CODES.failed : EXIT_CODES.done;
    const { name } = input;
    const output = options.output ?? pageName(name);
    if (output !== '-' && (await isSameFile(output, input.path)))
      return session.refuse(describeOutputProblem({ kind: 'equals-input', output, input: input.path }));
    const mask = isRaw ? null : warned(session, await useCases.createMask(settings.privacy.redact_rules));
    if (mask?.ok === false) return session.refuse(mask.error);
    reporter.progress.name(name);
    const request = {
      input: inputOf(input, options),
      policy: policyOf(session, options),
      isPlan,
      ...(mask !== null && { mask: mask.value }),
    };
    const described = await useCases.reportFile(request, reporter.progress);
    if (!described.ok) {
      const code = session.fail(described.error);
      if (described.error.kind === 'not-compacted')
        reporter.report([`To see what a compaction would do: ${terminal.program()} report --plan ${shellWord(name)}`]);
      return code;
    }
    const { PAGE_START, renderPage } = await import('../render/page/page.ts');
    const page = renderPage(described.value, {
      program: terminal.program(),
      archiveFlag: archiveToName(session),
      isFile: operands[0] !== '-',
      isRaw,
    });
    if (output === '-') {
      reporter.answerPiece(page);
      return EXIT_CODES.done;
    }
    const bytes = new TextEncoder().encode(page);
    const start = new TextEncoder().encode(PAGE_START);
    const written = await useCases.writePage({ path: output, bytes, start, file: name });
    if (!written.ok) return session.fail(written.error);
    const report = summarize(described.value, { output, sizeBytes: bytes.length });
    if (outputOptions.json) reporter.answerPiece(reportJson(report));
    else reporter.report([renderPageReport(report)]);
    return EXIT_CODES.done;
  },
});

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
