import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { sessions } from '../adapters/transcript/claude-code/sessions.ts';
import { prose } from '../support/chat.ts';
import { TITLES } from '../support/client-lists.ts';
import { benchFor, createWorkbench, reportOf } from '../support/workbench.ts';
import { runsOf } from '../support/runs.ts';
import { jsonLines } from '../support/program.ts';

type Record_ = {
  readonly uuid?: string;
  readonly parentUuid?: string | null;
  readonly isCompactSummary?: boolean;
  readonly type: string;
};

const parse = (file: Buffer): readonly Record_[] => jsonLines(file.toString());

/** A turn: a prompt, a call with its result, an answer; each record hangs on the one before. */
function session(
  turns: number,
  from = 0,
  parent: string | null = null,
): { readonly text: string; readonly tip: string } {
  const lines: string[] = [];
  let tip = parent;
  const add = (type: string, message: unknown): void => {
    const uuid = `u-${from}-${lines.length}`;
    const base = {
      parentUuid: tip,
      isSidechain: false,
      userType: 'external',
      cwd: '/w',
      sessionId: 's1',
      version: '2.1.197',
      gitBranch: 'main',
    };
    const timestamp = new Date(Date.UTC(2026, 0, 2, 3, 0, from * 100 + lines.length)).toISOString();
    lines.push(JSON.stringify({ ...base, type, message, uuid, timestamp }));
    tip = uuid;
  };
  for (let turn = 0; turn < turns; turn += 1) {
    const n = from * 1000 + turn;
    const answer = (id: string, content: unknown): unknown => ({
      id,
      model: 'm',
      role: 'assistant',
      type: 'message',
      content,
      usage: { input_tokens: 900_000 },
    });
    add('user', { role: 'user', content: prose(n) });
    add(
      'assistant',
      answer(`msg_a${n}`, [
        { type: 'tool_use', id: `toolu_${n}`, name: 'Read', input: { file_path: `/w/part-${n}.ts` } },
      ]),
    );
    add('user', {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `toolu_${n}`, content: prose(n + 50, 150) }],
    });
    add('assistant', answer(`msg_b${n}`, [{ type: 'text', text: prose(n + 90) }]));
  }
  return { text: `${lines.join('\n')}\n`, tip: tip ?? '' };
}

/** Follows parentUuid from the last record, as the producer does when it resumes. */
function walk(records: readonly Record_[]): readonly Record_[] {
  const byId = new Map(
    records.flatMap((record) => (record.uuid === undefined ? [] : [[record.uuid, record] as const])),
  );
  const path: Record_[] = [];
  let at = records.findLast((record) => record.uuid !== undefined);
  while (at !== undefined && !path.includes(at)) {
    path.push(at);
    at = at.parentUuid === null || at.parentUuid === undefined ? undefined : byId.get(at.parentUuid);
  }
  return path;
}

test('the preserved segment goes from the first kept record to the last message, whatever records of the client follow it', async (t) => {
  const bench = benchFor(t);
  const { text, tip } = session(12);
  const late = {
    type: 'system',
    subtype: 'turn_duration',
    uuid: 'u-late',
    parentUuid: tip,
    isSidechain: false,
    sessionId: 's1',
  };
  bench.write('s.jsonl', `${text}${JSON.stringify(late)}\n`);
  reportOf(await bench.compact('s.jsonl'));
  const [, boundary, summary, first] = parse(bench.read('s.jsonl'));
  const { preservedSegment } = Object(boundary).compactMetadata;
  assert.deepEqual(preservedSegment, { headUuid: first?.uuid, anchorUuid: summary?.uuid, tailUuid: tip });
});

test('what a person typed while the model was working is summarized, and no cut is made before it', async (t) => {
  const bench = benchFor(t);
  const records = jsonLines(session(12).text);
  const aside = {
    type: 'attachment',
    uuid: 'u-aside',
    parentUuid: records[5].uuid,
    isSidechain: false,
    sessionId: 's1',
    timestamp: records[5].timestamp,
  };
  const queued = { ...aside, attachment: { type: 'queued_command', prompt: 'Do not rename the flamingo module.' } };
  records.splice(6, 0, queued);
  records[7] = { ...records[7], parentUuid: 'u-aside' };
  bench.write('s.jsonl', records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const report = reportOf(await bench.compact('s.jsonl'));
  assert.equal(report.conversations[0]?.messages.before, 49);
  assert.match(bench.read('s.jsonl').toString(), /Do not rename the flamingo module/);
  assert.deepEqual((await bench.verify('s.jsonl')).problems, []);
});

test('a prompt that was kept word for word is carried through further compactions, and summarized once a later prompt has come', async (t) => {
  const bench = benchFor(t);
  const prompt = 'Rename every port to 8081, and never touch the lock file.';
  const records = jsonLines(session(20).text);
  const work = records.filter((record) => typeof record.message.content !== 'string');
  const chain = [{ ...records[0], message: { role: 'user', content: prompt } }, ...work];
  const linked = chain.map(
    (record, at) => `${JSON.stringify({ ...record, parentUuid: at === 0 ? null : chain[at - 1].uuid })}\n`,
  );
  bench.write('s.jsonl', linked.slice(0, 40).join(''));
  reportOf(await bench.compact('s.jsonl'));
  bench.write('s.jsonl', Buffer.concat([bench.read('s.jsonl'), Buffer.from(linked.slice(40).join(''))]));
  const second = reportOf(await bench.compact('s.jsonl'));
  assert.equal(second.result, 'compacted');
  assert.ok(bench.read('s.jsonl').includes(`## Kept word for word\\n[user, 2026-01-02T03:00:00.000Z]\\n${prompt}`));
  assert.deepEqual((await bench.verify('s.jsonl')).problems, []);
  const more = session(10, 7, chain.at(-1).uuid);
  bench.write('s.jsonl', Buffer.concat([bench.read('s.jsonl'), Buffer.from(more.text)]));
  const third = reportOf(await bench.compact('s.jsonl', { compaction: { keepRecent: 2 } }));
  assert.equal(bench.read('s.jsonl').includes('## Kept word for word'), false);
  assert.ok(bench.read('s.jsonl').includes('never touch the lock file'), 'its words are in a batch');
  assert.deepEqual((await bench.verify('s.jsonl')).problems, []);
  const total = third.conversations[0]?.batches.reduce((sum, { count }) => sum + count, 0);
  assert.equal(total, chain.length + 40 - 8);
  assert.equal((await bench.restore('s.jsonl')).toString(), linked.join('') + more.text);
});

test('a fork that bears the ids of two sessions is one conversation, and its walk reaches the summary', async (t) => {
  const bench = benchFor(t);
  const first = session(8);
  const forked = session(4, 1, first.tip).text.replaceAll('"sessionId":"s1"', '"sessionId":"s2"');
  bench.write('s.jsonl', first.text + forked);
  const { conversations } = reportOf(await bench.compact('s.jsonl'));
  assert.deepEqual(
    conversations.map(({ id, messages }) => [id, messages.before]),
    [['s1', 48]],
  );
  assert.equal(walk(parse(bench.read('s.jsonl'))).at(-2)?.isCompactSummary, true);
});

test('any session, with branches, missing parents and repeated ids: compacted twice, it verifies and restores', async () => {
  const bench = createWorkbench();
  try {
    await fc.assert(
      fc.asyncProperty(sessions, fc.nat({ max: 4 }), async (records, keepRecent) => {
        const original = records
          .map((record, at) => `${JSON.stringify(record).replaceAll('"hello"', JSON.stringify(prose(at, 200)))}\n`)
          .join('');
        bench.write('s.jsonl', original);
        for (const keep of [keepRecent + 3, keepRecent]) {
          const done = await bench.compact('s.jsonl', {
            format: 'claude-code',
            compaction: { keepRecent: keep, maxSummaryTokens: 100 },
          });
          if (!done.ok) return assert.equal(done.error.kind, 'no-messages');
          if (done.value.result !== 'compacted') continue;
          assert.deepEqual((await bench.verify('s.jsonl')).problems, []);
          assert.equal((await bench.restore('s.jsonl')).toString(), original);
        }
      }),
      { numRuns: runsOf(200) },
    );
  } finally {
    bench.remove();
  }
});

/** Records from which the client's list takes a title; "NAME" is theirs. */
const TITLED = {
  'ai-title': { type: 'ai-title', aiTitle: 'NAME', sessionId: 's1' },
  'last-prompt': { type: 'last-prompt', lastPrompt: 'NAME', sessionId: 's1' },
  summary: { type: 'summary', summary: 'NAME', leafUuid: 'elsewhere' },
} as const;

const titlesAt = (...percents: readonly number[]): fc.Arbitrary<readonly Titled[]> =>
  fc.uniqueArray(
    fc.record({
      kind: fc.constantFrom<keyof typeof TITLED>('ai-title', 'last-prompt', 'summary'),
      percent: fc.constantFrom(...percents),
    }),
    { maxLength: 4, selector: ({ kind, percent }) => `${kind} ${percent}` },
  );

type Titled = { readonly kind: keyof typeof TITLED; readonly percent: number };

test("the client's list, which reads both ends of a file, shows the same title after two compactions and turns between", async () => {
  const bench = createWorkbench();
  const titleOf = TITLES.get('claude-code') ?? (() => null);
  const named = (text: string, of: readonly Titled[], round: number): string => {
    const lines = text.trimEnd().split('\n');
    const places = of.toSorted((a, b) => b.percent - a.percent);
    for (const { kind, percent } of places) {
      const record = JSON.stringify(TITLED[kind]).replace('NAME', `${kind} ${percent} of ${round}`);
      lines.splice(Math.round((lines.length * percent) / 100), 0, record);
    }
    return `${lines.join('\n')}\n`;
  };
  try {
    await fc.assert(
      fc.asyncProperty(
        titlesAt(0, 2, 50, 98),
        titlesAt(98),
        fc.constantFrom(4, 170),
        async (first, second, keepRecent) => {
          const begun = session(90);
          let original = named(begun.text, first, 1);
          bench.write('s.jsonl', original);
          for (const more of [named(session(40, 1, begun.tip).text, second, 2), '']) {
            reportOf(await bench.compact('s.jsonl', { compaction: { keepRecent } }));
            assert.equal(titleOf(bench.read('s.jsonl')), titleOf(Buffer.from(original)));
            assert.equal((await bench.restore('s.jsonl')).toString(), original);
            original += more;
            bench.write('s.jsonl', Buffer.concat([bench.read('s.jsonl'), Buffer.from(more)]));
          }
        },
      ),
      { numRuns: runsOf(32) },
    );
  } finally {
    bench.remove();
  }
});
