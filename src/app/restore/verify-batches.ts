import { buildClipArchive } from '../../core/clip-archive.ts';
import { isClipArchiveText } from '../../core/split.ts';
import type { StoredCompaction, StoredCycle } from '../../ports/archive.ts';
import type { Json } from '../../ports/codec.ts';
import type { AppDeps } from '../contract/deps.ts';
import type { VerifyProblem } from '../contract/reports.ts';
import { parseRecord, trimRecord } from '../read/records.ts';

/**
 * Checks that every batch of a clip-archive exists and is unchanged, in the archive and in the file, and that no batch has more lines than
 * messages (it may have fewer: some were carried from an earlier clip-archive). `linesOf`: summarized lines by batch id.
 */
export function checkBatches(
  deps: AppDeps,
  compaction: StoredCompaction,
  linesOf: ReadonlyMap<number | null, number>,
): readonly VerifyProblem[] {
  const textOfClip = createClipFinder(deps, compaction);
  return compaction.cycles.flatMap((cycle) => [
    ...checkLive(cycle),
    ...checkContents(deps, cycle),
    ...(cycle.isErased ? [] : checkText(textOfClip(cycle.clipSha256), compaction, cycle)),
    ...cycle.made.flatMap((batch): readonly VerifyProblem[] => {
      const lines = linesOf.get(batch.id) ?? 0;
      if (lines <= batch.messageCount) return [];
      return [
        {
          kind: 'wrong-count',
          message: `batch ${batch.label} counts ${batch.messageCount} messages but ${lines} lines belong to it`,
        },
      ];
    }),
    ...checkOwned(cycle, linesOf),
  ]);
}

function checkLive(cycle: StoredCycle): readonly VerifyProblem[] {
  const counted = cycle.live.reduce((sum, { messageCount }) => sum + messageCount, 0);
  if (counted === cycle.messagesCompressed) return [];
  const message = `the batches of conversation ${cycle.conversationId} stand for ${counted} messages, ${cycle.messagesCompressed} were compressed: a batch is missing`;
  return [{ kind: 'missing-batch', message }];
}

/** Checks that every summarized line belongs to a batch that exists. */
function checkOwned(cycle: StoredCycle, linesOf: ReadonlyMap<number | null, number>): readonly VerifyProblem[] {
  const orphans = linesOf.get(null) ?? 0;
  if (orphans === 0 || cycle.made.length === 0) return [];
  return [
    {
      kind: 'missing-batch',
      message: `${orphans} archived lines belong to no batch of conversation ${cycle.conversationId}`,
    },
  ];
}

/** Checks batches that are not shown too: those in the middle, and the sources of merged ones. */
function checkContents({ runtime }: AppDeps, { live, made }: StoredCycle): readonly VerifyProblem[] {
  const changed = [...live, ...made].filter(({ content, contentSha256 }) => runtime.sha256(content) !== contentSha256);
  return [...new Set(changed.map(({ label }) => label))].map((label) => ({
    kind: 'changed-batch',
    message: `batch ${label} was changed in the archive since it was stored`,
  }));
}

/** Finds the text of a clip-archive by the sha256 of its line; null: we inserted no such line, or it is not a clip-archive. */
function createClipFinder(
  { runtime, formats }: AppDeps,
  { inserted, format }: StoredCompaction,
): (clipSha256: string) => string | null {
  const codec = formats.find(format) ?? {};
  const lines = new Map(
    inserted.map(({ bytes }) => trimRecord(codec, bytes)).map((line) => [runtime.sha256(line), line]),
  );
  return (clipSha256) => {
    const line = lines.get(clipSha256);
    const parsed = line === undefined ? null : parseRecord(formats, codec, line);
    return parsed !== null && parsed.ok ? textOf(parsed.value) : null;
  };
}

/**
 * Checks that the clip-archive in the file has the first line and the batches that are stored. Sections of requests and rules may be between
 * them.
 */
function checkText(text: string | null, { settings }: StoredCompaction, cycle: StoredCycle): readonly VerifyProblem[] {
  const sizes = readClipSizes(settings);
  const expected = buildClipArchive(cycle.live, sizes, cycle.messagesCompressed, cycle.cycle);
  const [head = '', ...batches] = expected.split('\n');
  const isWhole = text !== null && text.startsWith(`${head}\n`) && text.includes(`\n${batches.join('\n')}`);
  if (isWhole) return [];
  const message = `the clip-archive of conversation ${cycle.conversationId} does not say what its ${cycle.live.length} stored batches say: a batch is missing or was changed`;
  return [{ kind: 'missing-batch', message }];
}

/** The longest clip-archive text in a record: the summary's text, whatever the format calls its field. */
function textOf(value: Json): string | null {
  if (typeof value === 'string') return isClipArchiveText(value) ? value : null;
  if (value === null || typeof value !== 'object') return null;
  const texts = Object.values(value).map((part) => textOf(part));
  return texts.reduce<string | null>(
    (best, text) => (text !== null && text.length > (best?.length ?? -1) ? text : best),
    null,
  );
}

function readClipSizes(settings: string): { readonly clipFirst: number; readonly clipLast: number } {
  const value: unknown = JSON.parse(settings);
  const read = (key: string): number => {
    const size: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
    return typeof size === 'number' ? size : 0;
  };
  return { clipFirst: read('clipFirst'), clipLast: read('clipLast') };
}
