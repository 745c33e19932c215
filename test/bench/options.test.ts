import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOptions, SECTIONS } from './options.ts';

const valueOf = (...argv: readonly string[]) => {
  const parsed = parseOptions(argv);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.error);
  return parsed.value;
};

const errorOf = (...argv: readonly string[]): string => {
  const parsed = parseOptions(argv);
  return parsed.ok ? 'no error' : parsed.error;
};

test('without options everything is measured, up to 100 MB', () => {
  assert.deepEqual(valueOf(), {
    isQuick: false,
    isJson: false,
    only: SECTIONS,
    claudeCodeMb: [10, 100],
    chatMb: [10, 100],
    files: [10, 2000],
    messages: [20_000],
    peers: null,
  });
});

test('--quick measures the same sections on smaller input, unless a size is given', () => {
  const { only, claudeCodeMb, chatMb, isQuick } = valueOf('--quick', '--chat-mb', '2');
  assert.deepEqual(
    { only, claudeCodeMb, chatMb, isQuick },
    { only: SECTIONS, claudeCodeMb: [3, 10], chatMb: [2], isQuick: true },
  );
});

test('sizes are sorted, so that growth is from the smallest to the largest', () => {
  const { claudeCodeMb, files } = valueOf('--mb', '4000,10,1000', '--files', '50000,10');
  assert.deepEqual(
    [claudeCodeMb, files],
    [
      [10, 1000, 4000],
      [10, 50_000],
    ],
  );
});

test('--only keeps the order in which sections are measured', () => {
  assert.deepEqual(valueOf('--only', 'peers,start').only, ['start', 'peers']);
});

test('an argument that makes no sense is named', () => {
  assert.match(errorOf('--only', 'speed'), /^--only: there is no speed; there are start, files,/);
  assert.equal(errorOf('--mb', '10,-1'), '--mb needs numbers above 0, separated by commas, not "10,-1"');
  assert.equal(errorOf('--files', '1.5'), '--files needs whole numbers above 0, separated by commas, not "1.5"');
  assert.match(errorOf('--messages', ''), /^--messages needs whole numbers/);
  assert.match(errorOf('--fast'), /--fast/);
});
