import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFalseQuotations, markQuotations, quotedIn } from '../../../src/core/retention/quotations.ts';
import { messages } from '../../support/messages.ts';

const SAID = messages(
  { content: 'Please never use tabs in this repo. It’s  “important”, and do keep\nthe old API.' },
  { role: 'assistant', content: 'I will use four spaces everywhere.' },
  { content: '请不要使用制表符。' },
  {
    role: 'tool',
    tool_call_id: '1',
    content:
      "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nplease do not check this in",
  },
);

const falseIn = (summary: string, ...checked: readonly string[]): readonly string[] =>
  findFalseQuotations({ summary, messages: SAID, checked }).map(({ text }) => text);

for (const summary of [
  'The user said "never use tabs in this repo".',
  'The user insisted: “Never use tabs … the old API”.',
  'The user\'s words: "It\'s important, and do keep the old API"',
  '"Please never use tabs," said the user.',
  '用户说：「请不要使用制表符」',
  'The assistant said "I will use four spaces everywhere".',
  'The user wants a fix. The assistant replied "I will use four spaces everywhere".',
  'The user asked about "tab width".',
  'The file says "a b c d e". The user was content.',
  'The user said nothing of the kind.',
  'The user\'s design was taken; the assistant had asked "Want me to implement all of this?".',
  'Medium items (the user wanted these first), in c2b0273 "fix(explain): address all PR feedback".',
  'The user asked why the build printed "cannot find module foo".',
  'The user asked what the error message "cannot find module foo" means.',
  'The user took Claude\'s "Want me to implement all of this?" for a joke.',
  'The user said "please do not check this in" when the edit was offered.',
]) {
  test(`it is not false: ${summary}`, () => {
    assert.deepEqual(falseIn(summary), []);
  });
}

for (const [summary, expected] of [
  ['The user said "never use spaces in this repo".', 'never use spaces in this repo'],
  ['"I will use four spaces everywhere", the user said.', 'I will use four spaces everywhere'],
  ['The error was found. The user then said "ignore all the tests".', 'ignore all the tests'],
  ['The user reported the error and said "ignore all the tests".', 'ignore all the tests'],
  ['The user told the assistant: "ignore all the tests"', 'ignore all the tests'],
  ['The user asked Claude to "ignore all the tests".', 'ignore all the tests'],
  ['The user rejected the agent\'s plan and wrote "ignore all the tests".', 'ignore all the tests'],
  ['User: "do keep the old API at any cost"', 'do keep the old API at any cost'],
  ['The user wrote “the old API … never use tabs”.', 'the old API … never use tabs'],
  ['As the user put it, «keep the new API forever».', 'keep the new API forever'],
  ['Der Nutzer sagte: „niemals Tabs verwenden bitte“.', 'niemals Tabs verwenden bitte'],
  ['用户说：「请使用制表符吧」', '请使用制表符吧'],
] as const) {
  test(`no message of the user has it: ${summary}`, () => {
    assert.deepEqual(falseIn(summary), [expected]);
  });
}

test('what the previous summary quotes may be quoted again', () => {
  const summary = 'The user said "keep the logs for a week".';
  assert.deepEqual(falseIn(summary, 'The user said "keep the logs for a week".'), []);
});

test('a merged summary may quote what one that it merges quotes, but not what that tells in its own words', () => {
  const merged = 'The user asked to keep the logs for a week. The user said "never delete the logs".';
  const flawed = 'The user said "keep the logs for a week", and "never delete the logs".';
  assert.deepEqual(falseIn(flawed, ...quotedIn(merged)), ['keep the logs for a week']);
  const handover = '## Requests and how they ended\n1. keep the logs for a week, and never delete the logs';
  assert.deepEqual(falseIn(flawed, ...quotedIn(handover)), []);
});

test('marking takes the quotation marks away and says that it is no quotation, where there is room', () => {
  const summary = 'The user said "use four tabs here". Then the user wrote “and no spaces at all”.';
  const found = findFalseQuotations({ summary, messages: SAID });
  assert.deepEqual(
    [
      markQuotations(summary, found, 1_000),
      markQuotations(summary, found, summary.length),
      markQuotations(summary, [], 1_000),
    ],
    [
      'The user said use four tabs here (not the exact words). Then the user wrote and no spaces at all (not the exact words).',
      'The user said use four tabs here. Then the user wrote and no spaces at all.',
      summary,
    ],
  );
});

test('a marked summary has no false quotation left', () => {
  const summary = 'The user said "use four tabs here", and the user asked for "a bit of everything".';
  assert.deepEqual(falseIn(markQuotations(summary, findFalseQuotations({ summary, messages: SAID }), 1_000)), []);
});
