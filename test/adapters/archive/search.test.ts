import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import * as fc from 'fast-check';
import { readSearchTerms } from '../../../src/core/search-terms.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import type { ArchiveQuery } from '../../../src/ports/archive-lookup.ts';
import { oddTexts } from '../../support/messages.ts';
import {
  applied,
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  openAt,
  sha256,
  tempArchive,
  thrownFailure,
  utf8,
} from './drafts.ts';

function query(text: string, changes: Partial<ArchiveQuery> = {}): ArchiveQuery {
  return { terms: readSearchTerms(text), conversationId: null, order: 'best', limit: 10, ...changes };
}

/** Says each text, one a line, in one conversation. */
function said(archive: Archive, texts: readonly string[], conversationId = 'harbor'): number {
  return applied(
    archive,
    compactionDraft(texts.length, {
      cycles: [cycleDraft({ conversationId, newBatches: [batchDraft({ content: 'x' })] })],
    }),
    texts.map((text, at) =>
      lineDraft(at + 1, {
        bytes: utf8(`${text}\n`),
        message: messageDraft({ id: `${conversationId}-${at + 1}`, index: at + 1, text }),
      }),
    ),
  );
}

function idsOf(archive: Archive, text: string, changes: Partial<ArchiveQuery> = {}): readonly string[] {
  return archive.searchMessages(query(text, changes)).map(({ message }) => message.id);
}

test('a message that has more of the words, and rarer ones, comes first', (t) => {
  const archive = tempArchive(t);
  const others = Array.from({ length: 12 }, (_, at) => `tide ${at}`);
  said(archive, ['the boat again', 'a boat with a keel', 'the boats too', 'a painted keel alone', ...others]);
  assert.deepEqual(idsOf(archive, 'boat keel'), ['harbor-2', 'harbor-4', 'harbor-1', 'harbor-3']);
});

test('a message is found with all that is known of it', (t) => {
  const archive = tempArchive(t);
  const at = new Date('2026-03-01T08:00:00.123Z');
  const message = messageDraft({ id: 'x\ud800', role: 'tool', name: 'grep', at, index: 7, text: 'hull' });
  applied(archive, compactionDraft(1), [lineDraft(1, { bytes: utf8('hull\n'), message })]);
  const [found] = archive.searchMessages(query('hull'));
  assert.ok(found !== undefined && (found.score ?? 0) > 0);
  assert.deepEqual(found, {
    compactionId: 1,
    format: 'chat',
    sourcePath: '/logs/harbor.jsonl',
    archivedAt: new Date('2026-03-02T12:00:00.000Z'),
    lineId: 1,
    line: 1,
    sizeBytes: 5,
    sha256: sha256('hull\n'),
    fate: 'summarized',
    conversationId: 'harbor',
    batchLabel: 'compaction-batch-harbor-2026-03-01T09:30:00.000Z',
    message: { id: 'x\ud800', role: 'tool', name: 'grep', at, index: 7 },
    score: found.score,
  });
});

test('only what was applied is found', (t) => {
  const archive = tempArchive(t);
  archive.store(compactionDraft(1), [lineDraft(1, { message: messageDraft({ text: 'hull' }) })]);
  assert.deepEqual([archive.searchMessages(query('hull')), archive.searchBatches(query('boat'))], [[], []]);
  archive.markApplied(1);
  assert.deepEqual([archive.searchMessages(query('hull')).length, archive.searchBatches(query('boat')).length], [1, 1]);
});

test('a line that was archived twice for one conversation is one hit, and for two it is two', (t) => {
  const archive = tempArchive(t);
  said(archive, ['the hull']);
  said(archive, ['the hull']);
  assert.deepEqual(idsOf(archive, 'hull'), ['harbor-1']);
  said(archive, ['the hull'], 'river');
  assert.deepEqual(idsOf(archive, 'hull'), ['harbor-1', 'river-1']);
});

test('repeated lines do not use up the limit', (t) => {
  const archive = tempArchive(t);
  for (let copy = 0; copy < 5; copy += 1) said(archive, ['hull']);
  said(archive, ['a hull with a mast']);
  assert.equal(idsOf(archive, 'hull', { limit: 2 }).length, 2);
});

test('what was archived last comes first on demand, without a score', (t) => {
  const archive = tempArchive(t);
  said(archive, ['hull hull', 'hull', 'mast']);
  said(archive, ['some other hull'], 'river');
  const found = archive.searchMessages(query('hull', { order: 'newest' }));
  assert.deepEqual(
    found.map(({ message, score }) => [message.id, score]),
    [
      ['river-1', null],
      ['harbor-2', null],
      ['harbor-1', null],
    ],
  );
});

test('a search can be held to one conversation, in both orders', (t) => {
  const archive = tempArchive(t);
  said(archive, ['hull'], 'river');
  said(archive, ['a hull', 'mast']);
  said(archive, ['the hull'], 'river');
  said(archive, ['some hull', 'hull, hull']);
  for (const order of ['best', 'newest'] as const) {
    assert.deepEqual(idsOf(archive, 'hull', { conversationId: 'harbor', order }).toSorted(), [
      'harbor-1',
      'harbor-1',
      'harbor-2',
    ]);
  }
  assert.deepEqual(idsOf(archive, 'hull', { conversationId: 'sea' }), []);
});

test('batches that a later cycle merged are replaced by what they were merged into', (t) => {
  const archive = tempArchive(t);
  const newBatches = [batchDraft({ content: 'the keel held' }), batchDraft({ content: 'the mast broke' })];
  applied(
    archive,
    compactionDraft(1, {
      cycles: [
        cycleDraft({
          newBatches,
          live: [
            { kind: 'new', position: 0 },
            { kind: 'new', position: 1 },
          ],
        }),
      ],
    }),
    [lineDraft(1)],
  );
  const merged = batchDraft({
    content: 'keel and mast',
    depth: 1,
    sources: [
      { kind: 'stored', id: 1 },
      { kind: 'stored', id: 2 },
    ],
  });
  const second = cycleDraft({
    cycle: 2,
    parentCycleId: 1,
    clipSha256: sha256('second'),
    newBatches: [merged],
    live: [{ kind: 'new', position: 0 }],
  });
  const id = archive.store(compactionDraft(1, { cycles: [second] }), [lineDraft(1)]);
  const found = (): readonly string[] =>
    archive
      .searchBatches(query('keel mast'))
      .map(({ content }) => content)
      .toSorted();
  assert.deepEqual(found(), ['the keel held', 'the mast broke']);
  archive.markApplied(id);
  assert.deepEqual(found(), ['keel and mast']);
});

test('a fork that still shows a merged batch keeps it to be found, in its own conversation too', (t) => {
  const archive = tempArchive(t);
  applied(
    archive,
    compactionDraft(1, { cycles: [cycleDraft({ newBatches: [batchDraft({ content: 'the keel held' })] })] }),
    [lineDraft(1)],
  );
  const merged = batchDraft({ content: 'all of it', depth: 1, sources: [{ kind: 'stored', id: 1 }] });
  const next = (changes: object): ReturnType<typeof cycleDraft> =>
    cycleDraft({ cycle: 2, parentCycleId: 1, ...changes });
  const main = next({ clipSha256: sha256('main'), newBatches: [merged] });
  const fork = next({
    clipSha256: sha256('fork'),
    conversationId: 'fork',
    newBatches: [],
    live: [{ kind: 'stored', id: 1 }],
  });
  applied(archive, compactionDraft(1, { cycles: [main] }), [lineDraft(1)]);
  assert.deepEqual(archive.searchBatches(query('keel')), []);
  applied(archive, compactionDraft(1, { cycles: [fork] }), [lineDraft(1, { batch: null, fate: 'marked' })]);
  for (const conversationId of [null, 'harbor', 'fork']) {
    const found = archive.searchBatches(query('keel', { conversationId }));
    assert.deepEqual(
      found.map(({ content, isLive }) => [content, isLive]),
      [['the keel held', true]],
    );
  }
});

test('a line that a clip-archive kept word for word bears the label of the batch that took it up later', (t) => {
  const archive = tempArchive(t);
  const message = messageDraft({ text: 'hull' });
  applied(archive, compactionDraft(1), [lineDraft(1, { fate: 'survived', batch: null, message })]);
  assert.equal(archive.searchMessages(query('hull'))[0]?.batchLabel, null);
  const later = batchDraft({ endTime: new Date('2026-03-05T00:00:00.000Z') });
  const cycles = [cycleDraft({ cycle: 2, parentCycleId: 1, clipSha256: sha256('second'), newBatches: [later] })];
  applied(archive, compactionDraft(0, { cycles, carried: [{ lineId: 1, cycle: 0, batch: 0 }] }), []);
  assert.equal(
    archive.searchMessages(query('hull'))[0]?.batchLabel,
    'compaction-batch-harbor-2026-03-05T00:00:00.000Z',
  );
});

test('what another process has stored meanwhile is found', (t) => {
  const archive = tempArchive(t);
  assert.deepEqual(idsOf(archive, 'hull'), []);
  const other = openAt(archive.path);
  said(other, ['hull']);
  other.close();
  assert.deepEqual(idsOf(archive, 'hull'), ['harbor-1']);
});

test('any terms at all are legal', (t) => {
  const archive = tempArchive(t);
  said(archive, ['hull "mast" NEAR keel\0']);
  const odd = fc.oneof(
    oddTexts,
    fc.constantFrom('"', '""', 'NEAR(a b)', 'a AND', '*', '^x', 'text:x', '\0', '\ud800', '\u0301', '𞤀'),
  );
  fc.assert(
    fc.property(fc.array(odd, { minLength: 1, maxLength: 5 }), (terms) => {
      archive.searchMessages({ ...query(''), terms });
      archive.searchBatches({ ...query(''), terms, conversationId: terms[0] ?? '', order: 'newest' });
    }),
  );
  assert.deepEqual(idsOf(archive, '"mast" NEAR ('), ['harbor-1']);
  assert.deepEqual(archive.searchMessages({ ...query(''), terms: [] }), []);
});

test('an index that leads to a line that is no message is damage', (t) => {
  const archive = tempArchive(t);
  said(archive, ['hull']);
  const db = new Database(archive.path);
  db.prepare('UPDATE lines SET role = NULL').run();
  db.close();
  assert.equal(thrownFailure(() => idsOf(archive, 'hull')).kind, 'damaged');
});
