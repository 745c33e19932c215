import { createHash, hash } from 'node:crypto';
import { LIST_INSERTED } from '../read/compactions.ts';
import { readBytes, readHash, readInteger, readText, type Row } from '../rows.ts';
import { type Reading, withTexts } from '../texts.ts';
import { attempt, finding, type Finding, type Head } from './finding.ts';
import type { LineFacts } from './lines.ts';
import { parseJson } from '../../../core/json-text.ts';

const LIST_CLIPS = 'SELECT conversation_id, clip_sha256 FROM cycles WHERE compaction_id = :id ORDER BY position';

const COMMA = 0x2c;
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]); // white space in JSON

/**
 * Checks the lines that a compaction added to its output: each cycle's clip-archive is among them, and with the kept
 * lines they make up the output.
 */
export function checkInsertedLines(reading: Reading, head: Head, lines: LineFacts): AsyncIterable<Finding> {
  return attempt({ ...head.place, name: `${head.place.name}, lines of its output` }, async function* () {
    const { query } = reading;
    // A missing one shows in the total size.
    const rows = await withTexts(reading, await query(LIST_INSERTED, { id: head.id }));
    yield* inspectInserted({ head, lines }, rows, await query(LIST_CLIPS, { id: head.id }));
  });
}

function* inspectInserted(
  { head, lines }: { readonly head: Head; readonly lines: LineFacts },
  rows: readonly Row[],
  clips: readonly Row[],
): Generator<Finding> {
  const { place, source, output } = head;
  const hashes = new Set<string>();
  const digest = createHash('sha256');
  let sizeBytes = lines.keptBytes;
  for (const row of rows) {
    if (row['erased_sha256'] !== null) return; // nothing is left to compare
    const bytes = readBytes(row, 'text');
    const beforeLine = readInteger(row, 'before_line');
    if (beforeLine < 1 || beforeLine > source.lineCount + 1)
      yield finding(
        'order',
        place,
        `a line of its output stands before source line ${beforeLine} of ${source.lineCount}`,
      );
    for (const sha256 of clipHashes(bytes)) hashes.add(sha256);
    digest.update(bytes);
    sizeBytes += bytes.length;
  }
  for (const row of clips) {
    if (!hashes.has(readHash(row, 'clip_sha256')))
      yield finding(
        'wrong-hash',
        place,
        `the clip-archive of conversation ${readText(row, 'conversation_id')} differs from its hash`,
      );
  }
  if (!lines.isWhole) return;
  if (sizeBytes !== output.sizeBytes)
    yield finding(
      'wrong-count',
      place,
      `the lines of its output have ${sizeBytes} bytes, its output had ${output.sizeBytes}`,
    );
  else if (lines.keptRuns === 0 && digest.digest('hex') !== output.sha256)
    yield finding('wrong-hash', place, 'the lines of its output have another sha256 than its output');
}

/**
 * The hashes that may identify a clip-archive: of its line, of the list element that it is, or (for a history without a
 * file) of its message's text.
 */
function* clipHashes(bytes: Uint8Array): Generator<string> {
  const line = bytes.subarray(0, bytes.length - lengthOfEol(bytes));
  yield hash('sha256', line);
  const element = bytes.subarray(0, bytes.length - lengthOfSeparator(bytes));
  if (element.length !== line.length) yield hash('sha256', element);
  const content = readContent(bytes);
  if (content !== null) yield hash('sha256', content);
}

function lengthOfEol(bytes: Uint8Array): number {
  if (bytes.at(-1) !== 0x0a) return 0;
  return bytes.at(-2) === 0x0d ? 2 : 1;
}

/** The separator after a list element: white space, with a comma unless the element is the last. */
function lengthOfSeparator(bytes: Uint8Array): number {
  const end = trimSpace(bytes, bytes.length);
  return bytes.length - (bytes[end - 1] === COMMA ? trimSpace(bytes, end - 1) : end);
}

function trimSpace(bytes: Uint8Array, from: number): number {
  let end = from;
  while (end > 0 && SPACE.has(bytes[end - 1] ?? 0)) end -= 1;
  return end;
}

function readContent(bytes: Uint8Array): string | null {
  // Without a value the line is damaged, so no hash can match either.
  const { content }: { readonly content?: unknown } = Object(parseJson(new TextDecoder().decode(bytes)));
  return typeof content === 'string' ? content : null;
}
