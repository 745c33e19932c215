import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { findCodec } from '../support/codecs.ts';
import type { Failure } from '../../src/app/contract/failure.ts';
import type { CompactReport } from '../../src/app/contract/reports.ts';
import { restoreFile } from '../../src/app/restore/restore-file.ts';
import { verifyFile } from '../../src/app/restore/verify-file.ts';
import type { Result } from '../../src/core/result.ts';
import type { StoredCompaction } from '../../src/ports/archive.ts';
import type { Workbench } from '../support/workbench.ts';
import type { History } from './history.ts';
import { recordsOf } from './lines.ts';

export type CompactedStage = {
  readonly bench: Workbench;
  readonly format: string | null;
  readonly history: History;
};

export type Compacted = { readonly report: CompactReport; readonly before: Buffer; readonly after: Buffer };

/** Checks the output and that the archive can restore the input. Returns the output's line for each line that was kept, by its line in the input. */
export async function checkCompacted(
  { bench, format, history }: CompactedStage,
  { report, before, after }: Compacted,
): Promise<ReadonlyMap<number, number>> {
  const { ledger } = report;
  assert.equal(
    ledger.kept + ledger.summarized + ledger.quoted + ledger.other,
    ledger.total,
    'the ledger does not add up',
  );
  assert.equal(
    ledger.total,
    recordsOf(before, report.format).length,
    'the ledger counts other lines than the file has',
  );
  assert.deepEqual(report.sha256, { before: sha256(before), after: sha256(after) });
  assert.deepEqual(report.bytes, { before: before.length, after: after.length });
  for (const { tokens } of report.conversations) assert.ok(tokens.after <= tokens.before, 'it grew');
  const places = checkKeptLines({ before, after, report }, await findCompaction(bench, report));
  bench.write('compacted.jsonl', after);
  const input = { path: bench.path('compacted.jsonl'), name: 'compacted.jsonl', format };
  const verified = await verifyFile(bench.deps, { input });
  assert.ok(verified.ok, `verify: ${describe(verified)}`);
  const { problems } = verified.value;
  assert.ok(problems.length === 0, `verify says ${problems.map(({ message }) => message).join('; ')}`);
  assert.deepEqual(verified.value.lines.kept, ledger.kept);
  assert.equal(verified.value.lines.appended, 0);
  const restored = async (all: boolean): Promise<Buffer | null> => {
    const output = { kind: 'file', path: bench.path('restored.jsonl') } as const;
    const done = await restoreFile(bench.deps, { input, output, all });
    if (all && history.isOrphaned() && !done.ok && done.error.kind === 'not-in-archive') return null;
    assert.ok(done.ok, `restore${all ? ' --all' : ''}: ${describe(done)}`);
    const bytes = bench.read('restored.jsonl');
    rmSync(output.path);
    return bytes;
  };
  assertSameBytes((await restored(false)) ?? Buffer.alloc(0), before, 'restore');
  const first = await restored(true);
  if (first !== null) assertSameBytes(first, history.original(), 'restore --all');
  checkFolder(bench);
  rmSync(input.path);
  return places;
}

/** The output is lines of the input, in order and byte for byte, and lines of our own at the places that the archive names. */
function checkKeptLines({ before, after, report }: Compacted, stored: StoredCompaction): ReadonlyMap<number, number> {
  const inserted = stored.inserted.map(({ bytes }) => Buffer.from(bytes).toString('latin1'));
  const records = recordsOf(before, report.format);
  const eol = records.map(endOf).find((end) => end !== '') ?? '\n';
  const closing = /^\r?\n$/.exec(inserted.at(-1) ?? '')?.[0] ?? '';
  const own = closing === '' ? inserted : inserted.slice(0, -1);
  assert.ok(closing === '' || endOf(records.at(-1) ?? '') === '', 'a line end was put behind a line that has one');
  // A kept last line that has no ending gets one.
  const source = closing === '' ? records : [...records.slice(0, -1), `${records.at(-1) ?? ''}${closing}`];
  const isLines = findCodec(report.format)?.records === undefined;
  for (const line of isLines ? own : [])
    assert.equal(endOf(line), eol, 'a line of our own has another ending than the file');
  assert.ok(closing === '' || closing === eol, 'the last line got another ending than the file has');
  const keptLines = stored.kept.flatMap(({ firstLine, lineCount }) =>
    Array.from({ length: lineCount }, (_, index) => firstLine + index),
  );
  const places = new Map<number, number>();
  let ownSeen = 0;
  for (const [index, line] of recordsOf(after, report.format).entries()) {
    if (line === own[ownSeen]) {
      ownSeen += 1;
      continue;
    }
    const kept = keptLines[places.size] ?? 0;
    assert.equal(line, source[kept - 1], `line ${index + 1} of the output is not line ${kept} of the input`);
    places.set(kept, index + 1);
  }
  assert.deepEqual({ ownSeen, kept: places.size }, { ownSeen: own.length, kept: report.ledger.kept });
  assert.equal(places.size, keptLines.length);
  return places;
}

function endOf(line: string): string {
  return /\r?\n$/.exec(line)?.[0] ?? '';
}

/** Nothing stands beside the files of a case. */
export function checkFolder(bench: Workbench): void {
  const isKnown = (name: string): boolean =>
    /^(?:(?:any|out|copy|compacted)\.jsonl|archive\.db(?:-wal|-shm)?)$/.test(name);
  assert.deepEqual(
    readdirSync(bench.folder).filter((name) => !isKnown(name)),
    [],
    'a temporary file stayed',
  );
}

async function findCompaction(bench: Workbench, { sha256 }: CompactReport): Promise<StoredCompaction> {
  for (let id = await countCompactions(bench); id > 0; id -= 1) {
    const stored = await bench.archive().loadCompaction(id);
    if (stored?.source.sha256 === sha256.before && stored.output.sha256 === sha256.after) return stored;
  }
  throw new Error('the archive does not have what the report speaks of');
}

/** Ids are given in order, from 1. */
export async function countCompactions(bench: Workbench): Promise<number> {
  let count = 0;
  while ((await bench.archive().loadCompaction(count + 1)) !== null) count += 1;
  return count;
}

export function assertSameBytes(actual: Buffer, expected: Buffer, what: string): void {
  if (actual.equals(expected)) return;
  const at = actual.findIndex((byte, index) => byte !== expected[index]);
  const place = at < 0 ? Math.min(actual.length, expected.length) : at;
  const show = (bytes: Buffer): string => JSON.stringify(bytes.subarray(place, place + 80).toString('latin1'));
  assert.fail(
    `${what} gives other bytes from ${place} on: ${show(actual)} for ${show(expected)} (${actual.length} bytes for ${expected.length})`,
  );
}

export function describe(done: Result<unknown, Failure>): string {
  return done.ok ? 'done' : JSON.stringify(done.error);
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
