import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RetentionReport } from '../../../src/app/contract/reports.ts';
import { factRows } from '../../../src/cli/render/compact.ts';
import { compactReport } from '../fake-reports.ts';

type Batch = RetentionReport['batches'][number];

function rowsOf(...batches: readonly Omit<Batch, 'label'>[]): readonly string[] {
  const retention: RetentionReport = {
    kept: batches.reduce((sum, { kept }) => sum + kept, 0),
    total: batches.reduce((sum, { total }) => sum + total, 0),
    batches: batches.map((batch) => ({ label: 'l', ...batch })),
  };
  return factRows(compactReport({ retention }), 60);
}

test('one batch is a line with the first of what is lost', () => {
  const lost = ['a.ts', 'b.ts', 'port 80', 'd', 'e'];
  assert.deepEqual(rowsOf({ kept: 41, total: 52, lost }), ['  facts     41 of 52 kept; lost: a.ts, b.ts and 9 more']);
  assert.deepEqual(rowsOf({ kept: 5, total: 5, lost: [] }), ['  facts     5 of 5 kept']);
  assert.deepEqual(rowsOf({ kept: 4, total: 5, lost: ['a.ts'] }), ['  facts     4 of 5 kept; lost: a.ts']);
});

test('of several batches each that lost any has its line', () => {
  const rows = rowsOf(
    { kept: 9, total: 10, lost: ['x'] },
    { kept: 3, total: 3, lost: [] },
    { kept: 0, total: 2, lost: ['y', 'z'] },
  );
  assert.deepEqual(rows, [
    '  facts     12 of 15 kept in 3 batches',
    '            1: 9 of 10 kept; lost: x',
    '            3: 0 of 2 kept; lost: y, z',
  ]);
});

test('many batches do not fill the screen', () => {
  const rows = rowsOf(...Array.from({ length: 30 }, () => ({ kept: 0, total: 1, lost: ['x'] })));
  assert.deepEqual([rows.length, rows.at(-1)], [10, '            … and 22 more; --json lists them all']);
});

test('a fact is shown safely, and a long one is cut so that the line keeps to sixty columns', () => {
  const [row = ''] = rowsOf({ kept: 1, total: 9, lost: ['\u001b[2J/a/very/long/path/to/some/where.ts', 'b'] });
  assert.equal(row, '  facts     1 of 9 kept; lost: \\x1b[2J/a/very/lo… and 7 more');
  assert.equal(row.length, 60);
});

test('without an audit, or without facts, nothing is shown', () => {
  assert.deepEqual(factRows(compactReport(), 60), []);
  assert.deepEqual(rowsOf({ kept: 0, total: 0, lost: [] }), []);
});
