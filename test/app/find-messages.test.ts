import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { findBatches, findMessages } from '../../src/app/search/find-messages.ts';
import type { QueryTerm } from '../../src/core/search/question.ts';
import type { BatchQuery, MessageIndex, SearchFilter } from '../../src/ports/archive-lookup.ts';
import {
  applied as stored,
  batchDraft,
  compactionDraft,
  cycleDraft,
  lineDraft,
  messageDraft,
  tempArchive,
  type TestArchive,
  utf8,
} from '../adapters/archive/drafts.ts';
import { indexDrafts } from '../support/indexing.ts';
import { VECTOR_EXTENSION } from '../support/meaning-bench.ts';
import { createRandom } from '../support/random.ts';

type Said = { readonly text: string; readonly name?: string; readonly minute?: number };

const ANY: SearchFilter = { conversationId: null, role: null, since: null, until: null, source: null };
const NOISE = 'tide rope quay sail crew dock buoy oar'.split(' ');

async function applied(archive: TestArchive, ...[draft, lines]: Parameters<typeof archive.store>): Promise<void> {
  await stored(archive, draft, lines);
  await indexDrafts(archive, lines);
}

/** Says each of them; lines are equally long unless `bytesOf` says what stands in them. */
async function talk(
  t: TestContext,
  said: readonly (Said | string)[],
  bytesOf: (text: string) => string = () => 'x'.repeat(40),
): Promise<TestArchive> {
  const archive = tempArchive(t);
  const lines = said.map((one, at) => {
    const { text, name = null, minute = at } = typeof one === 'string' ? { text: one } : one;
    const message = messageDraft({ id: `m${at + 1}`, name, text, at: new Date(Date.UTC(2026, 0, 1, 0, minute)) });
    return lineDraft(at + 1, { bytes: utf8(`${at} ${bytesOf(text)}\n`), message });
  });
  await applied(archive, compactionDraft(said.length), lines);
  return archive;
}

function other(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${NOISE[at % 8] ?? ''} ${NOISE[(at * 3 + 1) % 8] ?? ''} ${at}`);
}

/** The places of what was found, from 1. */
async function find(
  archive: TestArchive,
  query: string,
  changes: Partial<Parameters<typeof findMessages>[1]> = {},
): Promise<readonly number[]> {
  const search = { query, filter: ANY, limit: 10, readTexts: async () => [], ...changes };
  return (await findMessages(archive.port.messages, search)).map(({ lineId }) => lineId);
}

type Ranking = readonly [
  what: string,
  said: readonly (Said | string)[],
  ...asked: (readonly [query: string, first: readonly number[]])[],
];
const RANKINGS: readonly Ranking[] = [
  [
    'a message that has more of the words, and rarer ones, comes first',
    ['the boat again', ...other(4), 'a boat with a keel', ...other(4), 'the boats too', ...other(4)],
    ['boat keel', [6]],
  ],
  [
    'what follows a question that has the words is an answer to it, and comes before it for a question, after it for keywords',
    [...other(6), 'Who painted the keel?', 'My brother, in May', ...other(6)],
    ['who was it that painted the keel', [8, 7]],
    ['painted keel', [7, 8]],
  ],
  [
    'a message near others that have the words is found, and each word counts once',
    [...other(5), 'the keel', 'it is green', ...other(5), 'keel', 'keel', 'keel'],
    ['green keel', [7]],
  ],
  [
    'what the one who is named said comes first',
    [{ text: 'I sold the boat', name: 'Ben' }, ...other(6), { text: 'I sold the boat', name: 'Ada' }, ...other(6)],
    ['What did Ada sell?', [8]],
    ['What did Ben sell?', [1]],
  ],
  [
    'a message that says when comes first where that is asked for',
    ['the mast broke', ...other(8), 'the mast broke yesterday', ...other(8)],
    ['when did the mast break', [10]],
  ],
  [
    'a question with a general word finds a message with a particular one, and keywords do not',
    [...other(20), 'a puppy came along', ...other(20)],
    ['Were there any pets on board?', [21]],
    ['pets', []],
  ],
  [
    'a message from the time that is named comes before others',
    ['the mast broke', ...other(5), { text: 'the mast broke', minute: 45 * 24 * 60 }, ...other(5)],
    ['How did the mast break in February 2026?', [7]],
    ['How did the mast break in January 2026?', [1]],
  ],
  [
    'a message with the kind of thing that the query asks for ranks first',
    ['the mast broke badly', ...other(30), 'the mast broke in Brest', ...other(30)],
    ['Where was it that the mast broke?', [32]],
    ['It was when that the mast broke?', [1]],
  ],
  [
    'a message that holds a path or a quotation as it is asked for comes before one that has its words',
    ['app src keel ts', ...other(8), 'src/app/keel.ts', ...other(8)],
    ['src/app/keel.ts', [10]],
    ['"app keel ts" src', [10]],
    ['src app keel ts', [1]],
  ],
];

for (const [what, said, ...asked] of RANKINGS)
  test(what, async (t) => {
    const archive = await talk(t, said);
    const texts = said.map((one) => (typeof one === 'string' ? one : one.text));
    const readTexts = async (ids: readonly number[]): Promise<readonly string[]> =>
      ids.map((id) => texts[id - 1] ?? '');
    for (const [query, first] of asked) {
      const found = await find(archive, query, { readTexts });
      assert.deepEqual(first.length === 0 ? found : found.slice(0, first.length), first, query);
    }
  });

test('one or two words find messages that have or answer them; more words also find their neighbors', async (t) => {
  const archive = await talk(t, [...other(6), 'the keel', 'it is green', ...other(6), 'a keel?', 'no', ...other(6)]);
  assert.deepEqual(
    (await find(archive, 'keel')).toSorted((a, b) => a - b),
    [7, 15, 16],
  );
  assert.ok((await find(archive, 'keel mast spar')).includes(8));
});

test('of equal messages the one comes first in whose session there is more of it', async (t) => {
  const hour = 600;
  const archive = await talk(t, [
    { text: 'mast', minute: 0 },
    ...other(8).map((text) => ({ text, minute: 1 })),
    { text: 'mast', minute: hour },
    ...other(8).map((text) => ({ text, minute: hour })),
    { text: 'mast, keel and spar', minute: hour + 1 },
  ]);
  const found = await find(archive, 'how were mast, keel and spar');
  assert.ok(found.indexOf(10) < found.indexOf(1), String(found));
});

test('words of the best messages bring up others that have them', async (t) => {
  const archive = await talk(t, [
    'mast spruce',
    ...other(8),
    'mast spruce',
    ...other(8),
    'mast',
    ...other(8),
    'mast varnish',
    ...other(8),
  ]);
  const texts = new Map([[36, 'mast varnish']]);
  const plain = await find(archive, 'what of the mast');
  const heard = await find(archive, 'what of the mast', {
    readTexts: async (ids) => ids.map((id) => texts.get(id) ?? 'mast varnish'),
  });
  assert.equal(plain[0], 1);
  assert.equal(heard[0], 28);
});

test('behind the ten best it counts more who said a message, and no score is above one before it', async (t) => {
  const said = Array.from({ length: 24 }, (_, at): readonly (Said | string)[] => [
    at % 2 === 0 ? { text: 'the old mast broke', name: 'Ada' } : { text: 'the old mast broke loose', name: 'Ben' },
    ...other(5),
  ]);
  const archive = await talk(t, said.flat());
  const search = {
    query: 'What of Ada and how the old mast broke loose?',
    filter: ANY,
    limit: 24,
    readTexts: async () => [],
  };
  const found = await findMessages(archive.port.messages, search);
  const names = found.map(({ lineId }) => (lineId % 12 === 1 ? 'Ada' : 'Ben'));
  assert.deepEqual(names, [...repeat('Ben', 10), ...repeat('Ada', 12), ...repeat('Ben', 2)]);
  found.slice(1).forEach(({ score }, at) => assert.ok(score <= (found[at]?.score ?? 0)));
});

function repeat(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, () => name);
}

const RECALL_AT = [5, 10, 25];

/** How many of the sought messages are among the first so many, for a list of queries. */
async function countFound(
  sought: readonly Sought[],
  search: (query: string) => readonly number[] | Promise<readonly number[]>,
): Promise<readonly number[]> {
  const ranks: number[] = [];
  for (const { query, lineId } of sought) ranks.push((await search(query)).indexOf(lineId));
  return RECALL_AT.map((count) => ranks.filter((rank) => rank >= 0 && rank < count).length);
}

type Sought = { readonly query: string; readonly lineId: number };

for (const wordCount of [1, 2, 3]) {
  test(`${wordCount} keywords of a message find it no worse than BM25 over any of them`, async (t) => {
    const next = createRandom(wordCount);
    const pick = (): number => Math.floor(next() ** 2 * 150); // few words are common, most are rare
    const said = Array.from({ length: 300 }, () => {
      const words = new Set(Array.from({ length: 4 + Math.floor(next() * 16) }, () => `word${pick()}`));
      return [...words].join(' ') + (next() < 0.3 ? '?' : '');
    });
    const sought = said.flatMap((text, at) => {
      const words = text.match(/\w+/g) ?? [];
      const query = words.slice(0, wordCount).join(' ');
      return at % 3 > 0 || words.length < wordCount ? [] : [{ query, lineId: at + 1 }];
    });
    const archive = await talk(t, said, (text) => text);
    const readTexts = async (ids: readonly number[]): Promise<readonly string[]> => ids.map((id) => said[id - 1] ?? '');
    const ours = await countFound(sought, (query) => find(archive, query, { limit: 25, readTexts }));
    const plain = await countFound(sought, createPlainSearch(t, said));
    ours.forEach((count, at) =>
      assert.ok(count >= (plain[at] ?? 0), `of the first ${RECALL_AT[at]}: ${count}, plain ${plain[at]}`),
    );
  });
}

/** FTS5 alone: the messages with any of the words, by BM25. */
function createPlainSearch(t: TestContext, said: readonly string[]): (query: string) => readonly number[] {
  const db = new Database(':memory:');
  t.after(() => db.close());
  db.exec("CREATE VIRTUAL TABLE said USING fts5 (text, tokenize = 'porter unicode61')");
  const insert = db.prepare('INSERT INTO said (text) VALUES (?)');
  for (const text of said) insert.run(text);
  const select = db
    .prepare<[string], number>('SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank LIMIT 25')
    .pluck();
  return (query) => select.all(query.split(' ').join(' OR '));
}

/** A meaning by which these are alike, the nearest first. */
function meaning(...alike: readonly (readonly [id: number, similarity: number])[]): {
  readonly meaning: NonNullable<Parameters<typeof findMessages>[1]['meaning']>;
} {
  const similarities = async (ids: readonly number[]): Promise<ReadonlyMap<number, number>> =>
    new Map(alike.filter(([id]) => ids.includes(id)));
  return { meaning: { nearest: async (limit) => alike.slice(0, limit).map(([id]) => id), similarities } };
}

test('how much alike a message is to the query is added to its words', async (t) => {
  const archive = await talk(t, ['mast', ...other(8), 'mast', ...other(8)]);
  assert.deepEqual((await find(archive, 'mast')).slice(0, 1), [1]);
  assert.deepEqual((await find(archive, 'mast', meaning([10, 0.71], [1, 0.7]))).slice(0, 2), [10, 1]);
  assert.deepEqual((await find(archive, 'mast', meaning([1, 0.71], [10, 0.7]))).slice(0, 2), [1, 10]);
});

test('a message that only means the same is found too, behind one that has the words as well', async (t) => {
  const archive = await talk(t, [...other(20), 'mast', ...other(20), 'spar', ...other(20)]);
  const found = await find(archive, 'mast', meaning([42, 0.8], [21, 0.7], [60, 0.1]));
  assert.equal(found[0], 21);
  assert.ok(found.includes(42));
  assert.ok(!(await find(archive, 'mast')).includes(42));
});

test('where nothing has any of the words, what means about the same is found, the nearest first', async (t) => {
  const archive = await talk(t, other(40));
  assert.deepEqual(await find(archive, 'mast'), []);
  assert.deepEqual(await find(archive, 'mast', meaning([3, 0.9], [30, 0.5], [17, 0.4])), [3, 30, 17]);
});

test('a filter holds for what means about the same as well', async (t) => {
  const archive = await talk(t, other(5));
  const filter = { ...ANY, role: 'tool' as const };
  assert.deepEqual(await find(archive, 'mast', { filter, ...meaning([3, 0.9], [4, 0.5]) }), []);
});

test('the same line of one conversation comes once', async (t) => {
  const archive = tempArchive(t);
  for (let copy = 0; copy < 3; copy += 1)
    await applied(archive, compactionDraft(1), [lineDraft(1, { message: messageDraft({ text: 'hull' }) })]);
  assert.equal((await find(archive, 'hull')).length, 1);
});

test('a filter does not use up what can be found', async (t) => {
  const archive = tempArchive(t);
  const lines = Array.from({ length: 900 }, (_, at) => {
    const message = messageDraft({ id: `m${at}`, role: at === 899 ? 'tool' : 'user', text: 'hull' });
    return lineDraft(at + 1, { bytes: utf8(`${at}\n`), message });
  });
  await applied(archive, compactionDraft(900), lines);
  assert.deepEqual(await find(archive, 'hull', { filter: { ...ANY, role: 'tool' } }), [900]);
});

test('a word that very many messages have is only looked for among those that have a rarer one', async (t) => {
  const archive = await talk(t, [...other(4), 'mast', ...other(4), 'mast and hull', ...other(4), 'hull']);
  const { messages } = archive.port;
  const isHull = ({ forms }: QueryTerm): boolean => forms.includes('hull');
  const listed: string[] = [];
  const index: MessageIndex = {
    ...messages,
    countHits: async (words, atMost) => {
      const counts = await messages.countHits(words, atMost);
      return words.map((word, at) => (isHull(word) ? 400_000 : (counts[at] ?? 0)));
    },
    listHits: (words, filter) => {
      listed.push(...words.flatMap(({ forms }) => forms.slice(0, 1)));
      return messages.listHits(words, filter);
    },
  };
  const search = { query: 'hull mast', filter: ANY, limit: 3, readTexts: async () => [] };
  assert.deepEqual(
    (await findMessages(index, search)).map(({ lineId }) => lineId),
    [10, 5],
  );
  assert.deepEqual(listed, ['mast']);
});

const ROPE: BatchQuery = { terms: ['rope'], filter: ANY, order: 'best', limit: 10 };

test('how much alike a batch is to the query is added to its words, and one that only means the same is found', async (t) => {
  const archive = tempArchive(t, VECTOR_EXTENSION);
  const texts = ['a rope', 'the rope of the boat', 'a hawser'];
  const newBatches = texts.map((content) => batchDraft({ content }));
  const live = texts.map((_, position) => ({ kind: 'new' as const, position }));
  await applied(archive, compactionDraft(1, { cycles: [cycleDraft({ newBatches, live })] }), [lineDraft(1)]);
  const vectors = [
    [-1, 0],
    [1, 0.1],
    [1, 0.2],
  ];
  await archive.vectors.keep(
    { provider: 'p', model: 'm', dimensions: 2 },
    vectors.map((vector, at) => ({ kind: 'batch', id: at + 1, vector: Float32Array.from(vector) })),
    { mayReplace: false },
  );
  const found = async (vector: Float32Array | null): Promise<readonly string[]> =>
    (await findBatches(archive.port, ROPE, vector)).map(({ content }) => content);
  assert.deepEqual(await found(null), ['a rope', 'the rope of the boat']);
  assert.deepEqual(await found(Float32Array.from([1, 0.1])), ['the rope of the boat', 'a rope', 'a hawser']);
});
