import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { benchFor } from '../support/workbench.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');

const EXAMPLES = [
  ['claude-code', 'session.jsonl'],
  ['codex', 'rollout.jsonl'],
  ['responses-items', 'without-header.jsonl'],
  ['pi', 'session.jsonl'],
  ['gemini', 'session.jsonl'],
  ['chat-lines', 'conversation.jsonl'],
  ['conversation-lines', 'short-and-long.jsonl'],
] as const;

function fixture(format: string, name: string): string {
  return readFileSync(join(FIXTURES, format, name), 'utf8');
}

for (const [format, name] of EXAMPLES) {
  for (const [other, otherName] of EXAMPLES) {
    if (format === other) continue;
    test(`messages of ${other} after those of ${format} are refused, with the line where they begin`, async (t) => {
      const bench = benchFor(t);
      const [first, second] = [fixture(format, name), fixture(other, otherName)];
      // Enough of the first that the file is told to be of its format.
      const lines = first
        .repeat(60)
        .split('\n')
        .filter((line) => line !== '');
      const before = `${lines.slice(0, 60).join('\n')}\n`;
      bench.write('a.jsonl', Buffer.from(before + second));
      const done = await bench.compact('a.jsonl', {});
      assert.ok(!done.ok, 'it was compacted');
      assert.equal(done.error.kind, 'mixed-formats');
      assert.ok(done.error.kind === 'mixed-formats' && done.error.format === format && done.error.other === other);
      const [found = ''] = (before + second).split('\n').slice(done.error.line - 1);
      assert.ok(second.includes(found) && done.error.line > Math.min(60, lines.length), 'the line is of the second');
      assert.equal(bench.read('a.jsonl').toString(), before + second);
    });
  }
}

test('with the format named, records of another are carried like any that are not known', async (t) => {
  const bench = benchFor(t);
  const foreign = fixture('codex', 'rollout.jsonl').split('\n', 3).join('\n');
  bench.write('a.jsonl', Buffer.from(`${fixture('claude-code', 'session.jsonl')}${foreign}\n`));
  const done = await bench.compact('a.jsonl', { format: 'claude-code' });
  assert.ok(done.ok && done.value.result === 'compacted');
  assert.deepEqual((await bench.verify('a.jsonl')).problems, []);
});

test('a record of a type that is not known is carried, also if it has a role and content', async (t) => {
  const bench = benchFor(t);
  const strange = '{"type":"x.notice","role":"user","content":"a word of a newer version"}\n';
  bench.write('a.jsonl', Buffer.from(`${fixture('gemini', 'session.jsonl')}${strange}`));
  const done = await bench.compact('a.jsonl', { compaction: { keepRecent: 4, maxSummaryTokens: 40 } });
  assert.ok(done.ok && done.value.result === 'compacted');
});
