import type { Count, IsoTime } from '../../core/units.ts';
import type { TranscriptPolicy } from '../../core/policy.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { TOKEN_MEASURE } from '../../core/tokens.ts';
import { forecast } from '../compact/plan-report.ts';
import { describeSettings } from '../compact/plan.ts';
import { findWriterOf } from '../compact/reuse.ts';
import { reportUnchanged, totalTokens } from '../compact/report.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { BeforeAfter, SkipReason } from '../contract/reports.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { findLastTime, isOlder, lastWrite, mayBeOlder } from '../read/last-time.ts';
import { listSource } from '../read/listed-file.ts';
import { openTranscript } from '../read/open-transcript.ts';
import { type Prepared, prepareTranscript } from '../read/prepare.ts';
import { isSameStamp } from '../write/look-again.ts';
import { openUnsettled } from '../write/settle.ts';

/** What `compact scan` reports about a transcript. */
export type ScanReport = {
  readonly schema: 'compact/scan@1';
  readonly file: string;
  readonly format: string;
  /** The session's id; null: it has none, or the file has several conversations. */
  readonly id: string | null;
  /** The session's title in its client's list, or else the first line of the first request; null: neither is known. */
  readonly title: string | null;
  /** The project folder; null: unknown. */
  readonly project: string | null;
  /** ISO time of the last message; null: the last messages have no time. */
  readonly at: IsoTime | null;
  /** ISO time of the last write to the file. */
  readonly modified: IsoTime;
  readonly bytes: Count;
  /** Estimates: the size of the compacted file, and by how many bytes the archive would grow. */
  readonly bytesAfter: Count;
  readonly archiveBytes: Count;
  readonly conversations: Count;
  readonly messages: Count;
  /** `after` is an estimate, as in a dry run. */
  readonly tokens: BeforeAfter & { readonly by: string };
  /** Estimated tokens: every summary is assumed to be as long as it may be. */
  readonly saving: Count;
  /** Why nothing would be done. */
  readonly reason?: SkipReason;
};

/** Selects transcripts; null: any. */
export type ScanFilter = {
  readonly format: string | null;
  readonly largerThanBytes: number | null;
  /** The last message (or the last write, if no message has a time) was before this. */
  readonly before: Date | null;
};

export type ScanFileRequest = {
  readonly input: TranscriptInput;
  readonly policy: TranscriptPolicy;
  readonly provider: string;
  readonly modelName: string;
  /** Whether secrets are masked; undefined: the model is not a service. */
  readonly isMasked?: boolean;
  readonly only: ScanFilter;
};

/** How often a file that changes meanwhile is read again. */
const MAX_ATTEMPTS = 3;

/**
 * Looks at one transcript and plans its compaction like a dry run; null: it is filtered out. Nothing is created, locked or written. The
 * archive is only read, and only if the transcript was compacted before.
 */
export async function scanFile(deps: AppDeps, request: ScanFileRequest): Promise<Result<ScanReport | null, Failure>> {
  const { path, name } = request.input;
  return attempt({ file: name, progress: deps.progress }, async () => {
    for (let tries = 1; tries <= MAX_ATTEMPTS; tries += 1) {
      const before = await deps.files.stamp(path);
      const surveyed = await scanOnce(deps, request);
      if (surveyed.ok || surveyed.error.kind !== 'bad-line') return surveyed;
      // An invalid line may be one that is still being written.
      const now = await deps.files.stamp(path);
      if (before.ok && now.ok && isSameStamp(before.value, now.value)) return surveyed;
    }
    return err({ kind: 'source-changed', file: name });
  });
}

async function scanOnce(deps: AppDeps, request: ScanFileRequest): Promise<Result<ScanReport | null, Failure>> {
  const { input, policy, only } = request;
  const isWanted = await looksWanted(deps, request);
  if (!isWanted.ok || !isWanted.value) return isWanted.ok ? ok(null) : isWanted;
  const prepared = await prepareTranscript(deps, input, { policy, archive: () => openUnsettled(deps) });
  if (!prepared.ok) return prepared;
  try {
    const archive = prepared.value.conversations.some(({ prior }) => prior.kind === 'lineage')
      ? await openUnsettled(deps)
      : null;
    const isDone =
      archive !== null &&
      (await findWriterOf(prepared.value, hashSettings(deps, prepared.value, request), archive)) !== null;
    const isTooNew = only.before !== null && !isOlder(prepared.value, only.before);
    return ok(isTooNew ? null : describe(prepared.value, request, isDone));
  } finally {
    prepared.value.source.close();
  }
}

/** Whether the file may pass the filter, decided without indexing it. */
async function looksWanted(deps: AppDeps, { input, only }: ScanFileRequest): Promise<Result<boolean, Failure>> {
  if (only.largerThanBytes !== null) {
    const stamp = await deps.files.stamp(input.path);
    if (!stamp.ok) return err({ kind: 'file', failure: { ...stamp.error, path: input.name } });
    if (stamp.value.sizeBytes <= only.largerThanBytes) return ok(false);
  }
  if (only.format === null && only.before === null) return ok(true);
  const opened = await openTranscript(input, deps);
  if (!opened.ok) return opened;
  const { source, codec } = opened.value;
  try {
    if (only.format !== null && codec.format.name !== only.format) return ok(false);
    return ok(only.before === null || mayBeOlder(opened.value, deps.formats, only.before));
  } finally {
    source.close();
  }
}

function hashSettings(
  { runtime }: AppDeps,
  { codec }: Prepared,
  { policy, provider, modelName, isMasked }: ScanFileRequest,
): string {
  const masked = isMasked === undefined ? {} : { isMasked };
  return runtime.sha256(describeSettings({ format: codec.format.name, policy, provider, modelName, ...masked }));
}

/** So many records at the beginning of a file may name its project, and then as many messages: a session can begin with hundreds of notes. */
const SAMPLE_RECORDS = 50;

function findProject({ codec, recordIndex, readJson }: Prepared): string | null {
  if (codec.readProject === undefined) return null;
  const sample = recordIndex.entries.filter(({ kind }, at) => at < SAMPLE_RECORDS || kind === 'message');
  for (const entry of sample.slice(0, 2 * SAMPLE_RECORDS)) {
    const record = readJson(entry);
    const project = record === null ? null : codec.readProject([record]);
    if (project !== null) return project;
  }
  return null;
}

function describe(transcript: Prepared, { input, policy }: ScanFileRequest, isDone: boolean): ScanReport {
  const { codec, source } = transcript;
  const expected = isDone ? ({ kind: 'skip', reason: 'nothing-new' } as const) : forecast(transcript, policy);
  const conversations =
    expected.kind === 'skip' ? transcript.conversations.map(reportUnchanged) : expected.conversations;
  const tokens = totalTokens(conversations);
  return {
    schema: 'compact/scan@1',
    file: input.name,
    format: codec.format.name,
    id: conversations.length === 1 ? (conversations[0]?.id ?? null) : null,
    title: findTitle(transcript) ?? findFirstRequest(transcript),
    project: findProject(transcript),
    at: findLastTime(transcript)?.toISOString() ?? null,
    modified: lastWrite(source).toISOString(),
    bytes: source.stamp.sizeBytes,
    bytesAfter: expected.kind === 'skip' ? source.stamp.sizeBytes : expected.bytes.bytesAfter,
    archiveBytes: expected.kind === 'skip' ? 0 : expected.bytes.archiveBytes,
    conversations: conversations.length,
    messages: conversations.reduce((sum, { messages }) => sum + messages.before, 0),
    tokens: { ...tokens, by: TOKEN_MEASURE },
    saving: Math.max(0, tokens.before - tokens.after),
    ...(expected.kind === 'skip' && { reason: expected.reason }),
  };
}

/** As the producer's list shows it. */
function findTitle(transcript: Prepared): string | null {
  const title = transcript.codec.listedTitle?.(listSource(transcript)) ?? null;
  return title === null ? null : firstLine(title);
}

/** A clip-archive names the requests that have left the file. */
function findFirstRequest({ recordIndex, readMessage, conversations }: Prepared): string | null {
  const prior = conversations[0]?.prior;
  const isOurs = prior?.kind === 'lineage' || (prior?.kind === 'foreign' && prior.isOurs);
  const listed = isOurs ? findListedRequest(prior.text) : null;
  if (listed !== null) return firstLine(listed);
  const entry = recordIndex.entries.find(({ typedTokens }) => typedTokens !== undefined);
  return entry === undefined ? null : firstLine(readMessage(entry)?.typed ?? '');
}

function findListedRequest(clipArchive: string): string | null {
  const [, requests = ''] = clipArchive.split('\n## Requests and how they ended\n', 2);
  return /^1\. (?:\(rejecting a call\) )?(.+)$/m.exec(requests)?.[1] ?? null;
}

/** Longer lines are no titles but pasted text. */
const MAX_TITLE_CHARS = 200;

function firstLine(text: string): string | null {
  const line = text.split('\n').find((one) => one.trim() !== '');
  return line === undefined ? null : Array.from(line.trim().replace(/\s+/g, ' ')).slice(0, MAX_TITLE_CHARS).join('');
}
