import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Arbitrary, array, boolean, constant, nat, oneof, record } from 'fast-check';
import { createNodeRuntime } from '../../../src/adapters/runtime/node.ts';
import { formatRegistry } from '../../../src/adapters/transcript/detect.ts';
import { ok } from '../../../src/core/result.ts';
import type { Archive, LineDraft } from '../../../src/ports/archive.ts';
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
import { fileTarget } from '../../support/merging.ts';
import { erase as eraseAny } from '../../support/retention.ts';
import { applied } from './engine.ts';
import { runMark } from '../../support/run-mark.ts';

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
export type Event = typeof event extends Arbitrary<infer T> ? T : never;
export const history = array(event, { maxLength: 4 });

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
    run: runMark(`run ${number}`, at),
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
  await writer.commit({ sizeBytes: whole.length, sha256: sha256(whole), capturedAt, stamp: null, sessions: [] });
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

async function erase(archive: Archive, selector: Parameters<typeof eraseAny>[1], now: Date): Promise<void> {
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
  await eraseAny({ deps }, selector, { despiteHold: true });
}

/** Archives in files: what happened to both of them before they parted, and then to each. */
export async function partedArchives(
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
