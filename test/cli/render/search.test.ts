import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { renderSearchReport } from '../../../src/cli/commands/search.ts';
import { textWidth } from '../../../src/messages/text.ts';
import { PLAIN_THEME } from '../../../src/cli/render/theme.ts';
import { oddTexts } from '../../support/messages.ts';
import { batchHit, messageHit, searchReport } from '../archive-reports.ts';

const theme = { ...PLAIN_THEME, match: (text: string) => `<${text}>` };
const now = { nowMs: Date.parse('2026-03-05T09:20:00Z'), program: 'compact' };
const plain = { theme, widthColumns: 60, isVerbose: false, ...now };

test('a hit shows who said it, when, in which session, its place, the words found, and what to type next', () => {
  const id = '6b6f1c2e-0000-4000-8000-000000000001';
  const hits = [messageHit(), batchHit({ conversation: id, at: '2026-03-05T08:30:00.000Z' })];
  assert.deepEqual(renderSearchReport(searchReport({ hits }), plain), [
    'message:7  user ada, 2026-03-02 09:14, 3d, Chat lines',
    '  Paint the boat',
    '  /logs/talk.jsonl, message 6',
    '  the green <boat>',
    '  compact show message:7',
    '',
    'batch:2  summary of 57 messages, depth 1, 2026-03-05 08:30,…',
    '  They chose the <boat>.',
    '  compact show batch:2, compact resume 6b6f1c2e',
  ]);
});

test('commands to type next are never cut off', () => {
  const hit = messageHit({ conversation: '6b6f1c2e-0000-4000-8000-000000000001' });
  const shown = (program: string): readonly string[] =>
    renderSearchReport(searchReport({ hits: [hit] }), { ...plain, program }).slice(4);
  const path = 'node /home/ann/compact/compact.js';
  assert.deepEqual(shown(path), [`  ${path} show message:7`, `  ${path} resume 6b6f1c2e`]);
  assert.deepEqual(shown('x'.repeat(46)), []);
});

test('label, conversation and id are shown on demand, each once', () => {
  const report = searchReport({ hits: [messageHit(), batchHit()] });
  const lines = renderSearchReport(report, { ...plain, isVerbose: true });
  assert.deepEqual(
    lines.filter((line) => /^ {2}(c1|m-7|compaction-)/.test(line)),
    ['  compaction-batch-c1-x', '  c1', '  m-7', '  compaction-batch-c1-x', '  c1'],
  );
});

test('a message without a time, a name and a place is shown without them', () => {
  const hit = messageHit({ name: null, at: null, index: null, title: null, text: '', marks: [] });
  assert.deepEqual(renderSearchReport(searchReport({ hits: [hit] }), plain), [
    'message:7  user, Chat lines',
    '  /logs/talk.jsonl',
    '  compact show message:7',
  ]);
});

test('of a long path the end is shown, and a long word is broken', () => {
  const hit = messageHit({
    file: `/logs/${'deep/'.repeat(20)}talk.jsonl`,
    text: 'x'.repeat(70),
    marks: [{ start: 0, end: 70 }],
  });
  const lines = renderSearchReport(searchReport({ hits: [hit] }), plain);
  assert.match(lines[2] ?? '', /^ {2}….*deep\/talk\.jsonl, message 6$/);
  assert.deepEqual(lines.slice(3, -1), [`  <${'x'.repeat(58)}>`, `  <${'x'.repeat(12)}>`]);
});

test('whatever a transcript says, lines are no wider than the screen and nothing is obeyed', () => {
  const hit = fc
    .record({ text: oddTexts, name: oddTexts, file: oddTexts, cut: fc.nat(12) })
    .map(({ text, name, file, cut }) =>
      messageHit({ text, name, file, marks: cut < text.length ? [{ start: cut, end: text.length }] : [] }),
    );
  fc.assert(
    fc.property(fc.array(hit), fc.integer({ min: 40, max: 100 }), (hits, widthColumns) => {
      for (const line of renderSearchReport(searchReport({ hits }), {
        theme: PLAIN_THEME,
        widthColumns,
        isVerbose: false,
        ...now,
      })) {
        assert.ok(textWidth(line) <= widthColumns, line);
        assert.doesNotMatch(line, /[\p{Cc}\p{Cs}]/u);
      }
    }),
  );
});
