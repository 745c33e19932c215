import { ANSWER } from './mock-model.ts';
import type { OfflineRun } from './offline.ts';
import { countOrphans, lastWords, type Resumed } from './resumed.ts';

export type RunEvidence = {
  readonly run: OfflineRun;
  /** The file before the program had it, and after. */
  readonly before: Buffer;
  readonly after: Buffer;
  /** The text of the latest summary in the file. */
  readonly summary: string | undefined;
  readonly sent: {
    readonly count: number;
    readonly texts: readonly string[];
    readonly calls: readonly string[];
    readonly results: readonly string[];
  };
  readonly version: string;
};

/** What a run of a program says of the file that it was to take up. */
export function judgeRun({ run, before, after, summary, sent, version }: RunEvidence): Resumed {
  const isAnswered = run.code === 0 && run.stdout.includes(ANSWER) && sent.count > 0;
  const resumed = isAnswered && after.subarray(before.length).includes(ANSWER);
  const detail = [
    ...(resumed ? [] : [`exit code ${run.code}`, lastWords(run.stdout, run.stderr)]),
    ...(run.isIsolated ? [] : ['not in a network namespace of its own']),
  ].join('; ');
  return {
    resumed,
    summaryFound: summary !== undefined && sent.texts.some((text) => text.includes(summary)),
    messages: sent.count,
    orphans: countOrphans(sent.calls, sent.results),
    rewritten: !after.subarray(0, before.length).equals(before),
    version,
    ...(detail !== '' && { detail }),
  };
}
