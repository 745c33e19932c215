import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { ScoreReport, ScoreRow } from '../../../src/app/contract/reports.ts';
import {
  explainTerms,
  findMessages,
  renderExplained,
  renderMessage,
  scoreJson,
  type ScoreRendering,
  selectExplained,
} from '../../../src/cli/render/score.ts';
import { textWidth } from '../../../src/cli/render/text.ts';
import { loadTheme, PLAIN_THEME } from '../../../src/cli/render/theme.ts';
import { scoreReport } from '../fake-reports.ts';

function rendering(changes: Partial<ScoreRendering> = {}): Omit<ScoreRendering, 'sort'> {
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
  const text = renderExplained(scoreReport({ messages }), rendering()).join(' ');
  assert.match(text, /Everything older than the recent part goes, whatever its importance\. With --target N, only/);
});

test('a strip shows the conversation; then come the most important messages with their reasons, and the border', () => {
  assert.deepEqual(renderExplained(explained(), rendering()), [
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
    const lines = renderExplained(longReport(5000), rendering({ widthColumns, limit: 3 }));
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
  const lines = renderExplained(longReport(60), rendering({ widthColumns: Number.POSITIVE_INFINITY, limit: 1 }));
  const at = lines.indexOf('The 1 most important:');
  assert.deepEqual(
    lines.slice(at + 1, at + 3).map((line) => line.slice(0, 20).trim()),
    ['6 going  user,', '日本語 \\x'],
  );
});

test('colors add nothing that the signs do not say', async () => {
  const painted = renderExplained(explained(), rendering({ theme: await loadTheme(true) }));
  assert.deepEqual(painted.map(stripVTControlCharacters), renderExplained(explained(), rendering()));
});

test('a conversation without messages or with scores of zero is drawn too', () => {
  assert.deepEqual(renderExplained(scoreReport({ messages: [] }), rendering()), [
    'talk.jsonl: 0 messages, 0 tokens (chat-lines)',
  ]);
  const zero = scoreReport({
    messages: scoreReport().messages.map((row) => ({ ...row, score: 0, tokens: 0, terms: [] })),
  });
  const lines = renderExplained(zero, rendering());
  assert.deepEqual(lines.slice(1, 3), ['tokens     ▁▁▁', 'importance ···']);
  assert.match(lines.join('\n'), /line:1: nothing in it counts/);
});

test('texts are read for the rows that are shown: the highest, and those at the border', () => {
  const rows = longReport(200).messages;
  const shown = selectExplained(rows, 2).map(({ line }) => line);
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
  assert.deepEqual(findMessages(rows, 'abcdef-1'), [rows[1]]);
  assert.deepEqual(findMessages(rows, 'line:3'), [rows[2]]);
  assert.deepEqual(findMessages(rows, 'abcdef'), rows);
  assert.deepEqual(findMessages(rows, 'abc'), []);
  assert.deepEqual(findMessages(rows, 'line:9'), []);
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
