import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { detectFormat } from '../../../../src/adapters/transcript/detect.ts';
import { droid } from '../../../../src/adapters/transcript/droid/codec.ts';
import { isClipArchiveText } from '../../../../src/core/split.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { benchWith, reportOf } from '../../../support/workbench.ts';
import { replay } from './replay.ts';

const FIXTURES = join(import.meta.dirname, '../../../../fixtures/transcripts/droid');
const read = (name: string): Buffer => readFileSync(join(FIXTURES, name));

for (const name of readdirSync(FIXTURES)) {
  test(`${name}: Droid sends the summary, then the end of what it sent before, with every result's call`, async (t) => {
    const bench = benchWith(t, name, read(name));
    const before = replay(read(name).toString('utf8'));
    for (const keepRecent of [12, 6, 2]) {
      const compaction = { keepRecent, maxSummaryTokens: 120 };
      const { result } = reportOf(await bench.compact(name, { keepInvalid: true, compaction }));
      if (result === 'skipped' && keepRecent === 12) continue; // there is too little to summarize
      assert.equal(result, 'compacted');
      const { summary, sent } = replay(bench.read(name).toString('utf8'));
      assert.ok(isClipArchiveText(summary ?? ''));
      assert.deepEqual(sent.slice(-keepRecent), before.sent.slice(-keepRecent));
      assert.ok(sent.every((content) => before.sent.some((one) => JSON.stringify(one) === JSON.stringify(content))));
      const ids = (key: string): readonly string[] =>
        Array.from(JSON.stringify(sent).matchAll(new RegExp(`"${key}":"(toolu_[^"]*)"`, 'g')), ([, id = '']) => id);
      assert.ok(ids('tool_use_id').every((id) => ids('id').includes(id)));
    }
    assert.equal(read(name).indexOf(bench.read(name).subarray(0, 60)), 0, 'the header is still the first line');
    assert.deepEqual(await bench.restore(name), read(name));
  });
}

test('its sessions are told from those of pi and events of Copilot', async () => {
  const entry: Json = {
    type: 'message',
    id: 'm',
    parentId: null,
    timestamp: 't',
    message: { role: 'user', content: [] },
  };
  const formatOf = async (...sample: readonly Json[]): Promise<string> => {
    const found = await detectFormat(sample);
    return found.kind === 'found' ? found.codec.format.name : (found.looksLike ?? found.kind);
  };
  assert.deepEqual(
    [
      await formatOf({ type: 'session_start', id: 'a', cwd: '/' }, entry),
      await formatOf({ type: 'session_start', id: 'a' }),
      await formatOf({ type: 'session', id: 'a' }, entry),
      await formatOf(entry, entry),
      await formatOf({ type: 'session_start', id: 'a', payload: {} }, { type: 'other' }),
    ],
    ['droid', 'droid', 'pi', 'a session of pi or Droid without its header', 'unknown'],
  );
});

test('hooks and reminders were not typed, and a broken message is a problem', () => {
  const session = droid.open();
  const typed = (more: object): unknown => {
    const message = { role: 'user', content: [{ type: 'text', text: 'Grind.' }], ...more };
    const decoded = session.observe(JSON.parse(JSON.stringify({ type: 'message', id: 'm', message })), 2);
    return 'problem' in decoded ? 'problem' : (decoded.message?.typed ?? null);
  };
  assert.deepEqual(
    [typed({}), typed({ visibility: 'llm_only' }), typed({ visibility: 'user_only' }), typed({ content: 7 })],
    ['Grind.', null, null, 'problem'],
  );
});
