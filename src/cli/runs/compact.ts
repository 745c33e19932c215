import type { Summarizer } from '../../app/contract/deps.ts';
import type { OutputTarget } from '../../app/contract/requests.ts';
import { makeFolderFor, type OutputChoice } from '../../compose/outputs.ts';
import type { Embeddings } from '../../compose/services.ts';
import { defaultArchivePath } from '../../config/find.ts';
import { type ResolvedSettings, toModel, toPolicy } from '../../config/resolve.ts';
import { err } from '../../core/result.ts';
import type { Gathered, ReadyInput } from '../inputs/gather.ts';
import { type PolicyOptions, readPolicy } from '../line/flags.ts';
import type { Flag } from '../line/line.ts';
import { workOnFiles } from '../pool/work-on-files.ts';
import type { Session } from '../session.ts';
import { skipUnreadable } from './outcomes.ts';
import { toFailedReport } from '../../messages/failure.ts';
import { partFlags, quoteForShell } from '../../messages/text.ts';
import type { RunTotals } from '../render/compact.ts';

type Run = {
  readonly options: PolicyOptions & { readonly format?: string | undefined; readonly minIdle?: number | undefined };
  readonly output: OutputChoice;
  /** Only transcripts whose last message was earlier; null: any. */
  readonly before?: Date | null;
  readonly isDryRun: boolean;
  /** Transcripts at a time; null: chosen for the machine. */
  readonly jobs?: number | null;
  readonly gathered: Gathered;
  /** For each input; none for the rest. */
  readonly outputs: readonly OutputTarget[];
  readonly summarizer: Summarizer;
  readonly embeddings: Embeddings | null;
};

/** Compacts the transcripts, or plans them, and reports them in their order. */
export async function compactAll(session: Session, run: Run): Promise<RunTotals> {
  const { gathered, outputs, summarizer, embeddings, isDryRun, before = null, jobs = null } = run;
  const { inputs, isSeveral, failures } = gathered;
  const { createRunReport } = await import('./run-report.ts'); // other commands use the rest of this file
  const report = createRunReport(session, {
    isDryRun,
    isInPlace: run.output.kind === 'in-place',
    archiveFlag: archiveToName(session),
    names: inputs.map(({ name }) => name),
    failures,
  });
  const items = inputs.map((input, index) => ({ ...input, output: outputs[index] ?? ({ kind: 'none' } as const) }));
  const { minIdle } = run.options;
  // When a file counts as idle: as the line says, or for one that nobody named as the settings say.
  const idle =
    minIdle === undefined ? { minIdleMs: minIdleOf(session.settings) } : { minIdleMs: minIdle, mustBeIdle: true };
  const isIntoFolder = !isDryRun && isInFolder(run.output, isSeveral);
  const common = {
    policy: policyOf(session, run.options),
    ...toModel(session.settings),
    ...(before !== null && { before }),
    summarizer,
    embeddings,
  };
  const leftCount = await workOnFiles(session, {
    items,
    jobs,
    isOffline: summarizer.service === undefined && embeddings === null,
    needsMemory: items.every(({ output }) => output.kind !== 'stdout'),
    work: async (job, useCases, progress) => {
      const { output } = job;
      const made = isIntoFolder ? makeFolderFor(output) : null;
      if (made?.ok === false) return err({ kind: 'file', failure: made.error });
      const request = {
        ...common,
        input: inputOf(job, run.options),
        output: isDryRun ? ({ kind: 'none' } as const) : output,
        ...((minIdle !== undefined || (!job.isNamed && output.kind === 'in-place')) && idle),
      };
      return useCases.compactFile(request, progress);
    },
    report: (done, job) => {
      if (done.ok) return report.done(done.value);
      const skipped = skipUnreadable(done.error, job);
      if (skipped === null) report.failed(toFailedReport(job.name, done.error));
      else report.skipped(skipped);
      if (done.error.kind !== 'bug') session.explain(done.error);
    },
    interrupted: ({ name }) => report.interrupted(name),
  });
  return report.end(leftCount);
}

/** How a request names a file. */
export function inputOf(
  { path, name, refusesLinks }: Pick<ReadyInput, 'path' | 'name' | 'refusesLinks'>,
  { format }: { readonly format?: string | undefined },
) {
  return { path, name, format: format ?? null, refusesLinks };
}

/** Which messages stay, by the settings and by what the line says. */
export function policyOf({ settings }: Pick<Session, 'settings'>, options: PolicyOptions) {
  return toPolicy(settings, readPolicy(options));
}

/** Outputs get the folders in which their inputs were found. */
export function isInFolder(output: OutputChoice, isSeveral: boolean): boolean {
  return isSeveral || (output.kind === 'path' && output.path.endsWith('/'));
}

const MINUTE_MS = 60_000;

/** How long a file that nobody named must not have changed before it is replaced. */
export function minIdleOf({ transcript }: ResolvedSettings): number {
  return transcript.min_idle_minutes * MINUTE_MS;
}

/** The `--archive` that a later command needs: the path that this command was given, by the flag or by a configuration for this run only. */
export function archiveToName({ settings, terminal, asked }: Pick<Session, 'settings' | 'terminal' | 'asked'>) {
  const { configFlag, project, flags } = asked.settings;
  const { path } = settings.archive;
  const isForThisRun = configFlag !== null || project === 'trusted';
  return flags.archive?.path ?? (isForThisRun && path !== defaultArchivePath(terminal.host) ? path : null);
}

/** The beginning of a command line that uses the same archive, and the same settings, as this one. */
export function commandLine(
  { program, argv }: Session['terminal'],
  [command, known]: readonly [command: string, known: readonly Flag[]],
): string {
  return [program(), command, quoteForShell(partFlags(argv, known).flags)].filter((part) => part !== '').join(' ');
}
