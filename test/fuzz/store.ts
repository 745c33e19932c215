import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FuzzCase, Step } from './case.ts';

type StoredStep = Omit<Step, 'appended'> & {
  /** A file beside, with the bytes. */
  readonly appended: string;
};

/** `seed` and `path` give the case to fast-check again; without shrinking the files are all that is needed. */
type Origin = { readonly seed: number; readonly path: string; readonly problem: string };

/** Writes a case into a folder, the bytes of each step as a file of its own; gives the path to run it again by. */
export function saveCase(folder: string, one: FuzzCase, origin: Origin): string {
  mkdirSync(folder, { recursive: true });
  const steps = one.steps.map(({ appended, ...rest }, index): StoredStep => {
    const name = `${index + 1}.jsonl`;
    writeFileSync(join(folder, name), appended);
    return { ...rest, appended: name };
  });
  const path = join(folder, 'case.json');
  writeFileSync(path, `${JSON.stringify({ ...origin, format: one.format, steps }, null, 2)}\n`);
  return path;
}

export function loadCase(path: string): FuzzCase {
  const { format, steps }: { format: string | null; steps: readonly StoredStep[] } = JSON.parse(
    readFileSync(path, 'utf8'),
  );
  return {
    format,
    steps: steps.map((step) => ({ ...step, appended: readFileSync(join(dirname(path), step.appended)) })),
  };
}
