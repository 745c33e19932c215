import { err, ok, type Result } from '../../core/result.ts';
import type { Codec, Json } from '../../ports/codec.ts';
import type { SourceFile } from '../../ports/files.ts';
import type { FormatRegistry, FormatSearch } from '../../ports/formats.ts';
import type { AppDeps } from '../contract/deps.ts';
import type { Failure } from '../contract/failure.ts';
import type { TranscriptInput } from '../contract/requests.ts';

export type OpenTranscript = { readonly source: SourceFile; readonly codec: Codec };

/** Records that are read to detect the format; Claude Code files can begin with more than 30 records that are not messages. */
const SAMPLE_RECORDS = 50;
/** The format is detected from records in this many bytes at most. */
const SAMPLE_BYTES = 16 * 1024 * 1024;
/** A document is detected from its beginning: the first conversation's own values, which may include a long title or summary. */
const DOCUMENT_HEAD_BYTES = 256 * 1024;
const OPENING_BRACE = 0x7b;

/** Opens a file and detects its format. The caller closes the source. */
export async function openTranscript(
  input: TranscriptInput,
  { files, formats, signal }: Pick<AppDeps, 'files' | 'formats' | 'signal'>,
): Promise<Result<OpenTranscript, Failure>> {
  const open = (): ReturnType<typeof files.open> =>
    files.open(input.path, { signal, maxBytes: input.planned?.sizeBytes, refusesLinks: input.refusesLinks });
  const first = await open();
  const isMissing = !first.ok && first.error.kind === 'not-found';
  // A run that was killed while it replaced the file may have left it under a hidden name only.
  const cleared = isMissing ? await files.clearLeftovers(input.path) : ok(undefined);
  if (!cleared.ok) return err({ kind: 'file', failure: cleared.error });
  const opened = isMissing ? await open() : first;
  if (!opened.ok) return err({ kind: 'file', failure: { ...opened.error, path: input.name } });
  const source = opened.value;
  const { identity = source.stamp } = input;
  if (identity.inode !== source.stamp.inode || identity.device !== source.stamp.device) {
    source.close();
    return err({ kind: 'source-changed', file: input.name });
  }
  const codec = detectFormat(source, input, formats);
  if (codec.ok) return ok({ source, codec: codec.value });
  source.close();
  return codec;
}

function detectFormat(source: SourceFile, input: TranscriptInput, formats: FormatRegistry): Result<Codec, Failure> {
  const file = input.name;
  const named = input.format === null ? null : formats.find(input.format);
  if (input.format !== null && named === null) return err({ kind: 'unknown-format', file, looksLike: null, near: [] });
  const document = named === null ? readDocument(source, formats) : null;
  if (document?.kind === 'found') return ok(document.codec);
  if (document !== null && document.looksLike !== null) return err(unknownFormat(file, document));
  const isDocument = named?.format.layout.kind === 'document' || named?.records?.spansLines === true;
  const foreign = isDocument ? null : formats.describeBytes(source.read(0, DOCUMENT_HEAD_BYTES));
  if (foreign !== null) {
    const isEmpty = source.sizeBytes <= source.bomLength;
    const near = document?.near;
    return err({
      kind: 'not-a-transcript',
      file,
      ...foreign,
      ...(isEmpty && { isEmpty }),
      ...(near !== undefined && { near }),
    });
  }
  if (named !== null) return ok(named);
  const sample = readSample(source, formats, file);
  if (!sample.ok) return sample;
  const found = formats.detect(sample.value);
  return found.kind === 'found' ? ok(found.codec) : err(unknownFormat(file, found));
}

function unknownFormat(file: string, { looksLike, near }: Extract<FormatSearch, { kind: 'unknown' }>): Failure {
  return { kind: 'unknown-format', file, looksLike, near };
}

/** Detects a file that is one JSON value; null: it is not one. */
function readDocument(source: SourceFile, formats: FormatRegistry): FormatSearch | null {
  const { bomLength, sizeBytes } = source;
  const head = source.read(bomLength, DOCUMENT_HEAD_BYTES);
  return formats.detectDocument(head, bomLength + head.length >= sizeBytes);
}

function readSample(source: SourceFile, formats: FormatRegistry, file: string): Result<readonly Json[], Failure> {
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
  if (sample.length > 0) return ok(sample);
  if (firstProblem !== null && !looksLikeRecords) {
    const advice = 'A transcript has one JSON record a line.';
    return err({ kind: 'not-a-transcript', file, looksLike: 'plain text', advice });
  }
  return err(
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
