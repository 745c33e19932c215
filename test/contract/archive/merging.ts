import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  type Arbitrary,
  array,
  assert as assertProperty,
  asyncProperty,
  boolean,
  constant,
  nat,
  oneof,
  record,
} from 'fast-check';
import { createNodeRuntime } from '../../../src/adapters/runtime/node.ts';
import { formatRegistry } from '../../../src/adapters/transcript/detect.ts';
import { eraseArchived } from '../../../src/app/archive/erase-archived.ts';
import { ok } from '../../../src/core/result.ts';
import type { Archive, LineDraft } from '../../../src/ports/archive.ts';
import type { ArchiveExchange } from '../../../src/ports/exchange.ts';
import {
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  sha256,
  utf8,
} from '../../adapters/archive/drafts.ts';
import { createQuickStore } from '../../support/files.ts';
import { folderWith } from '../../support/folders.ts';
import { contentsOf, fileTarget, merge, type MergeTarget, tryMerge } from '../../support/merging.ts';
import { applied, type Engine } from './engine.ts';

/** Something that happens to an archive. Words and files are few, so archives have much in common. */
const event = oneof(
  {
    weight: 4,
    arbitrary: record({
      kind: constant('compact' as const),
      conversation: nat(2),
      words: array(nat(3), { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: record({
      kind: constant('capture' as const),
      file: nat(1),
      grows: boolean(),
      words: array(nat(3), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: record({ kind: constant('hold' as const), value: nat(1) }) },
  { weight: 1, arbitrary: record({ kind: constant('summary' as const), request: nat(1) }) },
  { weight: 1, arbitrary: record({ kind: constant('vectors' as const) }) },
  { weight: 1, arbitrary: record({ kind: constant('erase word' as const), word: nat(3) }) },
  { weight: 1, arbitrary: record({ kind: constant('erase conversation' as const), conversation: nat(2) }) },
  { weight: 1, arbitrary: record({ kind: constant('erase file' as const), file: nat(1) }) },
);
type Event = typeof event extends Arbitrary<infer T> ? T : never;
const history = array(event, { maxLength: 4 });

const START_MS = Date.parse('2026-03-02T12:00:00.000Z');
const wordLine = (word: number): Uint8Array =>
  utf8(`${JSON.stringify({ role: 'user', content: `about word${word}x` })}\n`);

/** Lets events happen to an archive. Those with the same number and the same archive before them give the same. */
async function live(archive: Archive, events: readonly Event[], first: number): Promise<void> {
  for (const [at, one] of events.entries()) await happen(archive, one, first + at);
}

async function happen(archive: Archive, one: Event, number: number): Promise<void> {
  const at = new Date(START_MS + number * 1000);
  switch (one.kind) {
    case 'compact':
      return compact(archive, one, { number, at });
    case 'capture':
      return capture(archive, one, at);
    case 'hold':
      return archive.retention.addHold({
        kind: 'source',
        value: `held-${one.value}`,
        reason: `${number}`,
        addedAt: at,
      });
    case 'summary': {
      const usage = { input_tokens: number, output_tokens: 1 };
      const summary = { provider: 'p', model: 'm', text: `paid ${number}`, usage, createdAt: at };
      return archive.summaries.keep(sha256(`request ${one.request}`), summary);
    }
    case 'vectors': {
      const model = { provider: 'ollama', model: 'tiny', dimensions: 8 };
      const missing = await archive.vectors.listMissing(
        { sourceSha256: null, isRemade: false },
        { after: { lineId: 0, batchId: 0 }, limit: 1000 },
      );
      const drafts = missing.map((found) => {
        const vector = Float32Array.from({ length: 8 }, (_, place) => (found.kind === 'batch' ? place - 3 : 3 - place));
        return { kind: found.kind, id: found.kind === 'batch' ? found.batchId : found.lineId, vector };
      });
      if (drafts.length > 0) await archive.vectors.keep(model, drafts, { mayReplace: false });
      return;
    }
    case 'erase word':
      return erase(archive, { kind: 'match', text: `word${one.word}x` }, at);
    case 'erase file':
      return erase(archive, { kind: 'source', glob: `/logs/captured-${one.file}.jsonl` }, at);
    default:
      return erase(archive, { kind: 'conversation', id: `conversation-${one.conversation}` }, at);
  }
}

type Moment = { readonly number: number; readonly at: Date };

async function compact(
  archive: Archive,
  { conversation, words }: Extract<Event, { kind: 'compact' }>,
  { number, at }: Moment,
): Promise<void> {
  const conversationId = `conversation-${conversation}`;
  const clip = `{"clip":"[Context Summary ${number}]"}`;
  const parent = await latestCycle(archive, conversationId);
  const old = parent === null ? [] : parent.live.map(({ id }) => ({ kind: 'stored' as const, id }));
  const cycle = cycleDraft({
    conversationId,
    cycle: (parent?.cycle ?? 0) + 1,
    parentCycleId: parent?.id ?? null,
    clipSha256: sha256(clip),
    messagesCompressed: (parent?.messagesCompressed ?? 0) + words.length,
    newBatches: [batchDraft({ content: `Summary ${number} of ${words.join()}`, messageCount: words.length })],
    live: [...old, { kind: 'new', position: 0 }],
  });
  const lines = words.map((word, index): LineDraft => {
    const message = messageDraft({ id: `line:${index + 1}`, text: `about word${word}x` });
    return lineDraft(index + 1, { bytes: wordLine(word), message });
  });
  const bytes = Buffer.concat(words.map(wordLine));
  const draft = compactionDraft(words.length, {
    source: { sha256: sha256(bytes), sizeBytes: bytes.length, lineCount: words.length, hasBom: false },
    output: { sha256: sha256(`${clip}\n`), sizeBytes: clip.length + 1 },
    sourcePath: `/logs/${conversationId}.jsonl`,
    run: { token: `run ${number}`, begunAt: at },
    createdAt: at,
    cycles: [cycle],
    inserted: [{ beforeLine: words.length + 1, bytes: utf8(`${clip}\n`) }],
  });
  await applied(archive, draft, lines);
}

async function latestCycle(archive: Archive, conversationId: string) {
  for (const { compactionId } of await archive.listCompactions()) {
    const cycle = (await archive.loadCompaction(compactionId))?.cycles.find(
      (one) => one.conversationId === conversationId,
    );
    if (cycle !== undefined && !cycle.isErased) return cycle;
  }
  return null;
}

async function capture(
  archive: Archive,
  { file, grows, words }: Extract<Event, { kind: 'capture' }>,
  capturedAt: Date,
): Promise<void> {
  const path = `/logs/captured-${file}.jsonl`;
  const known = await archive.captures.find(path);
  const isErased = known !== null && (await bytesOf(archive, known.last.id)) === null;
  const isGrown = grows && known !== null && !isErased;
  const before = isGrown ? ((await bytesOf(archive, known.last.id)) ?? new Uint8Array()) : new Uint8Array();
  const pieces = words.map(wordLine);
  const whole = Buffer.concat([before, ...pieces]);
  const lastStateId = known?.last.id ?? null;
  const change = isGrown
    ? 'grown'
    : known === null
      ? 'new'
      : whole.length < known.last.sizeBytes
        ? 'shortened'
        : 'rewritten';
  const writer = await archive.captures.begin({ path, format: 'chat', lastStateId, change });
  assert.ok(writer !== null);
  await writer.append(pieces);
  await writer.commit({ sizeBytes: whole.length, sha256: sha256(whole), capturedAt, stamp: null });
}

/** Null: some of them were erased. */
async function bytesOf(archive: Archive, stateId: number): Promise<Uint8Array | null> {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of archive.captures.read(stateId)) pieces.push(Uint8Array.from(piece));
  } catch {
    return null;
  }
  return Buffer.concat(pieces);
}

async function erase(
  archive: Archive,
  selector: Parameters<typeof eraseArchived>[1]['selector'],
  now: Date,
): Promise<void> {
  const deps = {
    files: createQuickStore(),
    formats: formatRegistry,
    runtime: { ...createNodeRuntime(), now: () => now },
    progress: { update: () => undefined, finish: () => undefined },
    signal: new AbortController().signal,
    openArchive: async () => ok(archive),
    archivePath: archive.path,
    erasures: { hasFailed: false },
    reached: () => undefined,
  };
  const erased = await eraseArchived(deps, { selector, reason: null, isConfirmed: true, despiteHold: true });
  assert.ok(erased.ok, JSON.stringify(erased));
}

/** Archives in files: what happened to both of them before they parted, and then to each. */
async function partedArchives(
  t: TestContext,
  histories: { readonly shared: readonly Event[]; readonly one: readonly Event[]; readonly other: readonly Event[] },
): Promise<readonly [string, string]> {
  const folder = folderWith(t, {});
  const fill = async (name: string, own: readonly Event[], first: number): Promise<string> => {
    const target = fileTarget(`${folder}/${name}.db`);
    const archive = await target.open();
    await live(archive, histories.shared, 0);
    await live(archive, own, first);
    await archive.close();
    return target.place;
  };
  return [await fill('one', histories.one, 100), await fill('other', histories.other, 200)];
}

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

export function mergeContract(engine: MergingEngine): void {
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

  for (const method of ['storeReceipts', 'storeUnit'] as const)
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
      assert.equal(merged.error.failure.kind, method === 'storeUnit' ? 'busy' : 'unsupported');
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
    const breaking = before(target.exchange, 'storeUnit', async () => {
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
  method: 'storeReceipts' | 'storeUnit' | 'storeCapture',
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
        const storeUnit: typeof store.storeUnit = async (unit, lines) => {
          const stored = await store.storeUnit(unit, counted(lines));
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
        return ok({ ...opened.value, store: { ...store, storeUnit, storeCapture, storeHolds, storeVectors } });
      },
    },
  };
}
