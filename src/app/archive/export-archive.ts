import { matchesGlob } from '../../core/paths.ts';
import { ok, type Result } from '../../core/result.ts';
import type {
  ExchangedCapture,
  ExportEncoding,
  ExportFolders,
  ExportWriter,
  OpenSource,
  Unit,
  UnitKey,
  UnitReader,
} from '../../ports/exchange.ts';
import { attempt, type Failure, stop, stopIfInterrupted } from '../contract/failure.ts';
import type { ArchiveExportReport } from '../contract/archive-reports.ts';
import type { MergeDeps } from './merge-archives.ts';
import { belongsTo } from './sessions.ts';

/** What to export; null: everything. */
export type ExportFilter = {
  readonly conversation: string | null;
  /** A glob for the paths of transcripts. */
  readonly source: string | null;
  /** Archived from this time on, and before that one. */
  readonly since: Date | null;
  readonly until: Date | null;
};

export type ExportDeps = MergeDeps & { readonly folders: ExportFolders };

/** Writes what is archived into a folder, as the archive is at one moment. Unfinished compactions are left out. */
export async function exportArchive(
  deps: ExportDeps,
  { folder, encoding, filter }: { folder: string; encoding: ExportEncoding; filter: ExportFilter },
): Promise<Result<ArchiveExportReport, Failure>> {
  return attempt({ file: deps.archivePath, progress: deps.progress }, async () => {
    const source = await deps.exchange.openSource(deps.archivePath);
    if (!source.ok) return stop({ kind: 'archive', failure: source.error });
    try {
      const writer = await deps.folders.create(folder, encoding);
      try {
        const counts = await writeAll(deps, { source: source.value, writer, filter });
        writer.commit();
        const isComplete = isEmpty(filter);
        return ok({ schema: 'compact/archive-export@1', archive: deps.archivePath, folder, isComplete, ...counts });
      } finally {
        writer.abandon();
      }
    } finally {
      await source.value.close();
    }
  });
}

function isEmpty(filter: ExportFilter): boolean {
  return Object.values(filter).every((value) => value === null);
}

type Exporting = { readonly source: OpenSource; readonly writer: ExportWriter; readonly filter: ExportFilter };

async function writeAll(deps: ExportDeps, { source: { reader, archive }, writer, filter }: Exporting) {
  const counts = { compactions: 0, lines: 0, capturedFiles: 0 };
  const selected = isEmpty(filter) ? null : await selectUnits(reader, filter);
  for (const receipt of await reader.receipts()) writer.write('receipt', receipt);
  for await (const page of reader.erasedStates()) for (const state of page) writer.write('erasedState', state);
  if (selected === null) {
    for (const { id: _, ...hold } of await archive.retention.listHolds()) writer.write('hold', hold);
    for (const choice of await archive.choices.list()) writer.write('choice', choice);
    for (const entry of await archive.log.list()) writer.write('log', entry);
  }
  for await (const { id, unit } of reader.units()) {
    if (selected !== null && !selected.keys.has(unit.key)) continue;
    writer.write('compaction', unit);
    counts.compactions += 1;
    for await (const { lines } of reader.lines(id)) {
      for (const line of lines) writer.write('line', { unit: unit.key, ...line });
      counts.lines += lines.length;
    }
    deps.progress.update('exporting', counts.compactions, counts.compactions);
    await stopIfInterrupted(deps);
  }
  for await (const capture of reader.captures()) {
    const { path, states } = capture;
    if (selected !== null && !isSelected(capture, { filter, paths: selected.paths })) continue;
    writer.write('capture', capture);
    counts.capturedFiles += 1;
    for (const [version, state] of new Map(states.map((one) => [one.version, one])))
      for await (const page of reader.pieces(path, state))
        for (const piece of page) writer.write('piece', { path, version, ...piece });
    await stopIfInterrupted(deps);
  }
  if (selected === null)
    for await (const page of reader.summaries()) for (const summary of page) writer.write('summary', summary);
  const model = await reader.vectorModel();
  if (model === null) return counts;
  writer.write('model', model);
  for await (const page of reader.vectors())
    for (const vector of page) if (selected === null || selected.keys.has(vector.unit)) writer.write('vector', vector);
  return counts;
}

type Selected = {
  readonly keys: ReadonlySet<UnitKey>;
  /** Of the transcripts that match. */
  readonly paths: ReadonlySet<string | null>;
};

/** The compactions that match, and the earlier ones that they refer to. */
async function selectUnits(reader: UnitReader, filter: ExportFilter): Promise<Selected> {
  const keys = new Set<UnitKey>();
  const paths = new Set<string | null>();
  const all: { readonly key: UnitKey; readonly refersTo: ReadonlySet<UnitKey> }[] = [];
  for await (const { unit } of reader.units()) {
    all.push({ key: unit.key, refersTo: referencesOf(unit) });
    if (!isMatch(unit, filter)) continue;
    keys.add(unit.key);
    for (const path of [unit.sourcePath, unit.outputPath]) paths.add(path);
  }
  for (const { key, refersTo } of all.toReversed()) if (keys.has(key)) for (const other of refersTo) keys.add(other);
  return { keys, paths };
}

function referencesOf({ cycles, carried }: Unit): ReadonlySet<UnitKey> {
  const batches = cycles.flatMap((cycle) => [...cycle.live, ...cycle.batches.flatMap(({ sources }) => sources)]);
  return new Set([...batches, ...carried, ...cycles.flatMap(({ parent }) => parent ?? [])].map(({ unit }) => unit));
}

function isMatch(unit: Unit, { conversation, source, since, until }: ExportFilter): boolean {
  return (
    (conversation === null || unit.cycles.some(({ conversationId }) => conversationId === conversation)) &&
    (source === null ||
      [unit.sourcePath, unit.outputPath].some((path) => path !== null && matchesGlob(path, source))) &&
    isWithin(unit.createdAtMs, { since, until })
  );
}

function isWithin(ms: number, { since, until }: Pick<ExportFilter, 'since' | 'until'>): boolean {
  return (since === null || ms >= since.getTime()) && (until === null || ms < until.getTime());
}

function isSelected(capture: ExchangedCapture, { filter, paths }: { filter: ExportFilter; paths: Selected['paths'] }) {
  const { conversation, source } = filter;
  const { path, states } = capture;
  const isOf = conversation === null || paths.has(path) || belongsTo(capture, conversation);
  const isThere = source === null || matchesGlob(path, source);
  return isOf && isThere && states.some(({ capturedAt }) => isWithin(capturedAt.getTime(), filter));
}
