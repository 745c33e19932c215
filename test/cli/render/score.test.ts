import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNamed } from '../../../src/core/message.ts';
import { stripVTControlCharacters } from 'node:util';
import * as fc from 'fast-check';
import type { ScoreReport, ScoreRow } from '../../../src/app/contract/reports.ts';
import {
  explainTerms,
  renderExplained,
  renderMessage,
  renderScoreReport,
  scoreJson,
  type ScoreRendering,
  selectRows,
  withBorders,
} from '../../../src/cli/render/score.ts';
import { textWidth } from '../../../src/messages/text.ts';
import { loadTheme, PLAIN_THEME } from '../../../src/cli/render/theme.ts';
import { scoreReport } from '../fake-reports.ts';

function rendering(changes: Partial<ScoreRendering> = {}): ScoreRendering {
  return { theme: PLAIN_THEME, widthColumns: 60, sort: 'score', limit: null, ...changes };
}

/** Each message says its name. */
function talkative(): ScoreReport {
  return scoreReport({ messages: scoreReport().messages.map((row) => ({ ...row, excerpt: `I am ${row.id}` })) });
}

test('the ranking shows the line, score, a bar as long as the score, role, outcome and first words', () => {
  assert.deepEqual(renderScoreReport(talkative(), rendering()), [
    'talk.jsonl: 3 messages (chat-lines)',
    'line score              role outcome    message',
    '   2 10.00 ████████████ asst quoted     I am m-1',
    '   3  5.00 ██████       tool kept       I am m-2',
    '   1  4.00 █████        user summarized I am m-0',
    '1 kept, 1 quoted word for word, 1 go into the summary',
  ]);
});

test('ids are listed if more details are asked for', () => {
  const lines = renderScoreReport(talkative(), rendering({ widthColumns: 80, isVerbose: true }));
  assert.match(lines[2] ?? '', /quoted +m-1 I am m-1$/);
});

test('below the highest stand the messages at the border, and how to see all', () => {
  const report = longReport(200);
  const lines = renderScoreReport(report, rendering({ limit: 20, hasBorder: true, widthColumns: 100 }));
  const at = lines.indexOf('The last message that leaves, and the first of the recent part:');
  assert.equal(at, 22);
  assert.deepEqual(
    lines.slice(at + 1, at + 3).map((line) => line.trim().split(' ')[0]),
    ['150', '151'],
  );
  assert.equal(lines.at(-1), '--all lists every message; --explain says why.');
});

test('for a format that is never compacted, the last line says why', () => {
  const messages = scoreReport().messages.map((row) => ({ ...row, outcome: 'kept' as const }));
  const report = scoreReport({ messages, whyReadOnly: 'its program appends to it' });
  const lines = renderScoreReport(report, rendering());
  assert.equal(lines.at(-1), 'This format is not compacted: its program appends to it.');
  assert.doesNotMatch(lines.join('\n'), /summar/);
});

test('sorted by position the rows stand as in the file', () => {
  const lines = renderScoreReport(talkative(), rendering({ sort: 'position', limit: 2 }));
  assert.deepEqual(
    lines.map((line) => line.replaceAll(/ +/g, ' ')),
    [
      'talk.jsonl: 3 messages, 2 shown (chat-lines)',
      'line score role outcome message',
      ' 1 4.00 █████ user summarized I am m-0',
      ' 2 10.00 ████████████ asst quoted I am m-1',
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
    const places = lines.filter((line) => /^ +[123] +\d+\.\d/.test(line));
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
  assert.match(renderScoreReport(zero, rendering())[2] ?? '', /^ {3}1 {2}0\.00 +user/);
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

function explaining(changes: Partial<ScoreRendering> = {}): Omit<ScoreRendering, 'sort'> {
  return { theme: PLAIN_THEME, widthColumns: 60, limit: 20, ...changes };
}

/** The report of the fakes, in which every message has an excerpt. */
function explained(): ScoreReport {
  const texts = ['Can you mend the build?', 'Bash {"command":"npm test"} error: fix the parser', '(no text)'];
  const { messages } = scoreReport();
  return scoreReport({ messages: messages.map((row, at) => ({ ...row, excerpt: texts[at] ?? '' })) });
}

/** As many messages as a session has; every tenth is quoted, and the last fifty are kept. */
function longReport(count: number): ScoreReport {
  const [first] = scoreReport().messages;
  const messages = Array.from({ length: count }, (_, index): ScoreRow => {
    const outcome = index >= count - 50 ? 'kept' : index % 10 === 0 ? 'quoted' : 'summarized';
    const because = outcome === 'kept' ? 'recent' : outcome === 'quoted' ? 'target' : 'below-target';
    const excerpt = `日本語 \u001b[31m${'words '.repeat(9)}`;
    return {
      ...(first as ScoreRow),
      index,
      id: `m-${index}`,
      line: index + 1,
      score: index % 7,
      outcome,
      because,
      excerpt,
    };
  });
  return scoreReport({ messages });
}

test('without a target, the most important messages go too, and it says so', () => {
  const messages = explained().messages.map((row, at) => (at === 0 ? { ...row, because: 'older' as const } : row));
  const text = renderExplained(scoreReport({ messages }), explaining()).join(' ');
  assert.match(text, /Everything older than the recent part goes, whatever its importance\. With --target N, only/);
});

test('a strip shows the conversation; then come the most important messages with their reasons, and the border', () => {
  assert.deepEqual(renderExplained(explained(), explaining()), [
    'talk.jsonl: 3 messages, 460 tokens (chat-lines)',
    'tokens     ▅█▄',
    'importance ▒█▒',
    'outcome    -"=',
    '= kept, " word for word, - going; each cell is a message',
    '1 kept, 1 quoted word for word, 1 go into the summary',
    'All messages, the most important first:',
    '    10 quoted assistant, line:2: tool call +4, role +3,',
    '              words: error, fix +3',
    '              Bash {"command":"npm test"} error: fix the',
    '              parser',
    '     5 kept   tool, line:3: role +5',
    '              (no text)',
    '     4 going  user, line:1: question +2, role +1, length +1',
    '              Can you mend the build?',
    'The last message that leaves, and the first of the recent part:',
    '    10 quoted assistant, line:2: tool call +4, role +3,',
    '              words: error, fix +3',
    '              Bash {"command":"npm test"} error: fix the',
    '              parser',
    '     5 kept   tool, line:3: role +5',
    '              (no text)',
    'The least important message that --target keeps, and the most important that it does not:',
    '    10 quoted assistant, line:2: tool call +4, role +3,',
    '              words: error, fix +3',
    '              Bash {"command":"npm test"} error: fix the',
    '              parser',
    '     4 going  user, line:1: question +2, role +1, length +1',
    '              Can you mend the build?',
  ]);
});

for (const widthColumns of [60, 80, 120]) {
  test(`in ${widthColumns} columns a long session is one strip, and no row of it is wider`, () => {
    const lines = renderExplained(longReport(5000), explaining({ widthColumns, limit: 3 }));
    const strip = lines.filter((line) => /^(tokens|importance|outcome) /.test(line));
    assert.deepEqual(strip.map(textWidth), Array(3).fill(Math.min(111, widthColumns)));
    const entries = lines.filter((line) => /^ {2}/.test(line));
    assert.deepEqual(
      entries.filter((line) => textWidth(line) > widthColumns || /\p{Cc}/u.test(line)),
      [],
    );
  });
}

test('where there is no terminal, an entry is not wrapped', () => {
  const lines = renderExplained(longReport(60), explaining({ widthColumns: Number.POSITIVE_INFINITY, limit: 1 }));
  const at = lines.indexOf('The 1 most important:');
  assert.deepEqual(
    lines.slice(at + 1, at + 3).map((line) => line.slice(0, 20).trim()),
    ['6 going  user,', '日本語 \\x'],
  );
});

test('colors add nothing that the signs do not say', async () => {
  const painted = renderExplained(explained(), explaining({ theme: await loadTheme(true) }));
  assert.deepEqual(painted.map(stripVTControlCharacters), renderExplained(explained(), explaining()));
});

test('a conversation without messages or with scores of zero is drawn too', () => {
  assert.deepEqual(renderExplained(scoreReport({ messages: [] }), explaining()), [
    'talk.jsonl: 0 messages, 0 tokens (chat-lines)',
  ]);
  const zero = scoreReport({
    messages: scoreReport().messages.map((row) => ({ ...row, score: 0, tokens: 0, terms: [] })),
  });
  const lines = renderExplained(zero, explaining());
  assert.deepEqual(lines.slice(1, 3), ['tokens     ▁▁▁', 'importance ···']);
  assert.match(lines.join('\n'), /line:1: nothing in it counts/);
});

test('texts are read for the rows that are shown: the highest, and those at the border', () => {
  const rows = longReport(200).messages;
  const highest = selectRows(rows, { sort: 'score', limit: 2 });
  const shown = withBorders(highest, rows).map(({ line }) => line);
  assert.deepEqual(shown, [7, 14, 150, 151, 1, 7]);
});

test('a reason names what adds most first, with all words together', () => {
  const terms = [
    { name: 'role', value: 0.001 },
    { name: 'keyword:error', value: 1.5 },
    { name: 'tool call', value: 4 },
    { name: 'keyword:fix', value: 1.5 },
    { name: 'length', value: 0.456 },
  ];
  assert.equal(explainTerms(terms), 'tool call +4, words: error, fix +3, length +0.5');
});

test('a message is explained: place, rank, factors, what decided, and where it can be read again', () => {
  const report = explained();
  const [row] = report.messages;
  assert.ok(row);
  const place = { theme: PLAIN_THEME, widthColumns: 80, show: 'compact show' };
  assert.deepEqual(renderMessage(report, { ...row, groupScore: 10 }, place), [
    'm-0: user, message 1 of 3, line 1 of talk.jsonl',
    'Can you mend the build?',
    'Importance 4, rank 3 of 3:',
    '     +1 who speaks, and how recently',
    '     +2 it asks something',
    '     +1 its length',
    'It goes into the summary: the target has room only for what is more important,',
    'and for the latest requests. A call and its results count as one: the best of',
    'them has 10.',
    'It is still in this file. Once it has left, read it with: compact show m-0',
  ]);
});

test('a message is found by its id, the beginning of it, or its line', () => {
  const rows = scoreReport().messages.map((row, at) => ({ ...row, id: `abcdef-${at}` }));
  assert.deepEqual(findNamed(rows, 'abcdef-1'), [rows[1]]);
  assert.deepEqual(findNamed(rows, 'line:3'), [rows[2]]);
  assert.deepEqual(findNamed(rows, 'abcdef'), rows);
  assert.deepEqual(findNamed(rows, 'abcde'), []);
  assert.deepEqual(findNamed(rows, 'line:9'), []);
});

test('numbers in JSON have at most four digits', () => {
  const messages = scoreReport().messages.map((row) => ({
    ...row,
    score: 12.345678,
    terms: [{ name: 'role', value: 0.00123456 }],
  }));
  const { messages: read } = JSON.parse([...scoreJson(scoreReport(), messages)].join('')) as ScoreReport;
  assert.deepEqual(
    read.map(({ score, terms }) => [score, terms[0]?.value]),
    scoreReport().messages.map(() => [12.35, 0.001235]),
  );
});
