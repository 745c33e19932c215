import type { InsertedLine, KeptRun } from '../../ports/archive.ts';

/** How an output is made of its source: our own lines, and runs of source lines that stay. */
export type Recipe = { readonly inserted: readonly InsertedLine[]; readonly kept: readonly KeptRun[] };

export type OutputPiece =
  | { readonly kind: 'own'; readonly bytes: Uint8Array }
  | { readonly kind: 'kept'; readonly run: KeptRun };

/** The output's pieces in order. A run that our own line stands inside of was split there when it was made. */
export function outputPieces({ inserted, kept }: Recipe): readonly OutputPiece[] {
  const pieces = [
    ...inserted.map((line) => ({
      at: line.beforeLine,
      rank: 0,
      piece: { kind: 'own', bytes: line.bytes } satisfies OutputPiece,
    })),
    ...kept.map((run) => ({ at: run.firstLine, rank: 1, piece: { kind: 'kept', run } satisfies OutputPiece })),
  ];
  return pieces.sort((a, b) => a.at - b.at || a.rank - b.rank).map(({ piece }) => piece);
}

/** Tells of any source line whether it stays. */
export function keptLineLookup({ kept }: Pick<Recipe, 'kept'>): (line: number) => boolean {
  return (line) => {
    let low = 0;
    let high = kept.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const run = kept[middle];
      if (run !== undefined && run.firstLine + run.lineCount <= line) low = middle + 1;
      else high = middle;
    }
    return (kept[low]?.firstLine ?? Number.POSITIVE_INFINITY) <= line;
  };
}

export type LineFacts = { readonly sizeBytes: number; readonly sha256: string };

/** The kept lines as runs, each as long as possible, but never across a line that ours are inserted before. */
export function buildRuns(
  keptLines: Iterable<number>,
  options: { readonly breakBefore: ReadonlySet<number>; readonly factsOf: (line: number) => LineFacts },
): readonly KeptRun[] {
  const runs: { firstLine: number; lineCount: number; sizeBytes: number; lineSha256: string[] }[] = [];
  for (const line of keptLines) {
    const { sizeBytes, sha256 } = options.factsOf(line);
    const last = runs.at(-1);
    if (last !== undefined && last.firstLine + last.lineCount === line && !options.breakBefore.has(line)) {
      last.lineCount += 1;
      last.sizeBytes += sizeBytes;
      last.lineSha256.push(sha256);
    } else {
      runs.push({ firstLine: line, lineCount: 1, sizeBytes, lineSha256: [sha256] });
    }
  }
  return runs;
}
