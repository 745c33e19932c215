import type { LineOutcome } from '../../core/plan/line-outcomes.ts';
import type { Entry } from '../../core/transcript.ts';
import type { InsertedLine, KeptRun } from '../../ports/archive.ts';
import type { Json, ListedFile } from '../../ports/codec.ts';
import type { Runtime } from '../../ports/runtime.ts';
import { asListed, type LineOfFile, listSource, type Prepared, sourceLine } from '../read/prepare.ts';
import { concat, trimRecord } from '../read/records.ts';
import { hashKept } from '../read/rewritten-document.ts';
import type { CompactedConversation } from './summarize-conversation.ts';

/** The output as it will be written, and for each conversation the sha256 of its clip-archive's line. */
export type ComposedOutput = OutputParts & {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly clipSha256: readonly string[];
};

type ComposeInput = {
  readonly transcript: Prepared;
  readonly outcomes: readonly LineOutcome[];
  readonly compacted: readonly { readonly result: CompactedConversation; readonly insertBefore: number }[];
  /** The summary is a user's message, whatever it quotes. */
  readonly isUsers: boolean;
  /** Makes the ids in inserted lines the same for the same input and settings. */
  readonly settingsSha256: string;
};

export function composeOutput(runtime: Runtime, input: ComposeInput): ComposedOutput {
  const { transcript, outcomes, compacted } = input;
  const breakBefore = new Set(compacted.map(({ insertBefore }) => insertBefore));
  // Runs that are as long as possible without crossing the place of an inserted line.
  const kept: { firstLine: number; lineCount: number; sizeBytes: number; lineSha256: string[] }[] = [];
  for (const [at, entry] of transcript.recordIndex.entries.entries()) {
    if (outcomes[at]?.kind !== 'kept') continue;
    const line = at + 1;
    const sha256 = hashKept(runtime, transcript.codec, transcript.readLine(entry));
    const last = kept.at(-1);
    if (last !== undefined && last.firstLine + last.lineCount === line && !breakBefore.has(line)) {
      last.lineCount += 1;
      last.sizeBytes += entry.length;
      last.lineSha256.push(sha256);
    } else kept.push({ firstLine: line, lineCount: 1, sizeBytes: entry.length, lineSha256: [sha256] });
  }
  const { inserted, clipSha256 } = renderListed(runtime, input, kept);
  const parts = { inserted, kept };
  return { ...parts, ...measure(runtime, outputBytes(parts, transcript)), clipSha256 };
}

type Rendered = { readonly inserted: readonly InsertedLine[]; readonly clipSha256: readonly string[] };

/** With a record of the title if the producer's list would otherwise show the session under another one, or not at all. */
function renderListed(runtime: Runtime, input: ComposeInput, kept: readonly KeptRun[]): Rendered {
  const { transcript } = input;
  const rendered = renderAll(runtime, input, undefined);
  const title = transcript.codec.listedTitle?.(listSource(transcript)) ?? null;
  const isListed = ({ inserted }: Rendered): boolean =>
    transcript.codec.listedTitle?.(listOutput(transcript, { inserted, kept })) === title;
  if (title === null || isListed(rendered)) return rendered;
  const titled = renderAll(runtime, input, title);
  return isListed(titled) ? titled : rendered;
}

/** The lines of all conversations that are compacted. The first of them carry the file's title, if it has to be written. */
function renderAll(runtime: Runtime, input: ComposeInput, title: string | undefined): Rendered {
  const first = Math.min(...input.compacted.map(({ insertBefore }) => insertBefore));
  const rendered = input.compacted.map((one) =>
    renderInsertedLines(runtime, input, { ...one, listedAs: one.insertBefore === first ? title : undefined }),
  );
  return {
    inserted: rendered.flatMap(({ lines }) => lines).sort((a, b) => a.beforeLine - b.beforeLine),
    clipSha256: rendered.map(({ clipSha256 }) => clipSha256),
  };
}

function listOutput(transcript: Prepared, parts: OutputParts): ListedFile {
  const lines = outputPieces(parts).flatMap((piece): readonly LineOfFile[] => {
    if (piece.kind === 'own')
      return [{ sizeBytes: piece.bytes.length, read: () => JSON.parse(new TextDecoder().decode(piece.bytes)) }];
    const first = piece.run.firstLine - 1;
    const entries = transcript.recordIndex.entries.slice(first, first + piece.run.lineCount);
    return entries.map((entry) => sourceLine(transcript, entry));
  });
  return asListed(lines, (line) => line);
}

/** The bytes of the output in order, a few lines at a time. */
export function* outputBytes(parts: OutputParts, transcript: Prepared): Generator<Uint8Array> {
  for (const piece of outputPieces(parts)) {
    if (piece.kind === 'own') {
      yield piece.bytes;
      continue;
    }
    const { firstLine, lineCount } = piece.run;
    for (let line = firstLine; line < firstLine + lineCount; line += 1) {
      const entry = transcript.recordIndex.entries[line - 1];
      if (entry !== undefined) yield transcript.readLine(entry);
    }
  }
}

export function measure(runtime: Pick<Runtime, 'createHash'>, pieces: Iterable<Uint8Array>) {
  const hash = runtime.createHash();
  let sizeBytes = 0;
  for (const bytes of pieces) {
    hash.update(bytes);
    sizeBytes += bytes.length;
  }
  return { sha256: hash.digest(), sizeBytes };
}

function renderInsertedLines(
  runtime: Runtime,
  { transcript, settingsSha256, outcomes, isUsers }: ComposeInput,
  {
    result,
    insertBefore,
    listedAs,
  }: { result: CompactedConversation; insertBefore: number; listedAs: string | undefined },
): { readonly lines: readonly InsertedLine[]; readonly clipSha256: string } {
  const { recordIndex, session, codec } = transcript;
  const { prepared, plan } = result;
  const isKept = (entry: Entry): boolean => outcomes[entry.line - 1]?.kind === 'kept';
  const inFile = prepared.view.messages.filter((message) => message.carriedLineId === undefined);
  const firstKept =
    codec.format.layout.links === 'parents' ? prepared.view.messages[plan.boundary] : inFile.find(isKept);
  const firstDropped = inFile.find((message) => !isKept(message));
  const lastDropped = inFile.findLast((message) => !isKept(message));
  const lastKept = inFile.findLast((message) => message.isAside !== true && isKept(message));
  const json = (entry: Entry | undefined): Json | null => (entry === undefined ? null : transcript.readJson(entry));
  const rendered = session.renderSummary({
    text: result.text(),
    conversationId: prepared.id,
    beforeLine: insertBefore,
    firstKept: json(firstKept),
    firstDropped: json(firstDropped),
    lastDropped: json(lastDropped),
    lastDroppedBefore: json(
      prepared.view.entries.findLast(
        (entry) => entry.line < insertBefore && !isKept(entry) && entry.kind !== 'blank' && entry.kind !== 'opaque',
      ),
    ),
    prior: json(prepared.view.prior ?? undefined),
    lastKeptId: lastKept?.recordId ?? null,
    quotesTools:
      isUsers || prepared.view.messages.some(({ role, results = [] }) => role === 'tool' || results.length > 0),
    ...(listedAs !== undefined && { listedAs }),
    tokensBefore: prepared.view.messages.reduce((sum, message) => sum + (message.tokens ?? 0), 0),
    uuid: (label) => uuidFromHash(runtime.sha256([recordIndex.sha256, settingsSha256, prepared.id, label].join('\n'))),
  });
  const encoder = new TextEncoder();
  const elements = prepared.view.entries.filter(({ list, kind }) => list !== undefined && kind !== 'header');
  const isLastInList = insertBefore > (elements.at(-1)?.line ?? Number.POSITIVE_INFINITY);
  const ending = elements.length === 0 ? encoder.encode(recordIndex.eol) : separatorIn(transcript, elements);
  const lines = rendered.map((text, index) => ({
    beforeLine: insertBefore,
    bytes: concat([encoder.encode(text), isLastInList && index === rendered.length - 1 ? new Uint8Array() : ending]),
  }));
  return { lines, clipSha256: runtime.sha256(trimRecord(codec, lines.at(-1)?.bytes ?? new Uint8Array())) };
}

/** The separator between two elements of a list. A list of a single element has none. */
function separatorIn({ codec, readLine }: Prepared, elements: readonly Entry[]): Uint8Array {
  for (const element of elements) {
    const bytes = readLine(element);
    const separator = bytes.subarray(trimRecord(codec, bytes).length);
    if (separator.length > 0) return separator;
  }
  return new Uint8Array();
}

/** What an output consists of: inserted lines, and runs of source lines that stay. */
export type OutputParts = { readonly inserted: readonly InsertedLine[]; readonly kept: readonly KeptRun[] };

type OutputPiece =
  | { readonly kind: 'own'; readonly bytes: Uint8Array }
  | { readonly kind: 'kept'; readonly run: KeptRun };

/** The output's pieces in order. A run never contains the place of an inserted line. */
function outputPieces({ inserted, kept }: OutputParts): readonly OutputPiece[] {
  const pieces = [
    ...inserted.map((line) => ({
      at: line.beforeLine,
      rank: 0,
      piece: { kind: 'own', bytes: line.bytes } satisfies OutputPiece,
    })),
    ...kept.map((run) => ({ at: run.firstLine, rank: 1, piece: { kind: 'kept', run } satisfies OutputPiece })),
  ];
  return pieces.sort((a, b) => a.at - b.at || a.rank - b.rank).map(({ piece }) => piece);
}

/**
 * A UUID made from a sha256 (hex), so that a repeated run gives the same bytes. It has the form of a random UUID (version 4, RFC 9562) because
 * producers check that.
 */
export function uuidFromHash(hex: string): string {
  const variant = '89ab'[Number.parseInt(hex.slice(16, 17), 16) % 4] ?? '8';
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
