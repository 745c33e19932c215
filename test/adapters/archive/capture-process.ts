import { writeSync } from 'node:fs';
import { captureFile } from '../../../src/app/archive/capture-file.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import type { CaptureWriter } from '../../../src/ports/captures.ts';
import { createWorkbench } from '../../support/workbench.ts';

/** Captures `file` into the archive of `folder`, and stops for good at a step ("before commit"), after it has told so. */
const [folder = '', file = '', stopsAt = ''] = process.argv.slice(2);

function reach(step: string): void {
  if (step !== stopsAt) return;
  writeSync(1, 'stopped\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
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
  const { captures } = archive;
  const begin = async (...outline: Parameters<typeof captures.begin>): Promise<CaptureWriter | null> => {
    const writer = await watched('begin', captures.begin)(...outline);
    if (writer === null) return null;
    return { ...writer, append: watched('append', writer.append), commit: watched('commit', writer.commit) };
  };
  return { ...archive, captures: { ...captures, begin } };
}

const { deps, archive } = createWorkbench({}, folder);
const openArchive = async (): Promise<{ ok: true; value: Archive }> => ({ ok: true, value: watch(archive()) });
const input = { path: file, name: file, format: null };
const done = await captureFile({ ...deps, openArchive }, { input, isDryRun: false, rereads: false });
writeSync(1, done.ok ? 'done\n' : `failed: ${JSON.stringify(done.error)}\n`);
await archive().close();
