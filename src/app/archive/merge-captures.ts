import type {
  CapturedPiece,
  ExchangedCapture,
  ExchangedState,
  MergedVersion,
  UnitReader,
  UnitStore,
} from '../../ports/exchange.ts';
import type { Runtime } from '../../ports/runtime.ts';

type Sides = {
  readonly target: UnitStore;
  readonly source: UnitReader;
  readonly runtime: Pick<Runtime, 'createHash'>;
};

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
  const piecesOf = (state: ExchangedState): AsyncIterable<readonly CapturedPiece[]> => {
    const ownState = own.get(nameOf(state));
    const theirState = theirs.get(nameOf(state));
    if (ownState !== undefined) return target.pieces(path, ownState);
    return source.pieces(path, theirState ?? state);
  };
  const versions: { states: ExchangedState[]; pieces: MergedVersion['pieces'] }[] = [];
  for (const state of states) {
    const last = versions.at(-1);
    const before = last?.states.at(-1);
    const pieces = (): AsyncIterable<readonly CapturedPiece[]> => piecesOf(state);
    const isContinued =
      before !== undefined &&
      (await continues(sides, { before, state, pieces, isOneVersion: isOneVersion(before, state, [own, theirs]) }));
    if (last !== undefined && isContinued) {
      last.states.push(state);
      last.pieces = pieces;
    } else versions.push({ states: [{ ...state, change: changeOf(before, state) }], pieces });
  }
  const { format, readAtMs } = known === null || capture.readAtMs > known.readAtMs ? capture : known;
  const [ownLast, last] = [known?.states.at(-1), states.at(-1)];
  const isSameLast = ownLast !== undefined && last !== undefined && nameOf(ownLast) === nameOf(last);
  // The stamp of a file on another machine proves nothing here.
  const stamp = isSameLast ? (known?.stamp ?? null) : null;
  const sessions = [...new Set([...capture.sessions, ...(known?.sessions ?? [])])].toSorted();
  const isStored = await target.storeCapture({ path, format, sessions, readAtMs, stamp }, { known, versions });
  return isStored || mergeCapture(sides, capture); // another program has captured the file meanwhile
}

/** The same in every archive. */
function nameOf({ capturedAtMs, sizeBytes, sha256, change }: ExchangedState): string {
  return `${capturedAtMs} ${sizeBytes} ${sha256} ${change === 'gone'}`;
}

function inTime(a: ExchangedState, b: ExchangedState): number {
  return a.capturedAtMs - b.capturedAtMs || a.sizeBytes - b.sizeBytes || (a.sha256 < b.sha256 ? -1 : 1);
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
  {
    before,
    state,
    pieces,
    isOneVersion: known,
  }: {
    readonly before: ExchangedState;
    readonly state: ExchangedState;
    readonly pieces: MergedVersion['pieces'];
    readonly isOneVersion: boolean | null;
  },
): Promise<boolean> {
  if (known !== null) return known;
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
