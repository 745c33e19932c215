import assert from 'node:assert/strict';
import { eraseArchived } from '../../src/app/archive/erase-archived.ts';
import { changeHolds, type HoldRequest } from '../../src/app/archive/holds.ts';
import { pruneArchive, type PruneRequest } from '../../src/app/archive/prune-archive.ts';
import type { EraseSelector } from '../../src/app/archive/select.ts';
import type { Failure } from '../../src/app/contract/failure.ts';
import type { ArchiveEraseReport, ArchiveHoldReport } from '../../src/app/contract/archive-reports.ts';
import type { Result } from '../../src/core/result.ts';
import type { HoldScope } from '../../src/ports/retention.ts';
import type { Workbench } from './workbench.ts';

type EraseOptions = Partial<Omit<Parameters<typeof eraseArchived>[1], 'selector'>>;
type EraseDeps = { readonly deps: Parameters<typeof eraseArchived>[0] };

/** Erases what a selector matches, unless a hold protects it. */
export function tryErase(
  { deps }: EraseDeps,
  selector: EraseSelector,
  options: EraseOptions = {},
): Promise<Result<ArchiveEraseReport, Failure>> {
  return eraseArchived(deps, { selector, reason: null, isConfirmed: true, despiteHold: false, ...options });
}

export async function erase(...args: Parameters<typeof tryErase>): Promise<ArchiveEraseReport> {
  return valueOf(await tryErase(...args));
}

/** Prunes everything, unless the policy says otherwise. */
export function tryPrune(
  { deps }: EraseDeps,
  policy: Partial<PruneRequest>,
): Promise<Result<ArchiveEraseReport, Failure>> {
  return pruneArchive(deps, {
    before: null,
    maxBytes: null,
    keepLast: 0,
    project: null,
    isConfirmed: true,
    ...policy,
  });
}

export async function prune(...args: Parameters<typeof tryPrune>): Promise<ArchiveEraseReport> {
  return valueOf(await tryPrune(...args));
}

type HoldDeps = { readonly deps: Parameters<typeof changeHolds>[0] };

async function change({ deps }: HoldDeps, request: HoldRequest): Promise<ArchiveHoldReport> {
  return valueOf(await changeHolds(deps, request));
}

export function hold(bench: HoldDeps, scope: HoldScope, reason: string | null = null): Promise<ArchiveHoldReport> {
  return change(bench, { kind: 'add', scope, reason });
}

export function release(bench: HoldDeps, scope: HoldScope): Promise<ArchiveHoldReport> {
  return change(bench, { kind: 'remove', scope });
}

export function listHolds(bench: HoldDeps): Promise<ArchiveHoldReport> {
  return change(bench, { kind: 'list' });
}

/** The bench with an archive in which something happens between a selection and its erasure. */
export function meanwhile(bench: Workbench, happen: (bench: Workbench) => Promise<unknown>): Workbench {
  const archive = bench.archive();
  const { retention } = archive;
  const erase: typeof retention.erase = async (plan) => {
    await happen(bench);
    return retention.erase(plan);
  };
  const late = { ...archive, retention: { ...retention, erase } };
  return { ...bench, deps: { ...bench.deps, openArchive: async () => ({ ok: true, value: late }) } };
}

function valueOf<T>(result: Result<T, Failure>): T {
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}
