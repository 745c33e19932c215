import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { parseJsonLine } from '../../src/adapters/transcript/json-lines.ts';
import type { Failure } from '../../src/app/contract/failure.ts';
import type { CompactReport } from '../../src/app/contract/reports.ts';
import { scoreFile } from '../../src/app/survey/score-file.ts';
import type { Result } from '../../src/core/result.ts';
import { type BenchSettings, createWorkbench, policyOf, type Workbench } from '../support/workbench.ts';
import type { FuzzCase, Step } from './case.ts';
import {
  assertSameBytes,
  checkCompacted,
  checkFolder,
  type CompactedStage,
  countCompactions,
  describe,
} from './check-compacted.ts';
import { createHistory } from './history.ts';
import { linesOf, recordsOf } from './lines.ts';
import type { CaseSettings } from './settings.ts';

/** Told what became of each compaction: `compacted`, `skipped too-short`, `failed bad-line`. */
export type Note = (outcome: string) => void;

/** What a transcript that is no transcript may end with. */
const EXPECTED = new Set(['bad-line', 'not-a-transcript', 'unknown-format', 'mixed-formats', 'no-messages', 'no-text']);

const FILE = 'any.jsonl';
const OUTPUT = 'out.jsonl';
const COPY = 'copy.jsonl';
const COMPACTED = 'compacted.jsonl';

/** Compacts a case through the use cases and the real adapters, and asserts all that must hold whatever the file. */
export async function checkCase({ format, steps }: FuzzCase, note: Note): Promise<void> {
  const printed: Buffer[] = [];
  const open = (): Workbench => createWorkbench({ stdout: (bytes) => printed.push(Buffer.from(bytes)) });
  const history = createHistory();
  const benches = [open()];
  try {
    for (const step of steps) {
      if (step.twist === 'another archive') {
        history.forget();
        benches.unshift(open());
      }
      const [bench = open()] = benches;
      bench.write(FILE, history.append(step));
      const outputOf = ({ output }: CaseSettings): Buffer =>
        output === 'stdout' ? Buffer.concat(printed.splice(0)) : bench.read(output === 'file' ? OUTPUT : FILE);
      const stage = { bench, format, history, step, note, outputOf };
      const checkCopy = step.twist === 'copy' ? await compactCopy(stage) : null;
      await checkStep(stage);
      await checkCopy?.();
    }
  } finally {
    for (const bench of benches) bench.remove();
  }
}

type Stage = CompactedStage & {
  readonly step: Step;
  readonly note: Note;
  /** What the last run put out. */
  readonly outputOf: (settings: CaseSettings) => Buffer;
};

/** A copy of the file is compacted in the same archive, but otherwise; what comes after must leave it as good as it was. */
async function compactCopy(stage: Stage): Promise<(() => Promise<void>) | null> {
  const { bench, format, step } = stage;
  const before = bench.read(FILE);
  bench.write(COPY, before);
  const chosen = benchSettings({ ...step.settings, output: 'in-place' }, { format, path: bench.path(OUTPUT) });
  const keepRecent = step.settings.keepRecent + 2;
  const done = await bench.compact(COPY, { ...chosen, compaction: { ...chosen.compaction, keepRecent } });
  if (!done.ok || done.value.result !== 'compacted') return null;
  const report = done.value;
  return async () => void (await checkCompacted(stage, { report, before, after: bench.read(COPY) }));
}

async function checkStep(stage: Stage): Promise<void> {
  const { bench, format, history, step, note, outputOf } = stage;
  const { settings } = step;
  const before = bench.read(FILE);
  const chosen = benchSettings(settings, { format, path: bench.path(OUTPUT) });
  const saidBefore = await checkScore(bench, { name: FILE, chosen });
  const rows = await countCompactions(bench);
  await bench.compact(FILE, { ...chosen, output: { kind: 'none' } });
  const done = await bench.compact(FILE, chosen);
  assert.deepEqual(await bench.archive().listPrepared(), [], 'the archive holds something that is only prepared');
  checkFolder(bench);
  if (!done.ok) {
    note(`failed ${done.error.kind}${done.error.kind === 'not-a-transcript' ? `, ${done.error.looksLike}` : ''}`);
    checkFailure(done, { settings, before });
    assert.ok(bench.read(FILE).equals(before), 'a failure changed the file');
    assert.ok(!existsSync(bench.path(OUTPUT)), 'a failure left an output');
    assert.equal(await countCompactions(bench), rows, 'a failure left rows in the archive');
    return;
  }
  const report = done.value;
  note(report.result === 'skipped' ? `skipped ${report.reason}` : report.result);
  const after = outputOf(settings);
  if (report.result === 'skipped') assert.ok(after.equals(before), 'nothing was to be done, and the bytes differ');
  else {
    const places = await checkCompacted(stage, { report, before, after });
    bench.write(COMPACTED, after);
    const saidAfter = await checkScore(bench, { name: COMPACTED, chosen });
    checkSaid({ before: saidBefore, after: saidAfter }, places, recordsOf(after, report.format));
    rmSync(bench.path(COMPACTED));
  }
  await checkAgain(stage, { chosen, report, after });
  rmSync(bench.path(OUTPUT), { force: true });
  history.replace(after, report.result === 'compacted');
}

/** The same run again changes nothing and adds no row. */
async function checkAgain(
  { bench, step, outputOf }: Stage,
  { chosen, report, after }: { readonly chosen: BenchSettings; readonly report: CompactReport; readonly after: Buffer },
): Promise<void> {
  const rows = await countCompactions(bench);
  const again = await bench.compact(FILE, chosen);
  assert.ok(again.ok, `the same run again: ${describe(again)}`);
  assertSameBytes(outputOf(step.settings), after, 'the same run again');
  assert.equal(await countCompactions(bench), rows, 'the same run again added to the archive');
  const expected = step.settings.output === 'in-place' ? 'skipped' : report.result;
  assert.equal(again.value.result, expected, 'the same run again had another result');
  // That nothing is gained shows only when it is summarized, and the offline summarizer's summaries are not kept.
  if (again.value.reason === 'nothing-gained') return;
  assert.equal(again.value.usage?.calls ?? 0, 0, 'the same run again asked the model');
}

/** The lines of what is said in a file, as its producer still has it. */
async function checkScore(
  bench: Workbench,
  { name, chosen }: { readonly name: string; readonly chosen: BenchSettings },
): Promise<readonly number[]> {
  const input = { path: bench.path(name), name, format: chosen.format ?? null };
  const scored = await scoreFile(bench.deps, { input, policy: policyOf(chosen) });
  if (!scored.ok) {
    assert.ok(EXPECTED.has(scored.error.kind), describe(scored));
    return [];
  }
  for (const { score, terms, line } of scored.value.messages) {
    const sum = terms.reduce((total, { value }) => total + value, 0);
    assert.ok(Number.isFinite(score), `the score of line ${line} is ${score}`);
    assert.equal(sum, score, `the terms of line ${line} do not add up`);
  }
  return scored.value.messages.map(({ line }) => line);
}

/** Whoever reads the output finds the messages that were kept, all of them and no others, and the summary. */
function checkSaid(
  said: { readonly before: readonly number[]; readonly after: readonly number[] },
  places: ReadonlyMap<number, number>,
  output: readonly string[],
): void {
  const kept = said.before.map((line) => places.get(line)).filter((line) => line !== undefined);
  const show = (lines: readonly number[]): readonly string[] =>
    lines.toSorted((a, b) => a - b).map((line) => `${line}: ${output[line - 1] ?? ''}`);
  assert.deepEqual(show(said.after), show(kept), `of ${places.size} kept lines others are messages now than before`);
}

function checkFailure(
  done: Result<CompactReport, Failure>,
  { settings, before }: { readonly settings: CaseSettings; readonly before: Buffer },
): void {
  if (done.ok) return;
  const { kind } = done.error;
  assert.ok(EXPECTED.has(kind), `an unexpected failure: ${describe(done)}`);
  // Where no line is JSON there is no telling the format, and the first line's fault says why.
  if (kind !== 'bad-line' || !settings.keepInvalid || !linesOf(before).some(isJson)) return;
  assert.fail(`a bad line although such lines are to be kept: ${describe(done)}`);
}

function isJson(line: string): boolean {
  return parseJsonLine(Buffer.from(line.replace(/\r?\n$/, ''), 'latin1')).ok;
}

function benchSettings(
  { keepRecent, chunkSize, maxChunkTokens, maxSummaryTokens, clipFirst, clipLast, output, ...policy }: CaseSettings,
  { format, path }: { readonly format: string | null; readonly path: string },
): BenchSettings {
  const chunks = maxChunkTokens === null ? { chunkSize } : { chunkSize, maxChunkTokens };
  return {
    ...policy,
    isFresh: true,
    ...(format !== null && { format }),
    output: output === 'file' ? { kind: 'file', path } : { kind: output },
    compaction: { keepRecent, maxSummaryTokens, clipFirst, clipLast, ...chunks },
  };
}
