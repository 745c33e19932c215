import type { ExchangedCapture, ExchangedState, MergedVersion, UnitReader, UnitStore } from '../../ports/exchange.ts';
import type { Runtime } from '../../ports/runtime.ts';

type Sides = {
  readonly target: UnitStore;
  readonly source: UnitReader;
  readonly runtime: Pick<Runtime, 'createHash'>;
};

/** The states of a captured file that the target has, or has not pruned with this file since they were captured. `prunes`: when, by their receipts. */
export async function withoutPruned(
  { target, source }: Sides,
  { path, states }: ExchangedCapture,
  prunes: ReadonlyMap<string, number>,
): Promise<readonly ExchangedState[]> {
  const left: ExchangedState[] = [];
  for (const state of states) {
    const { sha256, capturedAt, version } = state;
    const originSha256 = await source.originOf(path, version);
    const isPruned = (await target.findErasedStates({ sha256, originSha256 })).some(
      (one) =>
        one.sha256 === sha256 &&
        one.originSha256 === originSha256 &&
        capturedAt.getTime() <= (prunes.get(one.receipt) ?? Number.NEGATIVE_INFINITY),
    );
    if (!isPruned || (await target.hasState(sha256))) left.push(state);
  }
  return left;
}

/**
 * Merges one captured file into the target: afterwards it has the states of both, in the order of their times. A version lasts as long as the
 * file only grew. False: there was nothing new.
 */
export async function mergeCapture(sides: Sides, capture: ExchangedCapture): Promise<boolean> {
  const { target, source } = sides;
  const { path } = capture;
  const known = await target.findCapture(path);
  const own = new Map((known?.states ?? []).map((state) => [nameOf(state), state]));
  if (known !== null && capture.states.every((state) => own.has(nameOf(state)))) return false;
  const theirs = new Map(capture.states.map((state) => [nameOf(state), state]));
  const states = [...new Map([...theirs, ...own]).values()].toSorted(inTime);
  const versions: { states: ExchangedState[]; pieces: MergedVersion['pieces'] }[] = [];
  for (const state of states) {
    const last = versions.at(-1);
    const before = last?.states.at(-1);
    const ownState = own.get(nameOf(state));
    const pieces: MergedVersion['pieces'] = () =>
      ownState === undefined ? source.pieces(path, state) : target.pieces(path, ownState);
    const isContinued =
      before !== undefined &&
      (isOneVersion(before, state, [own, theirs]) ?? (await continues(sides, { before, state, pieces })));
    if (last !== undefined && isContinued) {
      last.states.push(state);
      last.pieces = pieces;
    } else versions.push({ states: [{ ...state, change: changeOf(before, state) }], pieces });
  }
  const { format, readAt } = known === null || capture.readAt > known.readAt ? capture : known;
  const [ownLast, last] = [known?.states.at(-1), states.at(-1)];
  const isSameLast = ownLast !== undefined && last !== undefined && nameOf(ownLast) === nameOf(last);
  // The stamp of a file on another machine proves nothing here.
  const stamp = isSameLast ? (known?.stamp ?? null) : null;
  const sessions = [...new Set([...capture.sessions, ...(known?.sessions ?? [])])].toSorted();
  const isStored = await target.storeCapture({ path, format, sessions, readAt, stamp }, { known, versions });
  return isStored || mergeCapture(sides, capture); // another program has captured the file meanwhile
}

/** The same in every archive. */
function nameOf({ capturedAt, sizeBytes, sha256, change }: ExchangedState): string {
  return `${capturedAt.getTime()} ${sizeBytes} ${sha256} ${change === 'gone'}`;
}

function inTime(a: ExchangedState, b: ExchangedState): number {
  return a.capturedAt.getTime() - b.capturedAt.getTime() || a.sizeBytes - b.sizeBytes || (a.sha256 < b.sha256 ? -1 : 1);
}

type States = ReadonlyMap<string, ExchangedState>;

/** Whether an archive that has both states has them in one version; null: no archive has both. */
function isOneVersion(before: ExchangedState, state: ExchangedState, archives: readonly States[]): boolean | null {
  const answers = archives.flatMap((states) => {
    const [a, b] = [states.get(nameOf(before)), states.get(nameOf(state))];
    return a === undefined || b === undefined ? [] : [a.version === b.version];
  });
  return answers.length === 0 ? null : answers.includes(true);
}

/** Whether a state begins with the bytes of the one before. */
async function continues(
  { runtime }: Sides,
  { before, state, pieces }: Record<'before' | 'state', ExchangedState> & Pick<MergedVersion, 'pieces'>,
): Promise<boolean> {
  if (before.change === 'gone' || state.change === 'gone' || state.sizeBytes < before.sizeBytes) return false;
  const hash = runtime.createHash();
  let left = before.sizeBytes;
  for await (const page of pieces())
    for (const { bytes } of page) {
      if (left === 0) break;
      if (bytes === null) return false; // erased: nobody can tell
      hash.update(bytes.subarray(0, left));
      left -= Math.min(left, bytes.length);
    }
  return left === 0 && hash.digest() === before.sha256;
}

function changeOf(before: ExchangedState | undefined, state: ExchangedState): ExchangedState['change'] {
  if (state.change === 'gone') return 'gone';
  if (before === undefined) return 'new';
  if (before.change === 'gone') return 'returned';
  return state.sizeBytes < before.sizeBytes ? 'shortened' : 'rewritten';
}
