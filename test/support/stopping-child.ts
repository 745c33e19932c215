import { writeSync } from 'node:fs';
import { ok } from '../../src/core/result.ts';
import type { Archive } from '../../src/ports/archive.ts';
import type { CaptureWriter } from '../../src/ports/captures.ts';
import type { ArchiveExchange, UnitStore } from '../../src/ports/exchange.ts';
import type { ErasurePlan } from '../../src/ports/retention.ts';
import { tryCapture } from './captures.ts';
import type { MergeTarget } from './merging.ts';
import { tryErase } from './retention.ts';
import { createWorkbench } from './workbench.ts';

/**
 * Captures a file into the archive of `folder`, and removes it (remove), or erases a text from it or from the one at a URL, or merges other
 * archives of `folder` into it, and stops for good at a step ("before commit"), after it has told so.
 */
const [work = '', folder = '', named = '', stopsAt = '', url = ''] = process.argv.slice(2);

function reach(step: string): void {
  if (step !== stopsAt) return;
  writeSync(1, 'stopped\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** The archive reads these parts of the plan in the middle of its transaction. */
function watchPlan(plan: ErasurePlan): ErasurePlan {
  return {
    ...plan,
    get capturedFileIds() {
      reach('when compactions are marked');
      return plan.capturedFileIds;
    },
    get paid() {
      reach('when lines are gone');
      return plan.paid;
    },
  };
}

const watched =
  <Args extends readonly unknown[], T>(name: string, method: (...args: Args) => Promise<T>) =>
  async (...args: Args): Promise<T> => {
    reach(`before ${name}`);
    const done = await method(...args);
    reach(`after ${name}`);
    return done;
  };

function watch(archive: Archive): Archive {
  const { captures, retention } = archive;
  const begin = async (...outline: Parameters<typeof captures.begin>): Promise<CaptureWriter | null> => {
    const writer = await watched('begin', captures.begin)(...outline);
    if (writer === null) return null;
    return { ...writer, append: watched('append', writer.append), commit: watched('commit', writer.commit) };
  };
  return {
    ...archive,
    captures: { ...captures, begin },
    retention: { ...retention, erase: async (plan) => retention.erase(watchPlan(plan)) },
  };
}

/** Each page of lines, and each group of compactions, is a step. */
function watchMerge(target: MergeTarget): MergeTarget {
  const steps = { pages: 0, groups: 0 };
  const watchStore = (store: UnitStore): UnitStore => ({
    ...store,
    storeUnits: async (units) => {
      const stored = await store.storeUnits(
        units.map(({ unit, lines }) => ({
          unit,
          async *lines() {
            for await (const page of lines()) {
              yield page;
              reach(`after page ${(steps.pages += 1)}`);
            }
          },
        })),
      );
      reach(`after group ${(steps.groups += 1)}`);
      return stored;
    },
  });
  const openTarget: ArchiveExchange['openTarget'] = async (place) => {
    const opened = await target.exchange.openTarget(place);
    return opened.ok ? ok({ ...opened.value, store: watchStore(opened.value.store) }) : opened;
  };
  return { ...target, exchange: { ...target.exchange, openTarget } };
}

async function openAt(place: string): Promise<Archive> {
  const { openPostgresArchive } = await import('../../src/adapters/archive/postgres/open.ts');
  const wait = async (): Promise<void> => undefined;
  const opened = await openPostgresArchive({ url: place, create: false, notice: () => undefined, wait });
  if (!opened.ok || opened.value === null) throw new Error(JSON.stringify(opened));
  return opened.value;
}

const bench = createWorkbench({ reached: (step) => reach(`when ${step}`) }, folder);
const archive = url === '' ? bench.archive() : await openAt(url);
const openArchive = async (): Promise<{ ok: true; value: Archive }> => ({ ok: true, value: watch(archive) });
const watching = { ...bench, deps: { ...bench.deps, openArchive } };
const mergeNamed = async () => {
  // Loads more than all other work does.
  const { fileTarget, tryMerge } = await import('./merging.ts');
  return tryMerge(watchMerge(fileTarget(bench.archivePath)), named.split(','));
};
const done =
  work === 'merge'
    ? await mergeNamed()
    : work === 'erase'
      ? await tryErase(watching, { kind: 'match', text: named })
      : await tryCapture(watching, named, work === 'remove' ? { remove: { before: null, minIdleMs: 0 } } : {});
writeSync(1, done.ok ? 'done\n' : `failed: ${JSON.stringify(done.error)}\n`);
await archive.close();
