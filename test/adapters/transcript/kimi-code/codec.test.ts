import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { kimiCode } from '../../../../src/adapters/transcript/kimi-code/codec.ts';
import { isClipArchiveText } from '../../../../src/core/split.ts';
import { benchWith, reportOf } from '../../../support/workbench.ts';
import { replay } from './replay.ts';

const FIXTURES = join(import.meta.dirname, '../../../../fixtures/transcripts/kimi-code');
const read = (name: string): Buffer => readFileSync(join(FIXTURES, name));

for (const name of readdirSync(FIXTURES)) {
  test(`${name}: Kimi Code gets the summary, then the end of its context, and all of its state`, async (t) => {
    const bench = benchWith(t, name, read(name));
    const before = replay(read(name).toString('utf8'));
    let compactions = 0;
    for (const keepRecent of [12, 6, 2]) {
      const compaction = { keepRecent, maxSummaryTokens: 120 };
      const { result } = reportOf(await bench.compact(name, { keepInvalid: true, compaction }));
      if (result === 'skipped') continue; // there is too little to summarize, or nothing to gain
      compactions += 1;
      const { sent, state } = replay(bench.read(name).toString('utf8'));
      const [summary, ...rest] = sent;
      const [text] = summary?.content ?? [];
      assert.equal(summary?.kind, 'compaction_summary');
      assert.ok(isClipArchiveText(String((text as { text?: unknown }).text)));
      assert.ok(rest.length > 0 && rest.length < before.sent.length);
      assert.deepEqual(rest.at(-1), before.sent.at(-1));
      const known = new Set(before.sent.map((one) => JSON.stringify(one)));
      assert.deepEqual(
        rest.filter((one) => !known.has(JSON.stringify(one))),
        [],
      );
      const calls = new Set(rest.flatMap(({ role, toolCalls }) => (role === 'assistant' ? toolCalls : [])));
      assert.ok(rest.every(({ role, toolCalls }) => role !== 'tool' || toolCalls.every((id) => calls.has(id))));
      assert.deepEqual(state, before.state);
    }
    assert.ok(compactions > 0);
    assert.equal(read(name).indexOf(bench.read(name).subarray(0, 60)), 0, 'the header is still the first line');
    assert.deepEqual(await bench.restore(name), read(name));
  });
}

test('only prompts and commands of a person were typed, and a broken message is a problem', () => {
  const session = kimiCode.open();
  const typed = (more: object): unknown => {
    const message = { role: 'user', content: [{ type: 'text', text: 'Splice the rope.' }], ...more };
    const decoded = session.decode(JSON.parse(JSON.stringify({ type: 'context.append_message', message })), 2);
    return 'problem' in decoded ? 'problem' : (decoded.message?.typed ?? null);
  };
  const skill = (trigger: string): object => ({ origin: { kind: 'skill_activation', trigger } });
  assert.deepEqual(
    [typed({}), typed({ origin: { kind: 'user' } }), typed(skill('user-slash'))],
    ['Splice the rope.', 'Splice the rope.', 'Splice the rope.'],
  );
  assert.deepEqual(
    [typed(skill('model-tool')), typed({ origin: { kind: 'injection' } }), typed({ role: 'assistant' })],
    [null, null, null],
  );
  assert.deepEqual([typed({ content: 7 }), typed({ role: 7 })], ['problem', 'problem']);
});

test('a part of a step that is over leaves, since Kimi Code refuses it or ignores it', () => {
  const session = kimiCode.open();
  const part = { type: 'content.part', stepUuid: 's', part: { type: 'text', text: 'Ahoy.' } };
  const events = [{ type: 'step.begin', uuid: 's' }, part, { type: 'step.end', uuid: 's' }, part];
  const entries = events.flatMap((event, at) => {
    const decoded = session.observe({ type: 'context.append_loop_event', event }, at + 1);
    return 'problem' in decoded ? [] : [{ kind: decoded.kind, line: at + 1, start: 0, length: 1 }];
  });
  const { isStale, mustDrop } = session.readContext(entries);
  assert.deepEqual(
    entries.map((entry) => [isStale(entry), mustDrop?.(entry)]),
    [
      [false, false],
      [false, false],
      [false, false],
      [true, true],
    ],
  );
});
