import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { captureFile } from '../../src/app/archive/capture-file.ts';
import { restoreCaptured } from '../../src/app/archive/restore-captured.ts';
import type { CaptureReport, RestoreCapturedReport } from '../../src/app/contract/reports.ts';
import type { LookupFailure } from '../../src/app/contract/failure.ts';
import type { CaptureFileRequest, RestoreCapturedRequest } from '../../src/app/contract/requests.ts';
import type { Result } from '../../src/core/result.ts';
import type { Workbench } from './workbench.ts';

export function tryCapture(
  { deps, path }: Workbench,
  name: string,
  changes: Partial<CaptureFileRequest> = {},
): Promise<Result<CaptureReport, LookupFailure>> {
  const input = { path: path(name), name, format: null };
  return captureFile(deps, { input, isDryRun: false, rereads: false, ...changes });
}

export async function capture(
  bench: Workbench,
  name: string,
  changes: Partial<CaptureFileRequest> = {},
): Promise<CaptureReport> {
  const captured = await tryCapture(bench, name, changes);
  assert.ok(captured.ok, JSON.stringify(captured));
  return captured.value;
}

export function tryRestore(
  { deps, path }: Workbench,
  name: string,
  changes: Partial<RestoreCapturedRequest> = {},
): Promise<Result<RestoreCapturedReport, LookupFailure>> {
  const output = { kind: 'file', path: path('restored') } as const;
  return restoreCaptured(deps, { file: path(name), version: null, at: null, output, ...changes });
}

export async function restored(
  bench: Workbench,
  name: string,
  changes: Partial<RestoreCapturedRequest> = {},
): Promise<string> {
  rmSync(bench.path('restored'), { force: true });
  const done = await tryRestore(bench, name, changes);
  assert.ok(done.ok, JSON.stringify(done));
  return bench.read('restored').toString('latin1');
}

/** Runs SQL on the archive, as damage would change it. */
export function damage({ archivePath }: Workbench, sql: string): void {
  const db = new Database(archivePath);
  db.exec(sql);
  db.close();
}
