import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { vector } from '@electric-sql/pglite-pgvector';
import * as fc from 'fast-check';
import { cosine, vectorBytes } from '../../../src/adapters/archive/vectors/vector-store.ts';
import { openOn } from '../../../src/adapters/archive/postgres/open.ts';
import type { Archive } from '../../../src/ports/archive.ts';
import type { VectorDraft } from '../../../src/ports/archive-lookup.ts';
import { chatLine, chatTranscript } from '../../support/chat.ts';
import { reportOf } from '../../support/workbench.ts';
import { compactionDraft, lineDraft, messageDraft } from '../../adapters/archive/drafts.ts';
import { vectorContract } from './comparing.ts';
import { EMPTY_ARCHIVE } from './empty.ts';
import { applied, benchOn, type Engine } from './engine.ts';
import { startPglite, withoutLog } from './pglite.ts';
import { erase } from '../../support/retention.ts';

// The archive's contract about vectors where the server has pgvector.

const { database, driver } = await startPglite({ vector });
after(() => database.close());
await database.exec('CREATE EXTENSION vector SCHEMA public');
const place = { path: 'postgres://nobody@localhost/test', host: 'localhost', user: 'nobody', database: 'test' };
const options = { create: true, notice: () => undefined, wait: async () => undefined, place, schema: 'compact' };

async function openArchive(): Promise<Archive> {
  const opened = await openOn(driver, options);
  assert.ok(opened.ok && opened.value !== null, JSON.stringify(opened));
  return opened.value;
}

const archive = await openArchive();
const engine: Engine = {
  propertyRuns: 4,
  open: async () => {
    await database.exec(EMPTY_ARCHIVE);
    return archive;
  },
  openAgain: openArchive,
  execute: async (_, sql) => void (await database.exec(sql)),
  findLeftovers: async () => [],
};

vectorContract(engine);

const ANY = { conversationId: null, role: null, since: null, until: null, source: null };
const [COUNT, DIMENSIONS] = [1200, 6];
const model = { provider: 'p', model: 'm', dimensions: DIMENSIONS };

/** Messages without vectors. */
async function fill(): Promise<void> {
  await database.exec(EMPTY_ARCHIVE);
  const lines = Array.from({ length: COUNT }, (_, at) =>
    lineDraft(at + 1, { message: messageDraft({ id: `m${at}`, text: 'word', role: at % 50 === 0 ? 'user' : 'tool' }) }),
  );
  await applied(archive, compactionDraft(COUNT), lines);
  await archive.vectors.keep(model, [], { mayReplace: true });
}

/** Gives every message a vector; many of them are equal, or nearly. */
async function setVectors(numbers: readonly number[]): Promise<ReadonlyMap<number, Float32Array>> {
  const all = Array.from({ length: COUNT }, (_, at) => {
    const numberAt = (place: number): number => numbers[(at * 7 + place * (1 + (at % 11))) % numbers.length] ?? 0;
    return [at + 1, Float32Array.from({ length: DIMENSIONS }, (__, place) => numberAt(place))] as const;
  });
  await database.query(
    `INSERT INTO message_vectors (line_id, vector) SELECT * FROM unnest($1::bigint[], $2::bytea[])
ON CONFLICT (line_id) DO UPDATE SET vector = excluded.vector`,
    [all.map(([id]) => id), all.map(([, of]) => vectorBytes(of))],
  );
  return new Map(all);
}

function nearestOf(all: ReadonlyMap<number, Float32Array>, to: Float32Array, limit: number): readonly number[] {
  return [...all]
    .map(([id, of]) => [id, cosine(to, vectorBytes(of))] as const)
    .toSorted((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, limit)
    .map(([id]) => id);
}

const number = fc.float({ noNaN: true, min: -1, max: 1 });

test('the server finds what comparing every vector finds, in the same order', async () => {
  await fill();
  const asked = fc.array(number, { minLength: DIMENSIONS, maxLength: DIMENSIONS });
  const cases = fc.asyncProperty(
    fc.array(number, { minLength: 400, maxLength: 400 }),
    asked,
    async (numbers, values) => {
      const all = await setVectors(numbers);
      const to = Float32Array.from(values);
      for (const limit of [1, 30]) {
        assert.deepEqual(await archive.vectors.nearestMessages(to, { filter: ANY, limit }), nearestOf(all, to, limit));
        const filter = { ...ANY, role: 'user' as const };
        const ofUser = new Map([...all].filter(([id]) => (id - 1) % 50 === 0));
        assert.deepEqual(await archive.vectors.nearestMessages(to, { filter, limit }), nearestOf(ofUser, to, limit));
      }
    },
  );
  await fc.assert(cases, { numRuns: 2 });
});

/** Whether the server compares vectors. */
async function hasColumn(): Promise<boolean> {
  const { rows } = await database.query(
    "SELECT 1 FROM pg_attribute WHERE attrelid = 'message_vectors'::regclass AND attname = 'near'",
  );
  return rows.length > 0;
}

test('an archive with vectors that the extension compares is opened again', async () => {
  await fill();
  assert.ok(await hasColumn());
  await openArchive();
});

test('the extension may be removed, and installed again in another schema', async () => {
  const numbers = Array.from({ length: 400 }, (_, at) => Math.sin(at * at));
  const all = await setVectors(numbers);
  const to = Float32Array.from({ length: DIMENSIONS }, (_, at) => at - 2.5);
  const near = (): Promise<readonly number[]> => archive.vectors.nearestMessages(to, { filter: ANY, limit: 20 });
  const expected = nearestOf(all, to, 20);
  assert.deepEqual([await hasColumn(), await near()], [true, expected]);
  await database.exec('DROP EXTENSION vector CASCADE');
  assert.deepEqual([await hasColumn(), await near()], [false, expected]);
  await database.exec('CREATE SCHEMA "Its own"; CREATE EXTENSION vector SCHEMA "Its own"');
  assert.deepEqual([await hasColumn(), await near()], [false, expected]);
  await archive.vectors.keep(model, [], { mayReplace: false });
  assert.deepEqual([await hasColumn(), await near()], [true, expected]);
});

test('a user who does not own the tables compares vectors without the server', async (t) => {
  const all = await setVectors([0.1, -0.7, 0.3, 0.9, -0.2]);
  await database.exec(`ALTER TABLE message_vectors DROP COLUMN near; CREATE ROLE writer;
GRANT ALL ON SCHEMA compact TO writer; GRANT ALL ON ALL TABLES IN SCHEMA compact TO writer; SET ROLE writer`);
  t.after(() => database.exec('RESET ROLE'));
  assert.equal(await archive.vectors.keep(model, [], { mayReplace: false }), 'kept');
  const to = Float32Array.from({ length: DIMENSIONS }, (_, at) => at + 1);
  assert.deepEqual(
    [await hasColumn(), await archive.vectors.nearestMessages(to, { filter: ANY, limit: 9 })],
    [false, nearestOf(all, to, 9)],
  );
});

/** The files of the database, but for its write-ahead log. */
async function bytesOfDatabase(): Promise<Buffer> {
  await database.exec('ANALYZE; CHECKPOINT');
  const dump = await database.dumpDataDir('none');
  return withoutLog(Buffer.from(await dump.arrayBuffer()));
}

/** An integer of at most 11 bits in half precision, as the files have it. */
function halfBytes(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  const exponent = value === 0 ? 0 : Math.floor(Math.log2(Math.abs(value)));
  const fraction = value === 0 ? 0 : (Math.abs(value) / 2 ** exponent - 1) * 1024 + ((exponent + 15) << 10);
  bytes.writeUInt16LE(fraction + (value < 0 ? 0x8000 : 0));
  return bytes;
}

test('an erasure leaves no byte of a vector behind', async (t) => {
  const bench = await benchOn(engine, t);
  bench.write(
    'talk.jsonl',
    `${chatLine({ role: 'user', content: 'The word is zanzibarquux.' })}\n${chatTranscript(20)}`,
  );
  reportOf(await bench.compact('talk.jsonl'));
  const missing = await archive.vectors.listMissing(
    { sourceSha256: null, isRemade: false },
    { after: { lineId: 0, batchId: 0 }, limit: 50 },
  );
  const ids = missing.flatMap((one) => (one.kind === 'message' ? [one.lineId] : []));
  const vectorOf = (id: number): Float32Array =>
    Float32Array.from({ length: 24 }, (_, at) => Math.sin((at + 1) * (id + 3)));
  const drafts = ids.map((id): VectorDraft => ({ kind: 'message', id, vector: vectorOf(id) }));
  await archive.vectors.keep({ ...model, dimensions: 24 }, drafts, { mayReplace: true });
  const [first = 0] = ids;
  const { rows } = await database.query<{ near: string }>('SELECT near::text FROM message_vectors WHERE line_id = $1', [
    first,
  ]);
  const copy = Buffer.concat((JSON.parse(rows[0]?.near ?? '') as readonly number[]).map(halfBytes));
  const traces = async (): Promise<readonly boolean[]> => {
    const bytes = await bytesOfDatabase();
    return [bytes.includes(copy), bytes.includes(Buffer.from(vectorBytes(vectorOf(first))))];
  };
  assert.deepEqual([copy.length, await traces()], [48, [true, true]]);
  const selector = { kind: 'match', text: 'zanzibarquux' } as const;
  assert.equal((await erase(bench, selector)).result, 'erased');
  assert.deepEqual(await traces(), [false, false]);
});
