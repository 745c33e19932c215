import { writeSync } from 'node:fs';
import { eraseArchived } from '../../../src/app/archive/erase-archived.ts';
import { openPostgresArchive } from '../../../src/adapters/archive/postgres/open.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import type { ErasurePlan } from '../../../src/ports/retention.ts';
import { createWorkbench } from '../../support/workbench.ts';

/** Erases a text from the archive of `folder`, or from the one at a URL, and stops for good at a step, after it has told so. */
const [folder = '', text = '', stopsAt = '', url = ''] = process.argv.slice(2);

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

function watch(archive: Archive): Archive {
  const { retention } = archive;
  return { ...archive, retention: { ...retention, erase: async (plan) => retention.erase(watchPlan(plan)) } };
}

async function openAt(place: string): Promise<Archive> {
  const opened = await openPostgresArchive({
    url: place,
    create: false,
    notice: () => undefined,
    wait: async () => undefined,
  });
  if (!opened.ok || opened.value === null) throw new Error(JSON.stringify(opened));
  return opened.value;
}

const { deps, archive: localArchive } = createWorkbench({ reached: (step) => reach(`when ${step}`) }, folder);
const remote = url === '' ? null : await openAt(url);
const archive = (): Archive => remote ?? localArchive();
const openArchive = async (): Promise<{ ok: true; value: Archive }> => ({ ok: true, value: watch(archive()) });
const request = { selector: { kind: 'match', text }, reason: null, isConfirmed: true, despiteHold: false } as const;
const done = await eraseArchived({ ...deps, openArchive }, request);
writeSync(1, done.ok ? 'done\n' : `failed: ${JSON.stringify(done.error)}\n`);
await archive().close();
