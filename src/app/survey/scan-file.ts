import type { Count, IsoTime } from '../../core/units.ts';
import type { TranscriptPolicy } from '../../core/policy.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { TOKEN_MEASURE } from '../../core/tokens.ts';
import type { FormatRegistry } from '../../ports/formats.ts';
import { forecast } from '../compact/plan-report.ts';
import { describeSettings } from '../compact/plan.ts';
import { reportUnchanged, totalTokens } from '../compact/report.ts';
import { isPreviousOutput } from '../compact/reuse.ts';
import type { AppDeps } from '../contract/deps.ts';
import { attempt, type Failure } from '../contract/failure.ts';
import type { BeforeAfter, SkipReason } from '../contract/reports.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { openTranscript, type OpenTranscript } from '../read/open-transcript.ts';
import { type Prepared, prepareTranscript } from '../read/prepare.ts';
import { isSameStamp } from '../write/missed-writes.ts';
import { openUnsettled } from '../write/settle.ts';

/** What `compact scan` tells of a transcript. */
export type ScanReport = {
  readonly schema: 'compact/scan@1';
  readonly file: string;
  readonly format: string;
  /** The folder that was worked in; null: nobody knows. */
  readonly project: string | null;
  /** ISO time of the last message; null where the last ones have none. */
  readonly at: IsoTime | null;
  /** ISO time of the last write to the file. */
  readonly modified: IsoTime;
  readonly bytes: Count;
  readonly conversations: Count;
  readonly messages: Count;
  /** `after`: about, as a dry run has it. */
  readonly tokens: BeforeAfter & { readonly by: string };
  /** Tokens, about: each summary is taken to be as long as it may be. */
  readonly saving: Count;
  /** Why nothing would be done. */
  readonly reason?: SkipReason;
};

/** Which transcripts are asked for; null: any. */
export type ScanFilter = {
  readonly format: string | null;
  readonly largerThanBytes: number | null;
  /** The last message, or where none has a time the last write, was before this. */
  readonly before: Date | null;
};

export type ScanFileRequest = {
  readonly input: TranscriptInput;
  readonly policy: TranscriptPolicy;
  readonly provider: string;
  readonly modelName: string;
  /** Whether secrets are masked, where the model is a service. */
  readonly isMasked?: boolean;
  readonly only: ScanFilter;
};

/** How often a file that changes under our eyes is read again. */
const MAX_ATTEMPTS = 3;

/**
 * Looks at one transcript and plans its compaction, as a dry run does; null: it is not asked for. Nothing is made, held or written; the
 * archive is looked into where a transcript was compacted before.
 */
export async function scanFile(deps: AppDeps, request: ScanFileRequest): Promise<Result<ScanReport | null, Failure>> {
  const { path, name } = request.input;
  return attempt({ file: name, progress: deps.progress }, async () => {
    for (let tries = 1; tries <= MAX_ATTEMPTS; tries += 1) {
      const before = await deps.files.stamp(path);
      const surveyed = await scanOnce(deps, request);
      if (surveyed.ok || surveyed.error.kind !== 'bad-line') return surveyed;
      // A line that is no JSON may be one that was being written.
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
      : ok(null);
    if (!archive.ok) return archive;
    const isDone =
      archive.value !== null &&
      isPreviousOutput(prepared.value, hashSettings(deps, prepared.value, request), archive.value);
    const report = describe(prepared.value, request, isDone);
    const isTooNew = only.before !== null && new Date(report.at ?? report.modified) >= only.before;
    return ok(isTooNew ? null : report);
  } finally {
    prepared.value.source.close();
  }
}

/** False: it can be told already, without reading it whole, that it is not asked for. */
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
    const time = only.before === null ? null : findTailTime(opened.value, deps.formats);
    return ok(only.before === null || time === null || time < only.before);
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

/** Records at a file's beginning that may name its project. */
const SAMPLE_RECORDS = 50;

function describe(transcript: Prepared, { input, policy }: ScanFileRequest, isDone: boolean): ScanReport {
  const { codec, recordIndex, source } = transcript;
  const expected = isDone ? ({ kind: 'skip', reason: 'nothing-new' } as const) : forecast(transcript, policy);
  const conversations =
    expected.kind === 'skip' ? transcript.conversations.map(reportUnchanged) : expected.conversations;
  const tokens = totalTokens(conversations);
  const sample = recordIndex.entries.slice(0, SAMPLE_RECORDS).flatMap((entry) => {
    const record = transcript.readJson(entry);
    return record === null ? [] : [record];
  });
  return {
    schema: 'compact/scan@1',
    file: input.name,
    format: codec.format.name,
    project: codec.readProject?.(sample) ?? null,
    at: findLastTime(transcript)?.toISOString() ?? null,
    modified: new Date(Number(source.stamp.mtimeNs / NANOSECONDS_A_MILLISECOND)).toISOString(),
    bytes: source.stamp.sizeBytes,
    conversations: conversations.length,
    messages: conversations.reduce((sum, { messages }) => sum + messages.before, 0),
    tokens: { ...tokens, by: TOKEN_MEASURE },
    saving: Math.max(0, tokens.before - tokens.after),
    ...(expected.kind === 'skip' && { reason: expected.reason }),
  };
}

const NANOSECONDS_A_MILLISECOND = 1_000_000n;

/** Where none of so many messages at the end has a time, the others have none either: reading all of them again would be for nothing. */
const MAX_MESSAGES = 100;

/** When the last message was said that has a time; null: the last ones have none. */
export function findLastTime({ recordIndex, readMessage }: Pick<Prepared, 'recordIndex' | 'readMessage'>): Date | null {
  let looked = 0;
  for (let index = recordIndex.entries.length - 1; index >= 0 && looked < MAX_MESSAGES; index -= 1) {
    const entry = recordIndex.entries[index];
    if (entry?.kind !== 'message') continue;
    looked += 1;
    const time = readMessage(entry)?.created_at ?? null;
    if (time !== null) return time;
  }
  return null;
}

const TAIL_BYTES = 64 * 1024; // a dozen records of most sessions
const LF = 0x0a;

/** The same from a file's last bytes, without reading what stands before them; null: they do not tell. */
export function findTailTime({ source, codec }: OpenTranscript, formats: FormatRegistry): Date | null {
  if (codec.records !== undefined) return null; // a tail cannot be taken apart
  const { sizeBytes } = source;
  const start = Math.max(source.bomLength, sizeBytes - TAIL_BYTES);
  const bytes = source.read(start, sizeBytes - start);
  const session = codec.open();
  let time: Date | null = null;
  // The first line of the tail is most often the end of one, and then no JSON.
  for (let from = 0; from < bytes.length;) {
    const found = bytes.indexOf(LF, from);
    const end = found < 0 ? bytes.length : found;
    const parsed = formats.parseLine(bytes.subarray(from, end));
    const decoded = parsed.ok ? session.decode(parsed.value, 1) : null;
    if (decoded !== null && 'kind' in decoded && decoded.kind === 'message') {
      time = decoded.message?.created_at ?? time;
    }
    from = end + 1;
  }
  return time;
}
