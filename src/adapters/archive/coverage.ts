import type { CompactionDraft, LineDraft } from '../../ports/archive.ts';

/**
 * Passes the lines on while it proves that they and the kept runs are each line of the source exactly once, in order. Throws at the first
 * that is not: an archive with a hole could never give the original back.
 */
export function* coverSource(
  draft: Pick<CompactionDraft, 'kept' | 'source'>,
  lines: Iterable<LineDraft>,
): IterableIterator<LineDraft> {
  const runs = draft.kept.values();
  let run = runs.next();
  let expected = 1;
  const passKept = (): void => {
    for (; run.value !== undefined && run.value.firstLine === expected; run = runs.next()) {
      const { firstLine, lineCount, lineSha256 } = run.value;
      if (lineCount < 1) throw new Error(`the run of kept lines at source line ${firstLine} is empty`);
      if (lineSha256.length !== lineCount) {
        throw new Error(
          `the run of kept lines at source line ${firstLine} has ${lineSha256.length} hashes for ${lineCount} lines`,
        );
      }
      expected += lineCount;
    }
  };
  for (const line of lines) {
    passKept();
    if (line.line !== expected)
      throw new Error(`source line ${expected} expected, but line ${line.line} is archived next`);
    expected += 1;
    yield line;
  }
  passKept();
  if (run.value !== undefined)
    throw new Error(`source line ${expected} expected, but line ${run.value.firstLine} is kept next`);
  const { lineCount } = draft.source;
  if (expected !== lineCount + 1)
    throw new Error(`${expected - 1} lines are kept or archived of a source of ${lineCount}`);
}
