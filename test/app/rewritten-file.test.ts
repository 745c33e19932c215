import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { benchFor, reportOf, type Workbench } from '../support/workbench.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');
const CHOSEN = { compaction: { keepRecent: 3, summaryTokens: 150 } };

type Fields = { readonly [name: string]: unknown };

const parse = (text: string): Fields => JSON.parse(text);
const fieldsOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value : []);

/** As Gemini CLI takes up a document: the metadata, and each message in a line of its own. */
function documentToLog(text: string): string {
  const { messages, ...metadata } = parse(text);
  return [metadata, ...fieldsOf(messages)].map((one) => `${JSON.stringify(one)}\n`).join('');
}

/** As pi takes up a session of version 1: entries get ids and parents, and a compaction names what it keeps by its id. */
function migratePi(text: string): string {
  const entries = text.trim().split('\n').map(parse);
  const idOf = (index: number): string => index.toString(16).padStart(8, '0');
  const migrated = entries.map((entry, index) => {
    if (index === 0) return { ...entry, version: 3 };
    const { type, firstKeptEntryIndex, ...rest } = entry;
    const kept = typeof firstKeptEntryIndex === 'number' ? { firstKeptEntryId: idOf(firstKeptEntryIndex) } : {};
    return { type, id: idOf(index), parentId: index === 1 ? null : idOf(index - 1), ...rest, ...kept };
  });
  return migrated.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

/** As OpenCode exports a session that it has imported: our message with more fields than we wrote, and other white space. */
function exportAgain(text: string): string {
  const { info, messages } = parse(text);
  const anew = fieldsOf(messages).map(({ info: about, parts }) => ({
    info: { ...Object(about), system: '' },
    parts: fieldsOf(parts).map((part) => ({ ...part, metadata: {} })),
  }));
  return JSON.stringify({ info, messages: anew }, null, 4);
}

type Case = {
  readonly what: string;
  readonly fixture: string;
  readonly rewrite: (text: string) => string;
  readonly more: (text: string) => string;
};

const CASES: readonly Case[] = [
  {
    what: 'a Gemini document that became a log',
    fixture: 'gemini-document/session.json',
    rewrite: documentToLog,
    more: (text) =>
      text +
      [1, 2, 3, 4, 5, 6]
        .map((at) =>
          JSON.stringify({
            id: `later-${at}`,
            timestamp: `2026-01-10T08:0${at}:00.000Z`,
            type: at % 2 === 1 ? 'user' : 'gemini',
            content: `The weir of basin ${at} was measured again, it stands at ${at} hand's breadths. `.repeat(40),
          }),
        )
        .map((line) => `${line}\n`)
        .join(''),
  },
  {
    what: 'a session of pi that was migrated from version 1',
    fixture: 'pi/version-1.jsonl',
    rewrite: migratePi,
    more: (text) =>
      text +
      [1, 2, 3, 4, 5, 6]
        .map((at) =>
          JSON.stringify({
            type: 'message',
            id: `ffff000${at}`,
            parentId: at === 1 ? parse(text.trim().split('\n').at(-1) ?? '')['id'] : `ffff000${at - 1}`,
            timestamp: `2026-05-05T08:0${at}:00.000Z`,
            message: {
              role: at % 2 === 1 ? 'user' : 'assistant',
              content: [{ type: 'text', text: `The ferry of pier ${at} was painted green on day ${at}. `.repeat(40) }],
            },
          }),
        )
        .map((line) => `${line}\n`)
        .join(''),
  },
  {
    what: 'an export of OpenCode',
    fixture: 'opencode/session.json',
    rewrite: exportAgain,
    more: (text) => {
      const { info, messages } = parse(text);
      const more = fieldsOf(parse(readFileSync(join(FIXTURES, 'opencode/minified.json'), 'utf8'))['messages']);
      return JSON.stringify({ info, messages: [...fieldsOf(messages), ...more] });
    },
  },
];

async function rewritten(bench: Workbench, { fixture, rewrite }: Case): Promise<string> {
  bench.write('talk', readFileSync(join(FIXTURES, fixture)));
  assert.equal(reportOf(await bench.compact('talk', CHOSEN)).result, 'compacted');
  const text = rewrite(bench.read('talk').toString());
  bench.write('talk', text);
  return text;
}

for (const one of CASES) {
  test(`${one.what} is reported as rewritten: nothing but the original is restored`, async (t) => {
    const bench = benchFor(t);
    await rewritten(bench, one);
    await assert.rejects(bench.verify('talk'), /"rewritten".*"key":"[0-9a-f]{12}","canUndoLast":false/);
    for (const all of [true, false]) await assert.rejects(bench.restore('talk', all), /"rewritten"/);
  });

  test(`${one.what} that is compacted again is restored to its rewritten state, and no further`, async (t) => {
    const bench = benchFor(t);
    const grown = one.more(await rewritten(bench, one));
    bench.write('talk', grown);
    const again = reportOf(await bench.compact('talk', CHOSEN));
    assert.deepEqual([again.result, again.conversations[0]?.cycles], ['compacted', 2]);
    const cycle = (await bench.archive().loadCompaction(2))?.cycles[0];
    assert.equal(cycle?.parentCycleId ?? null, 1);
    await assert.rejects(bench.restore('talk', true), /"rewritten".*"canUndoLast":true/);
    assert.equal((await bench.restore('talk', false)).toString(), grown);
    const { result, cycles, isStillCompacted, problems } = await bench.verify('talk');
    assert.deepEqual([result, cycles, isStillCompacted, problems], ['verified', 1, true, []]);
  });
}

test('a key alone does not make a summary ours: another conversation is not carried on', async (t) => {
  const bench = benchFor(t);
  const text = await rewritten(bench, CASES[1] ?? assert.fail());
  const forged = text.replace(
    'messages compressed across 1 compaction cycle]',
    'messages compressed across 1 compaction cycle]\\nTrust me.',
  );
  assert.notEqual(forged, text);
  bench.write('talk', CASES[1]?.more(forged) ?? '');
  reportOf(await bench.compact('talk', { ...CHOSEN, isFresh: true }));
  assert.equal((await bench.archive().loadCompaction(2))?.cycles[0]?.parentCycleId, null);
  await assert.rejects(bench.restore('talk', true), /"not-in-archive"/);
});
