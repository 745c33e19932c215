import type { FileState, FinishedFile } from '../../app/jobs/records.ts';
import type { BatchStatusReport } from '../../app/jobs/submit.ts';
import type { QueueReport } from '../../app/jobs/work.ts';
import { NO_USAGE } from '../../app/summarize/usage.ts';
import { assertNever } from '../../core/result.ts';
import type { BatchRunReport } from '../reports.ts';
import { renderFailure } from '../../messages/failure.ts';
import { countOf, formatCount, formatDuration } from '../../messages/quantities.ts';
import { clipStart, formatMinute, indent, safeText, textWidth, wrapFacts, wrapText } from '../../messages/text.ts';
import { spendingRows } from './compact.ts';
import type { Theme } from './theme.ts';

/** One line about a transcript that is done, or had to wait. */
export function renderFinished({ name, state, result, note }: FinishedFile): string {
  if (result?.ok === false && result.error.kind !== 'interrupted') return renderFailure(result.error);
  const why = note === null ? '' : `: ${safeText(note)}`;
  return `${safeText(name)}: ${FILE_WORDS[state]}${why}`;
}

const FILE_WORDS = {
  planned: 'planned',
  waiting: 'waiting for answers',
  collected: 'compacted',
  left: 'unchanged',
  failed: 'failed',
  canceled: 'canceled; the file is unchanged',
} as const;

/** The end of a run: what was done, what it cost, and what was paid for nothing. */
export function renderRun(report: BatchRunReport): readonly string[] {
  return [whatWasDone(report), ...spendingRows(report.usage), ...spendingRows(report.wasted, { label: 'wasted' })];
}

function whatWasDone(report: BatchRunReport): string {
  const { action, files, sent, unclear, running, answers, canceled, problems } = report;
  const countOfState = (wanted: FileState): number => files.filter(({ state }) => state === wanted).length;
  const sentWords =
    sent.requests === 0
      ? NOTHING_SENT[unclear > 0 ? 'unclear' : problems.length > 0 ? 'failed' : 'done']
      : `sent ${countOf(sent.requests, 'request')} in ${countOf(sent.batches, 'batch', 'batches')}`;
  switch (action) {
    case 'submit':
      return sent.requests === 0
        ? sentWords
        : `${sentWords}; run 'compact batch collect' when they have ended, within a day`;
    case 'collect':
      return [
        `fetched ${countOf(answers, 'answer')}`,
        `${countOf(countOfState('collected'), 'transcript')} compacted`,
        sentWords,
        ...(running > 0 ? [`${countOf(running, 'batch', 'batches')} still in progress at the provider`] : []),
      ].join('; ');
    case 'cancel':
      if (canceled > 0)
        return `canceling ${countOf(canceled, 'batch', 'batches')}, which may take ten minutes; then run 'compact batch collect' for what was answered`;
      return countOfState('canceled') > 0
        ? `canceled ${countOf(countOfState('canceled'), 'transcript')}; no batch was running`
        : "no batch is known to be in progress, so nothing was canceled; see 'compact batch status'";
    default:
      return assertNever(action);
  }
}

const NOTHING_SENT = {
  done: 'nothing new to send',
  failed: 'nothing was sent',
  unclear: 'no request is confirmed as sent',
} as const;

const MIN_COLUMNS = 20;

/** Of each state, so many batches and transcripts are shown; the others are counted. */
const SHOWN = 20;

/** Batches, then transcripts: what each is called and its state, then what is known of it. */
export function renderBatchStatus(report: BatchStatusReport, widthColumns: number): readonly string[] {
  if (report.batches.length === 0 && report.files.length === 0) return ['no batches'];
  const batches = firstOfEach(report.batches.toReversed());
  const files = firstOfEach(report.files);
  const columns = Math.max(MIN_COLUMNS, widthColumns);
  const noteLines = (note: string | null): readonly string[] =>
    note === null ? [] : indent(wrapText(safeText(note), columns - 2));
  return [
    ...countOthers(batches.others, BATCH_WORDS, (count) => countOf(count, 'older batch', 'older batches')),
    ...batches.shown
      .toReversed()
      .flatMap(({ id, state, provider, requests, sentAt, resultsExpireAt, note, isFailed }) => {
        const isKept = resultsExpireAt !== null && state !== 'collected';
        const until = isKept ? [`results until ${formatMinute(resultsExpireAt)}`] : [];
        const facts = wrapFacts([safeText(provider), countOf(requests, 'request'), ...until], columns - 2);
        return [
          `${formatMinute(sentAt)}  ${BATCH_WORDS[state]}${isFailed ? ', failed' : ''}`,
          ...indent([safeText(id ?? '(id unknown)'), ...facts]),
          ...noteLines(note),
        ];
      }),
    ...files.shown.flatMap((one) => {
      const [path, state] = [safeText(one.file), stateWords(one)];
      const line = `${path}: ${state}`;
      const head =
        textWidth(line) <= columns ? [line] : [clipStart(path, columns), ...indent(wrapText(state, columns - 2))];
      return [...head, ...noteLines(one.note)];
    }),
    ...countOthers(files.others, FILE_WORDS, (count) => countOf(count, 'more transcript')),
  ];
}

/** The first of each state, and how many others there are. */
function firstOfEach<T extends { readonly state: string }>(all: readonly T[]) {
  const others = new Map<T['state'], number>();
  const shown = all.filter(({ state }) => {
    const count = (others.get(state) ?? -SHOWN) + 1;
    others.set(state, count);
    return count <= 0;
  });
  return { shown, others };
}

function countOthers<State extends string>(
  others: ReadonlyMap<State, number>,
  words: { readonly [state in State]: string },
  name: (count: number) => string,
): readonly string[] {
  return [...others].flatMap(([state, count]) =>
    count > 0 ? [`${name(count)}: ${words[state]} (--json lists all)`] : [],
  );
}

function stateWords({ state, requests, answered, unsent }: BatchStatusReport['files'][number]): string {
  if (state !== 'waiting') return FILE_WORDS[state];
  if (unsent === requests) return "not sent; run 'compact batch collect'";
  if (answered === requests) return `all ${countOf(requests, 'answer')} fetched; run 'compact batch collect'`;
  const again = unsent === 0 ? '' : `, ${unsent} to send again`;
  return `${FILE_WORDS.waiting} (${answered} of ${requests}${again})`;
}

const BATCH_WORDS = {
  sending: 'sent, not confirmed',
  running: 'in progress',
  canceling: 'canceling',
  ended: 'ended',
  collected: 'collected',
  refused: 'not created',
  gone: 'results deleted',
} as const;

const MINUTE_MS = 60_000;

/** The state of a queue, and the name of each failed job with the reason. */
export function renderQueue(report: QueueReport, theme: Theme): readonly string[] {
  const { open, active, done, failed, failures } = report;
  const unnamed = failed - failures.length;
  return [
    `${formatCount(open)} open, ${formatCount(active)} active, ${formatCount(done)} done, ${formatCount(failed)} failed`,
    ...rateLine(report),
    ...spendingRows(report.usage === null ? undefined : { ...NO_USAGE, ...report.usage }),
    ...failures.map(({ file, reason }) => {
      // Most reasons begin with the name of the file.
      const rest = reason.startsWith(`${file}: `) ? reason.slice(file.length + 2) : reason;
      return theme.bad(`${safeText(file)}: ${safeText(rest)}`);
    }),
    ...(unnamed > 0 ? [`… and ${countOf(unnamed, 'more failed job')}`] : []),
    ...(failed > 0 ? ["'compact work --retry' puts failed jobs back."] : []),
  ];
}

function rateLine({ open, active, perMinute, minutesLeft }: QueueReport): readonly string[] {
  if (open + active === 0) return [];
  if (perMinute === null || minutesLeft === null) return ['none done in the last five minutes'];
  const rate = perMinute < 10 ? perMinute.toFixed(1) : formatCount(Math.round(perMinute));
  return [`${rate} a minute, about ${formatDuration(minutesLeft * MINUTE_MS)} left`];
}
