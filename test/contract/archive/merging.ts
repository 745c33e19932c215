import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { assert as assertProperty, asyncProperty, record } from 'fast-check';
import { ok } from '../../../src/core/result.ts';
import type { ArchiveExchange } from '../../../src/ports/exchange.ts';
import { folderWith } from '../../support/folders.ts';
import { contentsOf, fileTarget, merge, type MergeTarget, tryMerge } from '../../support/merging.ts';
import type { Engine } from './engine.ts';
import { history, partedArchives, type Event } from './merge-histories.ts';

/** The archive that the engine has, as a target; opened empty. */
async function emptyTarget(t: TestContext, engine: MergingEngine): Promise<MergeTarget> {
  const archive = await engine.open(t);
  return { place: archive.path, exchange: engine.exchange, open: () => engine.openAgain(t, archive) };
}

const captureOf = (file: number, words: number[]): Event => ({ kind: 'capture', file, grows: false, words });
const returning: readonly {
  readonly name: string;
  readonly one: readonly Event[];
  readonly other: readonly Event[];
}[] = [
  {
    name: 'a captured line that was compacted and erased',
    one: [
      { kind: 'compact', conversation: 0, words: [1, 2] },
      { kind: 'erase word', word: 1 },
    ],
    other: [captureOf(0, [1, 3])],
  },
  {
    name: 'a compacted line that was captured and erased',
    one: [captureOf(0, [1, 2]), { kind: 'erase word', word: 1 }],
    other: [{ kind: 'compact', conversation: 0, words: [1, 3] }],
  },
  {
    name: 'an erased captured file that was captured again',
    one: [captureOf(0, [1, 2]), { kind: 'erase file', file: 0 }, captureOf(0, [1, 3])],
    other: [captureOf(0, [1, 2, 0])],
  },
];

export type MergingEngine = Engine & { readonly exchange: ArchiveExchange };

/** What is merged is read and written with statements of each engine's own. */
export function orderContract(engine: MergingEngine): void {
  test('merging is refused or commutative, and merging again changes nothing', async (t) => {
    await assertProperty(
      asyncProperty(record({ shared: history, one: history, other: history }), async (histories) => {
        const [one, other] = await partedArchives(t, histories);
        const target = await emptyTarget(t, engine);
        const reversed = await emptyTarget(t, engine);
        await merge(reversed, [other]);
        if (!(await tryMerge(target, [one, other])).ok) {
          assert.ok(!(await tryMerge(target, [other, one])).ok);
          assert.ok(!(await tryMerge(reversed, [one])).ok);
          return;
        }
        const merged = await contentsOf(target);
        assert.equal((await merge(target, [other, one])).result, 'unchanged');
        assert.deepEqual(await contentsOf(target), merged);
        const moved = fileTarget(`${folderWith(t, {})}/moved.db`);
        await merge({ ...moved, exchange: engine.exchange }, [target.place]);
        assert.deepEqual(await contentsOf(moved), merged);
        await merge(reversed, [one]);
        // Stored answers of an archive are left out if the target has an erasure that it does not know.
        const hasErased = Object.values(histories).some((events) =>
          events.some(({ kind }) => kind.startsWith('erase')),
        );
        const comparable = hasErased ? { summaries: null } : {};
        assert.deepEqual({ ...(await contentsOf(reversed)), ...comparable }, { ...merged, ...comparable });
      }),
      { numRuns: Math.ceil(engine.propertyRuns / 4) },
    );
  });
}

export function mergeContract(engine: MergingEngine): void {
  orderContract(engine);

  test('a merge that fails at any step is finished by the next one', async (t) => {
    const happened: readonly Event[] = [
      { kind: 'compact', conversation: 0, words: [0, 1] },
      { kind: 'compact', conversation: 0, words: [2] },
      { kind: 'capture', file: 0, grows: false, words: [1, 2] },
      { kind: 'summary', request: 0 },
      { kind: 'hold', value: 0 },
      { kind: 'vectors' },
    ];
    const [one, other] = await partedArchives(t, {
      shared: happened,
      one: [{ kind: 'compact', conversation: 2, words: [0] }],
      other: [{ kind: 'compact', conversation: 1, words: [1, 3] }],
    });
    const whole = await emptyTarget(t, engine);
    await merge(whole, [other, one]);
    const expected = await contentsOf(whole);
    const target = await emptyTarget(t, engine);
    // Each failing merge gets further than the one before.
    for (let step = 1; ; step += engine.propertyRuns < 10 ? 4 : 1) {
      const failing = failAfter(target.exchange, step);
      const done = await tryMerge({ ...target, exchange: failing.exchange }, [other, one]).catch(() => null);
      if (done?.ok === true && !failing.hasFailed()) break;
      assert.ok(step < 200);
    }
    assert.deepEqual(await contentsOf(target), expected);
  });

  for (const method of ['storeReceipts', 'storeUnits'] as const)
    test(`what is erased in one archive does not come back if two are merged at once (${method})`, async (t) => {
      const [one, other] = await partedArchives(t, {
        shared: [{ kind: 'compact', conversation: 0, words: [0, 1] }],
        one: [],
        other: [{ kind: 'erase word', word: 1 }],
      });
      const target = await emptyTarget(t, engine);
      const expected = fileTarget(`${folderWith(t, {})}/expected.db`);
      await merge(expected, [other]);
      const exchange = before(target.exchange, method, async () => void (await merge(target, [other])));
      const merged = await tryMerge({ ...target, exchange }, [one]);
      assert.ok(!merged.ok && merged.error.kind === 'archive', JSON.stringify(merged));
      assert.equal(merged.error.failure.kind, method === 'storeUnits' ? 'busy' : 'unsupported');
      assert.deepEqual(await contentsOf(target), await contentsOf(expected));
      assert.ok(!(await tryMerge(target, [one])).ok);
    });

  for (const { name, one, other } of returning)
    test(`no merge brings back ${name}`, async (t) => {
      const [first, last] = await partedArchives(t, { shared: [], one, other });
      for (const others of [
        [first, last],
        [last, first],
      ]) {
        const target = await emptyTarget(t, engine);
        assert.ok(!(await tryMerge(target, others)).ok);
        await merge(target, others.slice(0, 1));
        const before = await contentsOf(target);
        assert.ok(!(await tryMerge(target, others.slice(1))).ok);
        assert.deepEqual(await contentsOf(target), before);
      }
    });

  test('an erased captured file takes no other file of the same content with it', async (t) => {
    const [one] = await partedArchives(t, {
      shared: [captureOf(0, [1, 2]), captureOf(1, [1, 2]), { kind: 'erase file', file: 1 }],
      one: [],
      other: [],
    });
    const target = await emptyTarget(t, engine);
    const { merged } = await merge(target, [one]);
    assert.deepEqual(merged[0]?.captured, { new: 1, known: 0, refused: 0 });
    assert.equal((await merge(target, [one])).result, 'unchanged');
  });

  test('an unfinished merge stops that of an archive which does not know its erasures', async (t) => {
    const [one, other] = await partedArchives(t, {
      shared: [{ kind: 'compact', conversation: 0, words: [0, 1] }, captureOf(0, [1, 2])],
      one: [],
      other: [{ kind: 'erase word', word: 1 }],
    });
    const target = await emptyTarget(t, engine);
    const breaking = before(target.exchange, 'storeUnits', async () => {
      assert.ok(!(await tryMerge(target, [one])).ok);
      throw new Error('it broke');
    });
    await tryMerge({ ...target, exchange: breaking }, [other]).catch(() => null);
    const refused = await tryMerge(target, [one]);
    assert.ok(!refused.ok);
    assert.match(JSON.stringify(refused.error), /another merge into this archive/);
    await merge(target, [other]);
    const expected = fileTarget(`${folderWith(t, {})}/expected.db`);
    await merge(expected, [other]);
    assert.deepEqual(await contentsOf(target), await contentsOf(expected));
    assert.match(JSON.stringify(await tryMerge(target, [one])), /has erased what this archive has/);
  });

  test('a file that is captured while it is merged has all states', async (t) => {
    const [one, other] = await partedArchives(t, {
      shared: [{ kind: 'capture', file: 0, grows: false, words: [0] }],
      one: [{ kind: 'capture', file: 0, grows: true, words: [1] }],
      other: [{ kind: 'capture', file: 0, grows: false, words: [2] }],
    });
    const target = await emptyTarget(t, engine);
    const exchange = before(target.exchange, 'storeCapture', async () => void (await merge(target, [other])));
    await merge({ ...target, exchange }, [one]);
    const expected = fileTarget(`${folderWith(t, {})}/expected.db`);
    await merge(expected, [one, other]);
    assert.deepEqual(await contentsOf(target), await contentsOf(expected));
  });
}

/** An exchange in whose target something happens before the first call of a method. */
function before(
  exchange: ArchiveExchange,
  method: 'storeReceipts' | 'storeUnits' | 'storeCapture',
  happen: () => Promise<void>,
): ArchiveExchange {
  const state = { hasHappened: false };
  const first = async (): Promise<void> => {
    if (state.hasHappened) return;
    state.hasHappened = true;
    await happen();
  };
  return {
    ...exchange,
    openTarget: async (place) => {
      const opened = await exchange.openTarget(place);
      if (!opened.ok) return opened;
      const { store } = opened.value;
      const call = store[method] as (...args: readonly unknown[]) => Promise<unknown>;
      const late = async (...args: readonly unknown[]): Promise<unknown> => {
        await first();
        return call(...args);
      };
      return ok({ ...opened.value, store: { ...store, [method]: late } });
    },
  };
}

/** An exchange whose target breaks at a step: a method of the store, or a page of lines in the middle of one. */
function failAfter(
  exchange: ArchiveExchange,
  step: number,
): { readonly exchange: ArchiveExchange; readonly hasFailed: () => boolean } {
  const state = { steps: 0 };
  const count = (): void => {
    state.steps += 1;
    if (state.steps === step) throw new Error('it broke');
  };
  async function* counted<T>(pages: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const page of pages) {
      yield page;
      count();
    }
  }
  return {
    hasFailed: () => state.steps >= step,
    exchange: {
      ...exchange,
      openTarget: async (place) => {
        const opened = await exchange.openTarget(place);
        if (!opened.ok) return opened;
        const { store } = opened.value;
        const storeUnits: typeof store.storeUnits = async (units) => {
          const stored = await store.storeUnits(
            units.map(({ unit, lines }) => ({ unit, lines: () => counted(lines()) })),
          );
          count();
          return stored;
        };
        const storeCapture: typeof store.storeCapture = async (found, { known, versions }) => {
          const pieces = versions.map((version) => ({ ...version, pieces: () => counted(version.pieces()) }));
          const stored = await store.storeCapture(found, { known, versions: pieces });
          count();
          return stored;
        };
        const storeHolds: typeof store.storeHolds = async (holds) => {
          count();
          return store.storeHolds(holds);
        };
        const storeVectors: typeof store.storeVectors = async (model, vectors) => {
          count();
          return store.storeVectors(model, vectors);
        };
        return ok({ ...opened.value, store: { ...store, storeUnits, storeCapture, storeHolds, storeVectors } });
      },
    },
  };
}
