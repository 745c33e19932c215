import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { CODECS } from '../support/codecs.ts';
import { openTranscript } from '../../src/app/read/open-transcript.ts';
import { readRecords } from '../../src/app/read/records.ts';
import { restoreFile } from '../../src/app/restore/restore-file.ts';
import { undoFile } from '../../src/app/restore/undo.ts';
import { benchFor, reportOf, type Workbench } from '../support/workbench.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');
/** Every other document is compacted unless its last seven messages are all that it has. */
const TOO_SHORT = new Set(['bare-list.json']);
const DAMAGED = new Set(['cut-off.json', 'trailing-garbage.json']);

/** The elements of all lists of a file, without what parts them, as the codec takes it apart. */
async function elementsOf(bench: Workbench, name: string): Promise<readonly string[]> {
  const opened = await openTranscript({ path: bench.path(name), name, format: null }, bench.deps);
  const { source, codec } = opened;
  const elements: string[] = [];
  for (const raw of readRecords(source, codec)) {
    if (raw.list === undefined || raw.around !== undefined) continue;
    elements.push(Buffer.from(codec.records?.trim(raw.bytes) ?? raw.bytes).toString('latin1'));
  }
  source.close();
  return elements;
}

/** Arrays and objects with what stands in them left out, but for the outermost two. A list of messages or spans gets shorter. */
function shapeOf(value: unknown): unknown {
  const isSaid = (one: unknown): boolean => ['role', 'startTime', 'start_time'].some((key) => key in Object(one));
  if (Array.isArray(value) && value.some(isSaid)) return 'a list of messages';
  if (Array.isArray(value)) return value.map((one: unknown) => Object.keys(Object(one)));
  return Object.keys(Object(value));
}

for (const { format } of CODECS) {
  if (format.layout.kind !== 'document') continue;
  const folder = join(FIXTURES, format.name);
  const names = readdirSync(folder).filter((one) => one.endsWith('.json') && !DAMAGED.has(one));
  for (const [at, name] of names.entries()) {
    // The first one goes through all, the others take turns.
    for (const keepRecent of at === 0 ? [0, 3, 7] : [at % 2 === 0 ? 0 : 3]) {
      test(`${format.name}/${name}: what stays of ${keepRecent} recent messages stands byte for byte in a document of the same shape`, async (t) => {
        const bench = benchFor(t);
        const original = readFileSync(join(folder, name));
        bench.write(name, original);
        const done = await bench.compact(name, { compaction: { keepRecent, maxSummaryTokens: 120 } });
        if (name === 'no-messages.json') {
          assert.equal(done.ok ? done.value.result : done.error.kind, 'no-messages');
          return assert.deepEqual(bench.read(name), original);
        }
        const report = reportOf(done);
        if (report.result === 'skipped') {
          assert.ok(keepRecent === 7 || TOO_SHORT.has(name), `nothing was compacted: ${report.reason}`);
          return assert.deepEqual(bench.read(name), original);
        }
        const before = await elementsAsRead(bench, original);
        const after = await elementsOf(bench, name);
        const text = bench.read(name).toString('utf8');
        assert.deepEqual(shapeOf(JSON.parse(text)), shapeOf(JSON.parse(original.toString('utf8'))));
        const { ledger, conversations } = report;
        const known = new Set(before);
        const own = after.filter((element) => !known.has(element));
        assert.ok(own.length >= conversations.filter(({ batches }) => batches.length > 0).length);
        assert.equal(after.length - own.length, before.length - (ledger.total - ledger.kept));
      });
    }
  }

  test(`${format.name}: a cut-off document is an error that names the place, and stays as it is`, async (t) => {
    const bench = benchFor(t);
    const original = readFileSync(join(folder, 'cut-off.json'));
    bench.write('cut-off.json', original);
    const done = await bench.compact('cut-off.json');
    assert.equal(done.ok ? 'compacted' : done.error.kind, 'bad-line');
    assert.deepEqual(bench.read('cut-off.json'), original);
  });
}

async function elementsAsRead(bench: Workbench, content: Buffer): Promise<readonly string[]> {
  bench.write('original.json', content);
  return elementsOf(bench, 'original.json');
}

/** How the programs that keep a conversation in a document write it: with this white space, and a list under this key or by itself. */
const CLIENTS = [
  { client: 'Cline and Roo Code', fixture: 'cline/session.json', indent: 0, key: null },
  { client: "Cline's newer sessions", fixture: 'cline/newer.messages.json', indent: 2, key: 'messages' },
  { client: 'OpenCode', fixture: 'opencode/session.json', indent: 2, key: 'messages' },
  { client: 'Gemini CLI', fixture: 'gemini-document/session.json', indent: 2, key: 'messages' },
] as const;

type Client = (typeof CLIENTS)[number];
type Change = (messages: readonly object[]) => readonly object[];

const CHOSEN = { compaction: { keepRecent: 3, maxSummaryTokens: 120 } };

/** Reads a document and writes it anew. */
function rewrite(
  text: string,
  { key, indent }: Pick<Client, 'key'> & { readonly indent: number },
  change: Change,
): string {
  const document = JSON.parse(text);
  const changed = key === null ? change(document) : { ...document, [key]: change(document[key]) };
  return JSON.stringify(changed, null, indent);
}

/** One more turn: the last messages that are not ours once more, with other words and ids. */
const addTurn: Change = (messages) => [
  ...messages,
  ...messages.slice(-2).map((message) => JSON.parse(JSON.stringify(message, sayAgain))),
];

function sayAgain(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  return key === 'id' ? `x${value}` : key === 'text' || key === 'content' ? `${value} And again.` : value;
}

for (const client of CLIENTS) {
  const { fixture } = client;
  const begin = async (t: TestContext): Promise<{ readonly bench: Workbench; readonly original: string }> => {
    const bench = benchFor(t);
    const original = rewrite(readFileSync(join(FIXTURES, fixture), 'utf8'), client, (messages) => messages);
    bench.write('s.json', original);
    assert.equal(reportOf(await bench.compact('s.json', CHOSEN)).result, 'compacted');
    return { bench, original };
  };
  const undoable = async (bench: Workbench): Promise<string> => {
    const [run] = await bench.archive().runs.list();
    const [file] = run?.files ?? [];
    if (file === undefined) assert.fail('no run to undo');
    const input = { path: bench.path('s.json'), name: 's.json', format: null };
    const undone = await undoFile(bench.deps, { file, input, output: { kind: 'in-place' } });
    assert.equal(undone.ok && undone.value.result, 'restored');
    return bench.read('s.json').toString();
  };

  test(`${client.client} with one more turn: verify, restore and undo have it after the original`, async (t) => {
    const { bench, original } = await begin(t);
    const grown = rewrite(original, client, addTurn);
    bench.write('s.json', rewrite(bench.read('s.json').toString(), client, addTurn));
    const { result, problems, isRewritten, lines } = await bench.verify('s.json');
    assert.deepEqual([result, problems, isRewritten, lines.appended], ['verified', [], true, 2]);
    for (const all of [false, true]) assert.equal((await bench.restore('s.json', all)).toString(), grown);
    assert.equal(await undoable(bench), grown);
  });

  test(`${client.client} without another turn: the original comes back byte for byte`, async (t) => {
    const { bench, original } = await begin(t);
    bench.write(
      's.json',
      rewrite(bench.read('s.json').toString(), client, (messages) => messages),
    );
    assert.equal((await bench.restore('s.json')).toString(), original);
    assert.equal(await undoable(bench), original);
  });

  test(`${client.client} with other white space and keys in another order: what stays has the same content`, async (t) => {
    const { bench, original } = await begin(t);
    const reverse: Change = (messages) => messages.map((one) => Object.fromEntries(Object.entries(one).toReversed()));
    bench.write(
      's.json',
      rewrite(bench.read('s.json').toString(), { ...client, indent: 4 }, (all) => reverse(addTurn(all))),
    );
    assert.deepEqual(
      JSON.parse((await bench.restore('s.json')).toString()),
      JSON.parse(rewrite(original, client, addTurn)),
    );
  });

  test(`${client.client}, compacted again after more turns: every compaction is undone, and the lineage goes on`, async (t) => {
    const { bench, original } = await begin(t);
    const turns: Change = (messages) => addTurn(addTurn(addTurn(messages)));
    const grown = rewrite(bench.read('s.json').toString(), client, turns);
    bench.write('s.json', grown);
    const again = reportOf(await bench.compact('s.json', CHOSEN));
    assert.deepEqual([again.result, again.conversations[0]?.cycles], ['compacted', 2]);
    assert.equal((await bench.archive().loadCompaction(2))?.cycles[0]?.parentCycleId, 1);
    const whole = rewrite(original, client, turns);
    for (const more of [(all: readonly object[]) => all, addTurn]) {
      bench.write('s.json', rewrite(bench.read('s.json').toString(), client, more));
      const { result, cycles, problems, isStillCompacted } = await bench.verify('s.json');
      assert.deepEqual([result, cycles, problems, isStillCompacted], ['verified', 2, [], undefined]);
      assert.equal((await bench.restore('s.json', false)).toString(), rewrite(grown, client, more));
      assert.equal((await bench.restore('s.json')).toString(), rewrite(whole, client, more));
    }
  });

  test(`${client.client}, where it changed or removed what was kept: that is named, and the rest comes back on request`, async (t) => {
    const { bench, original } = await begin(t);
    const count = (text: string): number =>
      (client.key === null ? JSON.parse(text) : JSON.parse(text)[client.key]).length;
    const [before, after] = [count(original), count(bench.read('s.json').toString())];
    const compacted = bench.read('s.json').toString();
    const changes: readonly (readonly [Change, RegExp])[] = [
      [
        (all) => addTurn(all.map((one, at) => (at === all.length - 2 ? { ...one, extra: 1 } : one))),
        new RegExp(
          `^message ${before - 1} of the original was changed or removed .*: message ${after - 1} of the file`,
        ),
      ],
      [(all) => all.slice(0, -1), new RegExp(`^message ${before} of the original is no longer in the file`)],
    ];
    for (const [change, named] of changes) {
      bench.write('s.json', rewrite(compacted, client, change));
      const { result, problems } = await bench.verify('s.json');
      assert.deepEqual([result, problems.length], ['failed', 1]);
      assert.match(problems[0]?.message ?? '', named);
      await assert.rejects(bench.restore('s.json'), /"altered"/);
      const input = { path: bench.path('s.json'), name: 's.json', format: null };
      const output = { kind: 'file', path: bench.path('partial.json') } as const;
      const partial = await restoreFile(bench.deps, { input, output, all: true, partial: true });
      assert.equal(partial.ok && partial.value.result, 'partial');
      assert.match(partial.ok ? (partial.value.notes?.at(-1) ?? '') : '', named);
      assert.equal(bench.read('partial.json').toString(), rewrite(original, client, change));
      rmSync(output.path);
    }
  });
}

test('a number that no program can keep is told from the one that it became', async (t) => {
  const bench = benchFor(t);
  const original = readFileSync(join(FIXTURES, 'gemini-document/session.json'), 'utf8');
  const at = original.lastIndexOf('"content"');
  bench.write('s.json', `${original.slice(0, at)}"serial": 12345678901234567890, ${original.slice(at)}`);
  reportOf(await bench.compact('s.json', CHOSEN));
  bench.write('s.json', JSON.stringify(JSON.parse(bench.read('s.json').toString())));
  const { result, problems } = await bench.verify('s.json');
  assert.deepEqual([result, problems.length], ['failed', 1]);
  assert.match(problems[0]?.message ?? '', /^message \d+ of the original was changed or removed/);
});

test('a picture of many megabytes in a document, and quotes after backslashes, do not matter', async (t) => {
  const bench = benchFor(t);
  const original = rewrite(readFileSync(join(FIXTURES, 'gemini-document/session.json'), 'utf8'), CLIENTS[3], (all) =>
    all.map((one, at) =>
      at === all.length - 1 ? { ...one, big: 'x'.repeat(3_000_000), odd: '\\\\"1234567890123456789012' } : one,
    ),
  );
  bench.write('s.json', original);
  reportOf(await bench.compact('s.json', CHOSEN));
  bench.write('s.json', rewrite(bench.read('s.json').toString(), { ...CLIENTS[3], indent: 0 }, addTurn));
  assert.equal((await bench.verify('s.json')).result, 'verified');
});
