import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import * as fc from 'fast-check';
import type { ScoreReport } from '../../../src/app/contract/reports.ts';
import { renderScoreReport, scoreJson, type ScoreRendering, selectRows } from '../../../src/cli/render/score.ts';
import { textWidth } from '../../../src/cli/render/text.ts';
import { loadTheme, PLAIN_THEME } from '../../../src/cli/render/theme.ts';
import { scoreReport } from '../fake-reports.ts';

function rendering(changes: Partial<ScoreRendering> = {}): ScoreRendering {
  return { theme: PLAIN_THEME, widthColumns: 60, sort: 'score', limit: null, ...changes };
}

test('the ranking shows rank, score, a bar as long as the score, role, outcome and id', () => {
  assert.deepEqual(renderScoreReport(scoreReport(), rendering()), [
    'talk.jsonl: 3 messages (chat-lines)',
    '# score              role outcome    id',
    '1 10.00 ████████████ asst quoted     m-1',
    '2  5.00 ██████       tool kept       m-2',
    '3  4.00 █████        user summarized m-0',
    '1 kept, 1 quoted word for word, 1 go into the summary',
  ]);
});

test('for a format that is never compacted, the last line says why', () => {
  const messages = scoreReport().messages.map((row) => ({ ...row, outcome: 'kept' as const }));
  const report = scoreReport({ messages, whyReadOnly: 'its program appends to it' });
  const lines = renderScoreReport(report, rendering());
  assert.equal(lines.at(-1), 'This format is not compacted: its program appends to it.');
  assert.doesNotMatch(lines.join('\n'), /summar/);
});

test('sorted by position the rows stand as in the file, under their index', () => {
  const lines = renderScoreReport(scoreReport(), rendering({ sort: 'position', limit: 2 }));
  assert.deepEqual(
    lines.map((line) => line.replaceAll(/ +/g, ' ')),
    [
      'talk.jsonl: 3 messages, 2 shown (chat-lines)',
      '# score role outcome id',
      '0 4.00 █████ user summarized m-0',
      '1 10.00 ████████████ asst quoted m-1',
      '1 kept, 1 quoted word for word, 1 go into the summary',
    ],
  );
});

test('with a limit come the first rows of the whole ranking, whatever scores are equal', () => {
  const [row] = scoreReport().messages;
  assert.ok(row !== undefined);
  const scores = fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 30 });
  fc.assert(
    fc.property(scores, fc.nat({ max: 40 }), (values, limit) => {
      const rows = values.map((score, index) => ({ ...row, index, score }));
      const all = selectRows(rows, { sort: 'score', limit: null });
      assert.deepEqual(selectRows(rows, { sort: 'score', limit }), all.slice(0, limit));
    }),
  );
});

function oddReport(): ScoreReport {
  const { messages } = scoreReport();
  const ids = ['6f9619ff-8b86-d011-b42d-00cf4fc964ff-and-more', '日本語'.repeat(20), '\u001b[31m\nred'];
  const terms = ['decision', 'agreed', 'constraint', 'requirement', 'error'].map((word) => ({
    name: `keyword:${word}`,
    value: 1.5,
  }));
  return scoreReport({
    messages: messages.map((row, at) => ({ ...row, id: ids[at] ?? '', terms: [...row.terms, ...terms] })),
  });
}

for (const widthColumns of [40, 60, 80, 120, 200]) {
  test(`no line is wider than ${widthColumns} columns, whatever ids and words are`, () => {
    const lines = renderScoreReport(oddReport(), rendering({ widthColumns }));
    assert.deepEqual(
      lines.slice(1).filter((line) => textWidth(line) > widthColumns || /\p{Cc}/u.test(line)),
      [],
    );
    const places = lines.filter((line) => /^[123] +\d+\.\d/.test(line));
    assert.equal(places.length, 3);
    for (const line of places) assert.match(line, /kept|quoted|sum/);
  });
}

test('with color the table is the same but for the paint', async () => {
  const theme = await loadTheme(true);
  const painted = renderScoreReport(scoreReport(), rendering({ theme }));
  const plain = renderScoreReport(scoreReport(), rendering());
  const strip = (line: string) => stripVTControlCharacters(line).trimEnd();
  assert.deepEqual(painted.map(strip), plain);
  assert.notDeepEqual(painted, plain);
});

test('scores of zero and no messages at all are drawn without a division by nothing', () => {
  const zero = scoreReport({ messages: scoreReport().messages.map((row) => ({ ...row, score: 0, terms: [] })) });
  assert.match(renderScoreReport(zero, rendering())[2] ?? '', /^1 0\.00 +asst|^1 {2}0\.00|^1 0\.00 +user/);
  assert.deepEqual(renderScoreReport(scoreReport({ messages: [] }), rendering()), [
    'talk.jsonl: 0 messages (chat-lines)',
    '0 kept, 0 quoted word for word, 0 go into the summary',
  ]);
});

test('equal scores keep the order of the file', () => {
  const rows = scoreReport().messages.map((row) => ({ ...row, score: 1 }));
  assert.deepEqual(selectRows(rows, { sort: 'score', limit: null }), rows);
});

test('the pieces of the JSON are one line that is the report', () => {
  const [row] = scoreReport().messages;
  const messages = Array.from({ length: 1201 }, (_, index) => ({ ...row, index, id: `\u009b${index}` }));
  const report = { ...scoreReport(), messages } as ScoreReport;
  const json = [...scoreJson(report, report.messages)].join('');
  assert.deepEqual(JSON.parse(json), report);
  assert.equal(json.indexOf('\n'), json.length - 1);
  assert.doesNotMatch(json, /\u009b/);
  assert.deepEqual(JSON.parse([...scoreJson(report, [])].join('')), { ...report, messages: [] });
});
