import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fastestOf, type Run } from '../child.ts';
import { createFigure, formatNumber, type Figure } from '../figures.ts';
import { type Bench, COMPACT, compareTimes, subtractTimes, type Times } from './bench.ts';
import { sizeOfAll } from './folder.ts';
import { type FileKind, type FileMeasured, type FixedTimes, KIND_NAMES, STEPS } from './file.ts';

export type Sized = { readonly megabytes: number; readonly measured: FileMeasured };

/** A run on input of this size, in any unit. */
export type Cost = Times & { readonly size: number };

/** How much more a unit of the larger input costs than one of the smaller, less `fixed`, what next to nothing costs: 1 is linear. */
export function compareCosts(smaller: Cost, larger: Cost, fixed: Times): ReturnType<typeof compareTimes> {
  const unitCost = (cost: Cost): Times => {
    const { wallMs, cpuMs } = subtractTimes(cost, fixed);
    return { wallMs: wallMs / cost.size, cpuMs: cpuMs / cost.size };
  };
  return { ...compareTimes(unitCost(larger), unitCost(smaller)), wallMs: larger.wallMs, cpuMs: larger.cpuMs };
}

/** The largest of the measured sizes beside the smallest. */
export function measureSizeGrowth(kind: FileKind, sizes: readonly Sized[], fixed: FixedTimes): readonly Figure[] {
  const [first, last] = [sizes.at(0), sizes.at(-1)];
  if (first === undefined || last === undefined || first === last) return [];
  const group = `A ${KIND_NAMES[kind]} of ${formatNumber(first.megabytes)} MB and one of ${formatNumber(last.megabytes)} MB`;
  return STEPS.map((step) => {
    const cost = ({ megabytes, measured }: Sized): Cost => ({ ...measured.runs[step], size: megabytes });
    const peaks = [first, last].map((sized) => formatNumber(sized.measured.runs[step].peakBytes / 1_000_000));
    return createFigure(`growth.${step}`, {
      group,
      ...compareCosts(cost(first), cost(last), fixed[step]),
      note: `memory ${peaks.join(' and ')} MB`,
    });
  });
}

const SMALL_FILE_BYTES = 2000;

/** Folders of many small files, of which all are compacted in place. */
export function measureFileCounts(bench: Bench, counts: readonly number[]): readonly Figure[] {
  const [fewest, most] = [counts.at(0), counts.at(-1)];
  if (fewest === undefined || most === undefined || fewest === most) return [];
  const one = compactFolder(bench, 1);
  const few = compactFolder(bench, fewest);
  const many = compactFolder(bench, most);
  const growth = compareCosts({ ...few, size: fewest - 1 }, { ...many, size: most - 1 }, one);
  const group = `${formatNumber(fewest)} and ${formatNumber(most)} files of 2 kB`;
  const perFile = formatNumber((many.wallMs - one.wallMs) / (most - 1));
  const peaks = [few, many].map(({ peakBytes }) => formatNumber(peakBytes / 1_000_000));
  const note = `${perFile} ms a file; memory ${peaks.join(' and ')} MB`;
  const share = createFigure('files.archive', { group, measured: many.archiveBytes / many.bytesThatLeft });
  return [createFigure('growth.files', { group, ...growth, note }), share];
}

type FolderRun = Run & { readonly archiveBytes: number; readonly bytesThatLeft: number };

function compactFolder({ folder, input, runner, patience }: Bench, count: number): FolderRun {
  const files = join(folder, 'files');
  const archive = join(folder, 'archive.db');
  const settings = ['--keep-recent', '1', '--keep-recent-tokens', '0'];
  let before = 0;
  const run = fastestOf(() => {
    clean();
    mkdirSync(files);
    for (let at = 0; at < count; at += 1) input.writeChat(join(files, `${at}.jsonl`), SMALL_FILE_BYTES);
    before = sizeOfAll(files);
    return runner.measure([COMPACT, '-q', '-i', ...settings, files, '--archive', archive]);
  }, patience);
  const sizes = {
    archiveBytes: statSync(archive, { throwIfNoEntry: false })?.size ?? 0,
    bytesThatLeft: before - sizeOfAll(files),
  };
  clean();
  return { ...run, ...sizes };

  function clean(): void {
    for (const path of [files, archive]) rmSync(path, { recursive: true, force: true });
  }
}
