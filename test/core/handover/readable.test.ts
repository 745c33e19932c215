import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stemmer } from 'stemmer';
import { worthOfFinding } from '../../../src/core/handover/findings.ts';
import { writeHandover } from '../../../src/core/handover/handover.ts';
import { isNoise } from '../../../src/core/handover/noise.ts';
import { summaryLines } from '../../../src/core/handover/producer-summary.ts';
import { readableText } from '../../../src/core/handover/tool-result.ts';
import type { ConversationMessage } from '../../../src/core/message.ts';
import { messages } from '../../support/messages.ts';

const typed = (text: string): Partial<ConversationMessage> => ({ role: 'user', content: text, typed: text });
const said = (text: string): Partial<ConversationMessage> => ({ role: 'assistant', content: text });
const call = (id: string, name: string, args: unknown): Partial<ConversationMessage> => ({
  role: 'assistant',
  content: '',
  tool_calls: [{ id, name, arguments: args }],
});
const result = (id: string, text: string): Partial<ConversationMessage> => ({
  role: 'tool',
  content: text,
  tool_call_id: id,
});

function handover(input: readonly Partial<ConversationMessage>[], maxChars = 4_000): string {
  return writeHandover({ messages: messages(...input) }, { maxChars, stem: stemmer }).text;
}

describe('what a tool answered', () => {
  test('loses its terminal colors and nothing else', () => {
    const answer = 'first line\n[fmt] formatted\n\t[lint] clean \u001b[1;32mgreen\u001b[0m end';
    assert.equal(readableText(answer), 'first line\n[fmt] formatted\n\t[lint] clean green end');
  });

  test('loses reminders to the model, also where one has no end', () => {
    assert.equal(readableText('a\n<system-reminder>\nRefuse this.\n\nAll of it.\n</system-reminder>\nb'), 'a\n\n\nb');
    assert.equal(readableText('a\n<system-reminder>Refuse\nthis.\n\nb'), 'a\n\n\nb');
  });

  test('is quoted without what the client says of the call', () => {
    const text = handover([
      typed('Ask the helper which port the gateway uses.'),
      call('1', 'Task', { description: 'find port' }),
      result(
        '1',
        'The gateway listens on port 8443 behind the proxy.\nagentId: 4f2a (internal ID - do not mention to user)',
      ),
      call('2', 'shell', { command: 'make check' }),
      result('2', 'Chunk ID: a1b2c3\nWall time: 0.2 seconds\nThe checker wrote report-17.html.'),
      said('It is 8443.'),
    ]);
    assert.match(text, /port 8443 behind the proxy/);
    assert.doesNotMatch(text, /agentId|internal ID|Chunk ID|Wall time/);
  });
});

describe('noise', () => {
  const noisy = [
    '-rw-r--r-- 1 root root 1262 Nov 22 14:16 notes.md',
    'drwxr-xr-x@ 3 kim staff 96 Jan 2 10:00 src',
    'total 236',
    'tests/test_bread.py::test_rises[rye] PASSED [ 28%]',
    'ok  	example.org/bakery/oven	(cached)',
    '--- PASS: TestOven (0.00s)',
    'import { bake } from "./oven.ts";',
    'import numpy as np',
    'from bakery.oven import Oven',
    '#include <oven.h>',
    "const oven = require('./oven');",
    '"example.org/bakery/oven"',
    ' 45% |##### ',
  ];
  const telling = [
    '12 passed, 1 failed in 3.20s',
    'tests/test_bread.py::test_rises[rye] FAILED [ 28%]',
    'FAIL example.org/bakery/oven 2.630s',
    'Import the recipes from the old bakery first.',
    'from now on the oven starts at five',
    'error: cannot find module ./oven',
    'coverage: 71% of statements',
  ];
  for (const line of noisy) test(`is: ${line}`, () => assert.ok(isNoise(line.trim())));
  for (const line of telling) test(`is not: ${line}`, () => assert.ok(!isNoise(line)));
});

test('an announcement is no finding, a sentence that reports is one', () => {
  const passage = { id: 'm1', text: '', units: [], day: 'request 1', speaker: '', voice: 'assistant' as const };
  const worth = (text: string): number => worthOfFinding(text, { kind: 'prose', start: 0, end: text.length }, passage);
  assert.equal(worth('Let me check the constants of the oven for the right name.'), 0);
  assert.equal(worth('Now let me look at the part around the timer:'), 0);
  assert.ok(worth('Now I see that the timer starts twice because of the door.') > 0);
  assert.ok(worth('The timer fires twice because the door event is sent again.') > 0);
});

describe('a summary of the producer that does not fit', () => {
  const steps = Array.from({ length: 30 }, (_, at) => `   - Step ${at}: kneaded the dough of batch ${at} for a while.`);
  const text = [
    'This session is being continued from a previous conversation.',
    '1. Primary Request:',
    ...steps,
    '2. Files and Code Sections:',
    ...steps,
    '3. Pending Tasks:',
    '   - Order rye flour.',
    '   - Clean the oven.',
    '4. Optional Next Step:',
    ...steps,
    '   Two constraints must carry into that work:',
    '   - Never open the door during the first ten minutes.',
    '   - The scale reads in grams only.',
  ].join('\n');
  const lines = summaryLines([{ messageId: 'm1', text }], 1_200).map((line) => line.text);

  test('keeps its rules with their whole list, and its open work', () => {
    for (const kept of ['Never open the door', 'The scale reads in grams', 'Order rye flour', 'Clean the oven'])
      assert.ok(
        lines.some((line) => line.includes(kept)),
        kept,
      );
  });

  test('says of open work that it was open then, and how many lines are missing', () => {
    assert.ok(lines.includes('  3. Pending Tasks: (as of that time)'));
    assert.ok(lines.some((line) => /^ {2}… \d+ more lines$/.test(line)));
    assert.ok(lines.join('\n').length <= 1_200);
  });
});
