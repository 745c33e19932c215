import type { Count, IsoTime } from '../../core/units.ts';
import { ok, type Result } from '../../core/result.ts';
import { TOKEN_MEASURE } from '../../core/tokens.ts';
import { forecast, sizeOnDisk } from '../compact/plan-report.ts';
import { withPins } from '../compact/choices.ts';
import { describeSettings, type ResultSettings } from '../compact/plan.ts';
import { findWriterOf } from '../compact/store.ts';
import { reportUnchanged, totalTokens } from '../compact/report.ts';
import type { Json } from '../../ports/codec.ts';
import type { AppDeps } from '../contract/deps.ts';
import { againWhileChanging, attempt, type Failure, stop } from '../contract/failure.ts';
import type { BeforeAfter, SkipReason } from '../contract/reports.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { mayBeOlder, openTranscript } from '../read/open-transcript.ts';
import {
  findLastTime,
  isOlder,
  lastWrite,
  type Prepared,
  prepareTranscript,
  type ReadTranscript,
} from '../read/prepare.ts';
import { findTitle } from '../read/title.ts';
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
  /** The model that answered last, as its vendor names it; null: unknown. */
  readonly model: string | null;
  /** ISO time of the last message; null: the last messages have no time. */
  readonly at: IsoTime | null;
  /** ISO time of the last write to the file. */
  readonly modified: IsoTime;
  readonly bytes: Count;
  /** Estimates: the size of the compacted file, and by how many bytes the archive would grow. */
  readonly bytesAfter: Count;
  readonly archiveBytes: Count;
  /**
   * Estimate: by how many bytes a compaction in place would make the disk emptier, in whole blocks; negative: fuller.
   * @asType integer
   */
  readonly netBytes: number;
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

export type ScanFileRequest = ResultSettings & { readonly input: TranscriptInput; readonly only?: ScanFilter };

const ANY: ScanFilter = { format: null, largerThanBytes: null, before: null };

/**
 * Looks at one transcript and plans its compaction like a dry run; null: it is filtered out. Nothing is created, locked or written. The
 * archive is only read, and only if the transcript was compacted before.
 */
export async function scanFile(deps: AppDeps, request: ScanFileRequest): Promise<Result<ScanReport | null, Failure>> {
  return againWhileChanging(() =>
    attempt({ file: request.input.name, progress: deps.progress }, async () => ok(await scanOnce(deps, request))),
  );
}

async function scanOnce(deps: AppDeps, request: ScanFileRequest): Promise<ScanReport | null> {
  const { input, policy, only = ANY } = request;
  if (!(await looksWanted(deps, request))) return null;
  let transcript = await prepareTranscript(deps, input, { policy, archive: () => openUnsettled(deps) });
  try {
    const isContinued = transcript.conversations.some(({ prior }) => prior.kind === 'lineage');
    const archive = isContinued ? await openUnsettled(deps) : null;
    if (archive !== null) transcript = await withPins(deps, transcript, { input, policy, archive, isStored: false });
    const settingsAt = (time: Date): string => deps.runtime.sha256(describeSettings(transcript, request, time));
    const isDone = archive !== null && (await findWriterOf(transcript, settingsAt, archive)) !== null;
    const isTooNew = only.before !== null && !isOlder(transcript, only.before);
    return isTooNew ? null : describe(transcript, request, isDone);
  } finally {
    transcript.source.close();
  }
}

/** Whether the file may pass the filter, decided without indexing it. */
async function looksWanted(deps: AppDeps, { input, only = ANY }: ScanFileRequest): Promise<boolean> {
  if (only.largerThanBytes !== null) {
    const stamp = await deps.files.stamp(input.path);
    if (!stamp.ok) return stop({ kind: 'file', failure: { ...stamp.error, path: input.name } });
    if (stamp.value.sizeBytes <= only.largerThanBytes) return false;
  }
  if (only.format === null && only.before === null) return true;
  const opened = await openTranscript(input, deps);
  try {
    if (only.format !== null && opened.codec.format.name !== only.format) return false;
    return only.before === null || mayBeOlder(opened, deps.formats, only.before);
  } finally {
    opened.source.close();
  }
}

/** So many records at the beginning of a file may name its project, and then as many messages: a session can begin with hundreds of notes. */
const SAMPLE_RECORDS = 50;

export function findProject(transcript: ReadTranscript): string | null {
  const { codec, recordIndex } = transcript;
  const sample = recordIndex.entries.filter(({ kind }, at) => at < SAMPLE_RECORDS || kind === 'message');
  return findIn(transcript, sample.slice(0, 2 * SAMPLE_RECORDS), codec.readProject);
}

function findIn(
  { readJson }: ReadTranscript,
  entries: ReadTranscript['recordIndex']['entries'],
  read: ((record: Json) => string | null) | undefined,
): string | null {
  if (read === undefined) return null;
  for (const entry of entries) {
    const record = readJson(entry);
    const found = record === null ? null : read(record);
    if (found !== null) return found;
  }
  return null;
}

function describe(transcript: Prepared, { input, policy }: ScanFileRequest, isDone: boolean): ScanReport {
  const { codec, source, recordIndex } = transcript;
  const expected = isDone ? ({ kind: 'skip', reason: 'nothing-new' } as const) : forecast(transcript, policy);
  const conversations =
    expected.kind === 'skip' ? transcript.conversations.map(reportUnchanged) : expected.conversations;
  const tokens = totalTokens(conversations);
  const bytes = source.stamp.sizeBytes;
  const nothing = { bytesAfter: source.sizeBytes, archiveBytes: 0 };
  const { bytesAfter: contentAfter, archiveBytes } = expected.kind === 'skip' ? nothing : expected.bytes;
  const bytesAfter = sizeOnDisk(source, contentAfter);
  // The model that answered last: some formats name it only where a turn begins.
  const newest = recordIndex.entries.slice(-4 * SAMPLE_RECORDS).toReversed();
  return {
    schema: 'compact/scan@1',
    file: input.name,
    format: codec.format.name,
    id: conversations.length === 1 ? (conversations[0]?.id ?? null) : null,
    title: findTitle(transcript),
    project: findProject(transcript),
    model: findIn(transcript, newest, codec.readModel),
    at: findLastTime(transcript)?.toISOString() ?? null,
    modified: lastWrite(source).toISOString(),
    bytes,
    bytesAfter,
    archiveBytes,
    netBytes: expected.kind === 'skip' ? 0 : expected.netBytes,
    conversations: conversations.length,
    messages: conversations.reduce((sum, { messages }) => sum + messages.before, 0),
    tokens: { ...tokens, by: TOKEN_MEASURE },
    saving: Math.max(0, tokens.before - tokens.after),
    ...(expected.kind === 'skip' && { reason: expected.reason }),
  };
}
