import assert from 'node:assert/strict';
import { utimesSync } from 'node:fs';
import { test } from 'node:test';
import { scanFile } from '../../src/app/survey/scan-file.ts';
import { chatTranscript } from '../support/chat.ts';
import { STORED_SESSIONS } from '../support/stored-sessions.ts';
import { benchFor, benchWith, policyOf, reportOf } from '../support/workbench.ts';

const SESSION = STORED_SESSIONS.find(({ format }) => format === 'claude-code')?.first ?? '';
const LAST_SAID_MS = Date.parse('2026-05-05T09:15:03.000Z');
const WRITTEN_MS = 1_700_000_000_000;
const OLD_RECORD = (SESSION.trimEnd().split('\n').at(-1) ?? '')
  .replaceAll('2026-05-05T', '2026-05-01T')
  .replaceAll(/"uuid":"[^"]*"/g, '"uuid":"00000000-0000-4000-8000-00000000000f"');
const snapshot = { type: 'file-history-snapshot', messageId: 'm', snapshot: { text: 'x'.repeat(100_000) } };

for (const { name, content, lastMs } of [
  { name: 'a session', content: SESSION, lastMs: LAST_SAID_MS },
  { name: 'a session that is being written', content: `${SESSION}{"type":"us`, lastMs: LAST_SAID_MS },
  {
    name: 'a session that ends with a large record',
    content: `${SESSION}${JSON.stringify(snapshot)}\n`,
    lastMs: LAST_SAID_MS,
  },
  {
    name: 'a session whose last record has an older time',
    content: `${SESSION}${OLD_RECORD}\n`,
    lastMs: LAST_SAID_MS,
  },
  { name: 'a chat without times', content: chatTranscript(40), lastMs: WRITTEN_MS },
]) {
  test(`${name} is compacted if it is older than asked for, and else left alone, as scan says`, async (t) => {
    const bench = benchFor(t);
    const path = bench.write('x.jsonl', content);
    utimesSync(path, WRITTEN_MS / 1000, WRITTEN_MS / 1000);
    const at = async (before: Date): Promise<readonly [string, boolean]> => {
      const scanned = await scanFile(bench.deps, {
        input: { path, name: 'x.jsonl', format: null },
        policy: policyOf(),
        provider: 'extractive',
        modelName: 'extractive',
        only: { format: null, largerThanBytes: null, before },
      });
      const compacted = await bench.compact('x.jsonl', { before, output: { kind: 'none' } });
      return [compacted.ok ? 'planned' : compacted.error.kind, scanned.ok && scanned.value !== null];
    };
    assert.deepEqual(await at(new Date(lastMs)), ['too-recent', false]);
    const later = await at(new Date(lastMs + 1));
    assert.deepEqual(later, content.endsWith('\n') ? ['planned', true] : ['bad-line', false]);
  });
}

test('a transcript that is too recent is not written anywhere, not even to an explicit output', async (t) => {
  const bench = benchWith(t, 'x.jsonl', SESSION);
  const before = new Date(LAST_SAID_MS);
  const output = { kind: 'file', path: bench.path('y.jsonl') } as const;
  for (const settings of [{ before }, { before, output }])
    assert.deepEqual(await bench.compact('x.jsonl', settings), {
      ok: false,
      error: { kind: 'too-recent', file: 'x.jsonl' },
    });
  assert.equal(bench.read('x.jsonl').toString(), SESSION);
  assert.throws(() => bench.read('y.jsonl'), /ENOENT/);
  reportOf(await bench.compact('x.jsonl', { output, before: new Date(LAST_SAID_MS + 1) }));
  assert.ok(bench.read('y.jsonl').length < SESSION.length);
});
