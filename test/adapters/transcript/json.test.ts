import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readIsoTime, readMilliseconds, readSeconds, textReader } from '../../../src/adapters/transcript/json.ts';
import type { Json } from '../../../src/ports/codec.ts';
import { findCodec } from '../../support/codecs.ts';

test('an ISO time is read with its offset', () => {
  assert.deepEqual(readIsoTime('2026-03-01T10:00:00.250Z'), new Date('2026-03-01T10:00:00.250Z'));
  assert.deepEqual(readIsoTime('2026-03-01T12:00+02:00'), new Date('2026-03-01T10:00:00Z'));
});

test('text that says no offset, or no time that there is, is no time', () => {
  for (const value of ['2026-03-01T10:00:00', '2026-03-01', '2026-13-41T10:00:00Z', 'now', '', 1772359200000, null]) {
    assert.equal(readIsoTime(value), null);
  }
});

test('numbers are read in the unit that is asked for, and numbers beyond all dates are no time', () => {
  assert.deepEqual(readSeconds(1772359200.25), new Date('2026-03-01T10:00:00.250Z'));
  assert.deepEqual(readMilliseconds(1772359200000), new Date('2026-03-01T10:00:00Z'));
  assert.deepEqual([readSeconds(1e300), readMilliseconds(1e300), readSeconds('1772359200')], [null, null, null]);
});

test('a text is read where the format has it, and nowhere else', () => {
  const read = textReader('data', 'context', 'cwd');
  assert.equal(read({ cwd: '/a', data: { cwd: '/b', context: { cwd: '/work/harbor' } } }), '/work/harbor');
  const without: readonly Json[] = [
    { cwd: '/a', data: { context: {} } },
    { data: [] },
    null,
    7,
    { data: { context: { cwd: 3 } } },
  ];
  for (const record of without) assert.equal(read(record), null);
});

for (const [format, record] of [
  ['claude-code', { type: 'user', cwd: '/work/harbor' }],
  ['codex', { type: 'session_meta', payload: { cwd: '/work/harbor' } }],
  ['pi', { type: 'session', cwd: '/work/harbor' }],
  ['copilot', { type: 'session.start', data: { context: { cwd: '/work/harbor' } } }],
] as const) {
  test(`${format} has the folder that was worked in where its producer writes it`, () => {
    assert.equal(findCodec(format)?.readProject?.(record), '/work/harbor');
  });
}

test('a notice of Claude Code in the place of an answer is from no model', () => {
  const read = findCodec('claude-code')?.readModel;
  assert.equal(read?.({ type: 'assistant', message: { model: 'claude-opus-4-6' } }), 'claude-opus-4-6');
  assert.equal(read?.({ type: 'assistant', message: { model: '<synthetic>' } }), null);
});
