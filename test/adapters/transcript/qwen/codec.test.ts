import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { qwen } from '../../../../src/adapters/transcript/qwen/codec.ts';
import { isClipArchiveText } from '../../../../src/core/split.ts';
import { benchWith, reportOf } from '../../../support/workbench.ts';
import { readRows, replay } from './replay.ts';

const FIXTURES = join(import.meta.dirname, '../../../../fixtures/transcripts/qwen');
const read = (name: string): Buffer => readFileSync(join(FIXTURES, name));
/** Qwen Code has lost everything before the record whose parent is missing; the rest is too short to compact. */
const UNCHANGED = new Set(['no-messages.jsonl']);

for (const name of readdirSync(FIXTURES).filter((one) => !UNCHANGED.has(one))) {
  test(`${name}: Qwen Code sends the summary, then the end of what it sent before`, async (t) => {
    const bench = benchWith(t, name, read(name));
    const before = replay(read(name).toString('utf8'));
    for (const keepRecent of [6, 2]) {
      const compaction = { keepRecent, maxSummaryTokens: 120 };
      const { result } = reportOf(await bench.compact(name, { keepInvalid: true, compaction }));
      assert.equal(result, 'compacted');
      const [summary, ...rest] = replay(bench.read(name).toString('utf8'));
      assert.ok(isClipArchiveText(summary?.parts?.[0]?.text ?? ''));
      assert.ok(rest.length >= keepRecent);
      assert.deepEqual(rest, before.slice(-rest.length));
      const calls = new Set(
        rest.flatMap(({ parts = [] }) => parts.flatMap(({ functionCall }) => functionCall?.id ?? [])),
      );
      const results = rest.flatMap(({ parts = [] }) => parts.flatMap((part) => part.functionResponse?.id ?? []));
      assert.ok(results.every((id) => calls.has(id)));
    }
    assert.deepEqual(await bench.restore(name), read(name));
  });
}

test('a title and a model that would leave are repeated before the summary, in the chain and in the session', async (t) => {
  const name = 'title-and-model-before-the-cut.jsonl';
  const bench = benchWith(t, name, read(name));
  reportOf(await bench.compact(name, { compaction: { keepRecent: 3, maxSummaryTokens: 120 } }));
  const [title, model, summary] = readRows(bench.read(name).toString('utf8'));
  assert.deepEqual(
    [title, model, summary].map((row) => row?.subtype),
    ['custom_title', 'session_model', 'chat_compression'],
  );
  assert.deepEqual([title?.parentUuid, model?.parentUuid, summary?.parentUuid], [null, title?.uuid, model?.uuid]);
});

test('only what a person typed is typed', () => {
  const typed = (more: object, text = 'Trim the jib.'): string | undefined => {
    const message = { role: 'user', parts: [{ text }] };
    const row = { uuid: 'u', parentUuid: null, sessionId: 's', type: 'user', message, ...more };
    const decoded = qwen.open().observe(JSON.parse(JSON.stringify(row)), 1);
    assert.ok('kind' in decoded);
    return decoded.message?.typed;
  };
  assert.deepEqual(
    [
      typed({}),
      typed({ systemPayload: { displayText: 'Trim @jib.md.' } }),
      typed({}, 'Read it.\n--- Content from referenced files ---\nnever trim'),
      typed({ subtype: 'mid_turn_user_message' }),
      typed({ subtype: 'notification' }),
      typed({ subtype: 'cron' }),
      typed({ subtype: 'realtime_message' }),
    ],
    ['Trim the jib.', 'Trim @jib.md.', 'Read it.', 'Trim the jib.', undefined, undefined, undefined],
  );
});
