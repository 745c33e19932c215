import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { parseTime } from '../../../../src/adapters/transcript/chat-lines/decode.ts';
import type { Json } from '../../../../src/ports/codec.ts';

const iso = (value: Json): string | undefined => parseTime(value)?.toISOString();

suite('a time', () => {
  test('in ISO 8601, with an offset in any of its spellings', () => {
    for (const text of [
      '2031-01-02T10:00:00Z',
      '2031-01-02T10:00:00.000Z',
      '2031-01-02T10:00:00.000999z',
      '2031-01-02T12:00:00+02:00',
      '2031-01-02T12:00:00+0200',
      '2031-01-02 12:00:00+02',
      '2031-01-02 08:30:00-01:30',
      ' 2031-01-02 10:00 ',
    ]) {
      assert.equal(iso(text), '2031-01-02T10:00:00.000Z', text);
    }
  });

  test('without an offset is UTC, on every machine', () => {
    assert.equal(iso('2031-01-02T10:00:00.5'), '2031-01-02T10:00:00.500Z');
    assert.equal(iso('2031-01-02'), '2031-01-02T00:00:00.000Z');
  });

  test('is a number of seconds or of milliseconds', () => {
    assert.equal(iso(1930000000), iso(1930000000000));
    assert.equal(iso(0.5), '1970-01-01T00:00:00.500Z');
  });

  test('is nothing else', () => {
    for (const value of ['yesterday', '2031-13-02T10:00:00Z', '10:00', '', null, true, [1], {}, Infinity, 1e17]) {
      assert.equal(iso(value), undefined, JSON.stringify(value));
    }
  });
});
