import type { Codec, Json, FormatRegistry, FormatSearch } from '../../ports/codec.ts';
import type { SourceFile } from '../../ports/files.ts';
import type { AppDeps } from '../contract/deps.ts';
import { type Failure, mustFile, stop } from '../contract/failure.ts';
import type { TranscriptInput } from '../contract/requests.ts';
import { isSameFile, LF, OPENING_BRACE } from './records.ts';

export type OpenTranscript = { readonly source: SourceFile; readonly codec: Codec };

/** Records that are read to detect the format; Claude Code files can begin with more than 30 records that are not messages. */
const SAMPLE_RECORDS = 50;
/** The format is detected from records in this many bytes at most. */
const SAMPLE_BYTES = 16 * 1024 * 1024;
/** A document is detected from its beginning: the first conversation's own values, which may include a long title or summary. */
const DOCUMENT_HEAD_BYTES = 256 * 1024;

/** Opens a file and detects its format. The caller closes the source. */
export async function openTranscript(
  input: TranscriptInput,
  { files, formats, signal }: Pick<AppDeps, 'files' | 'formats' | 'signal'>,
): Promise<OpenTranscript> {
  const open = (): ReturnType<typeof files.open> =>
    files.open(input.path, { signal, maxBytes: input.planned?.sizeBytes, refusesLinks: input.refusesLinks });
  const first = await open();
  const isMissing = !first.ok && first.error.kind === 'not-found';
  // A run that was killed while it replaced the file may have left it under a hidden name only.
  if (isMissing) mustFile(await files.clearLeftovers(input.path));
  const opened = isMissing ? await open() : first;
  if (!opened.ok) return stop({ kind: 'file', failure: { ...opened.error, path: input.name } });
  const source = opened.value;
  const { identity = source.stamp } = input;
  return closedOnError(source, async () => {
    if (!isSameFile(identity, source.stamp)) stop({ kind: 'source-changed', file: input.name });
    return { source, codec: await detectFormat(source, input, formats) };
  });
}

/** Closes the file if the work fails. */
export async function closedOnError<T>(source: SourceFile, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    source.close();
    throw error;
  }
}

async function detectFormat(source: SourceFile, input: TranscriptInput, formats: FormatRegistry): Promise<Codec> {
  const file = input.name;
  const named = input.format === null ? null : await formats.load(input.format);
  const fail = ({ looksLike, near }: Omit<Extract<FormatSearch, { kind: 'unknown' }>, 'kind'>): never =>
    stop({ kind: 'unknown-format', file, looksLike, near });
  if (input.format !== null && named === null) return fail({ looksLike: null, near: [] });
  const document = named === null ? await readDocument(source, formats) : null;
  if (document?.kind === 'found') return document.codec;
  if (document !== null && document.looksLike !== null) return fail(document);
  const isDocument = named?.format.layout.kind === 'document' || named?.records?.spansLines === true;
  const foreign = isDocument ? null : formats.describeBytes(source.read(0, DOCUMENT_HEAD_BYTES));
  if (foreign !== null) {
    const isEmpty = source.sizeBytes <= source.bomLength;
    const near = document?.near;
    return stop({
      kind: 'not-a-transcript',
      file,
      ...foreign,
      ...(isEmpty && { isEmpty }),
      ...(near !== undefined && { near }),
    });
  }
  if (named !== null) return named;
  const found = await formats.detect(readSample(source, formats, file));
  return found.kind === 'found' ? found.codec : fail(found);
}

/** Detects a file that is one JSON value; null: it is not one. */
async function readDocument(source: SourceFile, formats: FormatRegistry): Promise<FormatSearch | null> {
  const { bomLength, sizeBytes } = source;
  const head = source.read(bomLength, DOCUMENT_HEAD_BYTES);
  return formats.detectDocument(head, bomLength + head.length >= sizeBytes);
}

function readSample(source: SourceFile, formats: FormatRegistry, file: string): readonly Json[] {
  const sample: Json[] = [];
  let firstProblem: Failure | null = null;
  let looksLikeRecords = false;
  for (const raw of source.lines()) {
    if (sample.length >= SAMPLE_RECORDS || raw.start > SAMPLE_BYTES) break;
    const content = raw.bytes.subarray(0, raw.bytes.length - raw.eolLength);
    if (isBlank(content)) continue;
    looksLikeRecords ||= content.includes(OPENING_BRACE);
    const parsed = formats.parseLine(content);
    if (parsed.ok) sample.push(parsed.value);
    else
      firstProblem ??= {
        kind: 'bad-line',
        file,
        line: raw.line,
        column: parsed.column,
        problem: parsed.problem,
        canCarry: false, // without a record the format cannot be detected
      };
  }
  if (sample.length > 0) return sample;
  if (firstProblem !== null && !looksLikeRecords) {
    const advice = 'A transcript has one JSON record a line.';
    return stop({ kind: 'not-a-transcript', file, looksLike: 'plain text', advice });
  }
  return stop(
    firstProblem ?? {
      kind: 'not-a-transcript',
      file,
      looksLike: 'a file of blank lines',
      advice: 'Check the path.',
      isEmpty: true,
    },
  );
}

/** Only spaces, tabs and carriage returns. */
export function isBlank(bytes: Uint8Array): boolean {
  return bytes[0] !== OPENING_BRACE && bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

/** Bytes at the end of a file: a dozen records of most sessions. */
const TAIL_BYTES = 64 * 1024;

/** False: the end of the file alone shows that its last message was not before that time. */
export function mayBeOlder({ source, codec }: OpenTranscript, formats: FormatRegistry, before: Date): boolean {
  if (codec.records !== undefined) return true; // a part of such a file cannot be split into records
  const { sizeBytes } = source;
  const start = Math.max(source.bomLength, sizeBytes - TAIL_BYTES);
  const bytes = source.read(start, sizeBytes - start);
  const session = codec.open();
  // The first line of the tail is usually incomplete and then not valid JSON.
  for (let from = 0; from < bytes.length;) {
    const found = bytes.indexOf(LF, from);
    const end = found < 0 ? bytes.length : found;
    const parsed = formats.parseLine(bytes.subarray(from, end));
    const decoded = parsed.ok ? session.decode(parsed.value, 1) : null;
    const time = decoded !== null && 'kind' in decoded && decoded.kind === 'message' && decoded.message?.created_at;
    if (time instanceof Date && time >= before) return false;
    from = end + 1;
  }
  return true;
}
