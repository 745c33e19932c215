import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderShown } from '../../../src/cli/commands/show.ts';
import { PLAIN_THEME } from '../../../src/cli/render/theme.ts';
import { shownBatch, shownCompaction, shownMessage } from '../archive-reports.ts';

test('a batch is shown as one text, below what it is and what it was made from', () => {
  assert.deepEqual(renderShown(shownBatch(), PLAIN_THEME), [
    'compaction-batch-c1-x',
    '  batch:2, made by cycle 2 of conversation c1',
    '  from /logs/talk.jsonl (chat-lines), archived 2026-03-03T00:00:00.000Z',
    '  made from 57 messages (1 to 57 of the conversation)',
    '',
    '[depth:0|start:2026-03-02T09:00:00.000Z|end:|count:57]',
    'They chose',
    '    the boat.',
  ]);
});

test('a merged batch names its sources, and a replaced one its successor', () => {
  const source = { label: 'first', depth: 0, start: null, end: null, count: 1 };
  const lines = renderShown(shownBatch({ sources: [source], replacedBy: ['later'], isLive: false }), PLAIN_THEME);
  assert.deepEqual(lines.slice(3, 6), ['  made from', '    first (depth 0, 1 message)', '  replaced by later']);
});

test('a batch that no clip-archive refers to is shown as such', () => {
  const lines = renderShown(shownBatch({ indices: null, isLive: false }), PLAIN_THEME);
  assert.deepEqual(lines.slice(3, 5), ['  made from 57 messages', '  no clip-archive refers to it any more']);
});

test('a message is shown with who said it, when and where', () => {
  assert.deepEqual(renderShown(shownMessage({ text: 'Which\u001b[2J\r\nboat?' }), PLAIN_THEME), [
    'message:7  m-7',
    '  user ada, 2026-03-02T09:14:30.000Z, message 6, conversation c1',
    '  from line 8 of /logs/talk.jsonl (chat-lines), archived 2026-03-03T00:00:00.000Z',
    '  summarized in compaction-batch-c1-x',
    '',
    'Which\\x1b[2J',
    'boat?',
  ]);
});

test('a line of which little is known is shown all the same', () => {
  const bare = { id: null, role: null, name: null, at: null, index: null, conversation: null, label: null, text: '' };
  const lines = renderShown(shownMessage(bare), PLAIN_THEME);
  assert.deepEqual(
    [lines[0], lines[1], lines.at(-1)],
    ['message:7', '  no message', '(no text; --messages gives the line as it is)'],
  );
});

test('a compaction is shown with what left and the summaries that stand for it', () => {
  assert.deepEqual(renderShown(shownCompaction(), PLAIN_THEME), [
    '0123456789ab',
    '  a compaction of /logs/talk.jsonl (chat-lines), archived 2026-03-03T00:00:00.000Z',
    '  conversation c1, cycle 2',
    '  50 of 57 lines left the transcript (--messages gives them)',
    '',
    'first (depth 1, 20 messages)',
  ]);
});
