import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFigure, createMissingFigure, formatGoal, formatNumber, judge, renderGroup } from './figures.ts';
import { compareCosts } from './measure/growth.ts';
import { ROWS, scaleGoal } from './rows.ts';

const atMost = (limit: number) => ({ kind: 'at-most', limit }) as const;
const atLeast = (limit: number) => ({ kind: 'at-least', limit }) as const;

test('a goal that is an upper limit is met up to that limit', () => {
  assert.deepEqual(
    [1.9, 2, 2.01].map((measured) => judge(measured, atMost(2))),
    ['met', 'met', 'missed'],
  );
});

test('a goal that is a lower limit is met from that limit on', () => {
  assert.deepEqual(
    [1.69, 1.7, 2].map((measured) => judge(measured, atLeast(1.7))),
    ['missed', 'met', 'met'],
  );
});

test('a value without a goal is not judged, and neither is one that is no number', () => {
  assert.equal(judge(5, null), 'no goal');
  assert.equal(judge(Number.NaN, atMost(2)), 'not measured');
  assert.equal(judge(Infinity, atLeast(2)), 'not measured');
});

test('a figure takes name, unit and goal from its row', () => {
  assert.deepEqual(
    createFigure('claude-code.score', { group: '100 MB', measured: 3, byCpu: 2.5, wallMs: 60, cpuMs: 50 }),
    {
      row: 'claude-code.score',
      group: '100 MB',
      name: 'score',
      measured: 3,
      byCpu: 2.5,
      unit: '× bare loop',
      goal: atMost(2),
      verdict: 'missed',
      wallMs: 60,
      cpuMs: 50,
      note: '',
    },
  );
});

test('a goal for input of another size replaces the goal of the row', () => {
  assert.equal(createFigure('search.words', { group: '', measured: 200, goal: atMost(300) }).verdict, 'met');
  assert.equal(createFigure('search.words', { group: '', measured: 200, goal: null }).verdict, 'no goal');
  assert.deepEqual(scaleGoal(atMost(8), 0.25), atMost(2));
  assert.equal(scaleGoal(null, 0.25), null);
});

test('a figure that could not be measured says why', () => {
  const figure = createMissingFigure('peer.jq', 'peers', 'not installed');
  assert.deepEqual([figure.measured, figure.verdict, figure.note], [null, 'not measured', 'not installed']);
});

test('every goal is a positive number, and only other programs have none', () => {
  for (const [id, { goal }] of Object.entries(ROWS)) {
    if (id.startsWith('peer.')) assert.equal(goal, null);
    else assert.ok(goal !== null && goal.limit > 0, id);
  }
});

test('numbers have three digits, and a goal shows which way it goes', () => {
  assert.deepEqual([0.3519, 2, 17.26, 99.96, 421.4, 50_000].map(formatNumber), [
    '0.352',
    '2',
    '17.3',
    '100',
    '421',
    '50,000',
  ]);
  assert.deepEqual([atMost(1.3), atLeast(1.7), null].map(formatGoal), ['≤ 1.3', '≥ 1.7', '']);
});

test('the table aligns its columns and stresses a missed goal', () => {
  const figures = [
    createFigure('claude-code.score', { group: '100 MB', measured: 6.5, byCpu: 7, note: '88 MB/s' }),
    createFigure('peak.score', { group: '100 MB', measured: 120 }),
    createMissingFigure('peer.jq', '100 MB', 'not installed'),
  ];
  assert.equal(
    renderGroup(figures),
    [
      '100 MB',
      '                       measured  by CPU                goal',
      '  score                     6.5       7  × bare loop   ≤ 2    MISSED        88 MB/s',
      '  score, peak memory        120          MB over Node  ≤ 150  met',
      "  jq -s '.[-1000:][]'         –          × bare loop          not measured  not installed",
    ].join('\n'),
  );
});

test('the cost of a unit leaves out what every run costs', () => {
  const fixed = { wallMs: 100, cpuMs: 80 };
  const small = { size: 10, wallMs: 200, cpuMs: 180 };
  const large = { size: 100, wallMs: 1100, cpuMs: 2080 };
  assert.deepEqual(compareCosts(small, large, fixed), { measured: 1, byCpu: 2, wallMs: 1100, cpuMs: 2080 });
});
