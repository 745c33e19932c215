import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fastestOf } from '../child.ts';
import { createFigure, type Figure } from '../figures.ts';
import { type Bench, COMPACT } from './bench.ts';

const COMPACTIONS = 150;
const QUICK_COMPACTIONS = 10;
const APPENDED_BYTES = 5000;

/** One session that is compacted again and again, with a few messages in between; then all of it is verified and restored. */
export function measureLineage(bench: Bench, { isQuick }: { readonly isQuick: boolean }): readonly Figure[] {
  const { folder, input, runner, patience } = bench;
  const session = join(folder, 'session.jsonl');
  const piece = join(folder, 'piece.jsonl');
  const back = join(folder, 'back.jsonl');
  const archive = join(folder, 'archive.db');
  const count = isQuick ? QUICK_COMPACTIONS : COMPACTIONS;
  for (let at = 0; at < count; at += 1) {
    input.writeChat(piece, APPENDED_BYTES);
    appendFileSync(session, readFileSync(piece));
    runner.time([
      COMPACT,
      '-q',
      '-i',
      '--keep-recent',
      '2',
      '--keep-recent-tokens',
      '0',
      session,
      '--archive',
      archive,
    ]);
  }
  const verify = fastestOf(() => runner.measure([COMPACT, 'verify', session, '--archive', archive]), patience);
  const restore = fastestOf(() => {
    rmSync(back, { force: true });
    return runner.measure([COMPACT, 'restore', '--all', session, '-o', back, '--archive', archive]);
  }, patience);
  for (const path of [session, piece, back, archive]) rmSync(path, { force: true });
  const group = `A session after ${count} compactions`;
  const inSeconds = ({ wallMs, cpuMs }: typeof verify) =>
    ({ group, measured: wallMs / 1000, byCpu: cpuMs / 1000, wallMs, cpuMs }) as const;
  return [createFigure('lineage.verify', inSeconds(verify)), createFigure('lineage.restore', inSeconds(restore))];
}
