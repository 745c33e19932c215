import assert from 'node:assert/strict';
import { findVectorExtension } from '../../src/adapters/archive/sqlite/extension.ts';
import { openArchive } from '../../src/adapters/archive/sqlite/open.ts';
import { createNodeRuntime } from '../../src/adapters/runtime/node.ts';
import { formatRegistry } from '../../src/adapters/transcript/detect.ts';
import type { Failure } from '../../src/app/contract/failure.ts';
import type { ArchiveMergeReport } from '../../src/app/contract/archive-reports.ts';
import type { ExportDeps } from '../../src/app/archive/export-archive.ts';
import { mergeArchives } from '../../src/app/archive/merge-archives.ts';
import { createExportFolders } from '../../src/adapters/archive/exchange/folder.ts';
import { createExchange } from '../../src/compose/use-cases.ts';
import { ok, type Result } from '../../src/core/result.ts';
import type { Archive } from '../../src/ports/archive.ts';
import type { ArchiveExchange, Unit, UnitReader } from '../../src/ports/exchange.ts';
import { collect } from './collect.ts';
import { createQuickStore } from './files.ts';

const extension = await findVectorExtension();
assert.ok(extension.ok, JSON.stringify(extension));
const vectorExtension = extension.value;
export const fileExchange = createExchange(vectorExtension, { sleep: async () => undefined });

/** Where archives are merged into. */
export type MergeTarget = {
  readonly place: string;
  readonly exchange: ArchiveExchange;
  readonly open: () => Promise<Archive>;
};

export function fileTarget(path: string): MergeTarget {
  const open = async (): Promise<Archive> => {
    const opened = await openArchive({ path, vectorExtension });
    assert.ok(opened.ok, JSON.stringify(opened));
    return opened.value;
  };
  return { place: path, exchange: fileExchange, open };
}

export type MergeOptions = { readonly signal?: AbortSignal };

export async function tryMerge(
  target: MergeTarget,
  others: readonly string[],
  { signal }: MergeOptions = {},
): Promise<Result<ArchiveMergeReport, Failure>> {
  return withDeps(target, signal, (deps) => mergeArchives(deps, { others }));
}

/** Does something with an archive that is opened when it is needed. */
export async function withDeps<T>(
  target: MergeTarget,
  signal = new AbortController().signal,
  work: (deps: ExportDeps) => Promise<T>,
): Promise<T> {
  const opened: { archive: Archive | null } = { archive: null };
  const deps: ExportDeps = {
    files: createQuickStore(),
    formats: formatRegistry,
    runtime: createNodeRuntime(),
    progress: { update: () => undefined, finish: () => undefined },
    signal,
    openArchive: async () => ok((opened.archive ??= await target.open())),
    archivePath: target.place,
    erasures: { hasFailed: false },
    exchange: target.exchange,
    folders: createExportFolders(vectorExtension),
  };
  try {
    return await work(deps);
  } finally {
    await opened.archive?.close();
  }
}

export async function merge(
  target: MergeTarget,
  others: readonly string[],
  options: MergeOptions = {},
): Promise<ArchiveMergeReport> {
  const merged = await tryMerge(target, others, options);
  assert.ok(merged.ok, JSON.stringify(merged));
  return merged.value;
}

/** Everything that matters of an archive, in an order of its own, without ids and with nothing that says under which receipt a line went. */
export async function contentsOf({ place, exchange }: Pick<MergeTarget, 'place' | 'exchange'>): Promise<object> {
  const opened = await exchange.openSource(place);
  assert.ok(opened.ok, JSON.stringify(opened));
  try {
    const { reader, archive } = opened.value;
    const problems = (await collect(archive.check())).flatMap((step) => (step.kind === 'damage' ? [step.damage] : []));
    assert.deepEqual(problems, []);
    return await dump(reader);
  } finally {
    await opened.value.close();
  }
}

async function dump(reader: UnitReader): Promise<object> {
  const units = [];
  for (const { id, unit } of await collect(reader.units())) units.push(await dumpUnit(reader, id, unit));
  const captures = [];
  for (const capture of await collect(reader.captures())) {
    const states = [];
    for (const state of capture.states) {
      const pieces = (await collect(reader.pieces(capture.path, state))).flat();
      // Where one state ends within a line, the next one begins there: only the bytes matter.
      const bytes = pieces.some((piece) => piece.bytes === null)
        ? pieces.map(({ sha256, bytes: left }) => [sha256, left !== null])
        : Buffer.concat(pieces.map((piece) => piece.bytes ?? new Uint8Array())).toString('base64');
      states.push({ ...state, bytes });
    }
    captures.push({ path: capture.path, format: capture.format, states });
  }
  const summaries = (await collect(reader.summaries())).flat();
  const vectors = (await collect(reader.vectors())).flat();
  return {
    units: sorted(units),
    captures: sorted(captures),
    receipts: sorted(await reader.receipts()),
    erasedStates: sorted((await collect(reader.erasedStates())).flat()),
    summaries: sorted(summaries),
    model: vectors.length === 0 ? null : await reader.vectorModel(),
    vectors: sorted(vectors),
  };
}

async function dumpUnit(reader: UnitReader, id: number, { receipt, ...unit }: Unit): Promise<unknown> {
  const lines = (await collect(reader.lines(id))).flatMap((page) => page.lines);
  return {
    ...unit,
    isTouched: receipt !== null,
    files: sorted(unit.files),
    cycles: unit.cycles.map((cycle) => ({
      ...cycle,
      batches: cycle.batches.map((batch) => ({ ...batch, label: batch.label.replace(/-\d+$/, '') })),
    })),
    lines: lines.map((line) => ({ ...line, receipt: line.receipt !== null })),
  };
}

function sorted(items: readonly unknown[]): readonly string[] {
  return items.map((item) => JSON.stringify(item)).toSorted();
}
