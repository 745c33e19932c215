import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isProducerSummary, isWrittenByProducer } from '../../src/core/producer-texts.ts';

test('the summaries of producers are known by their beginning, and what goes on after one is no request', () => {
  const summaries = [
    'This session is being continued from a previous conversation that ran out of context. The quay stands.',
    'Another language model started to solve this problem and produced a summary of its thinking process. It stands.',
    'You were originally given instructions from a user over one or more turns. Here were the user messages: build it',
    '\n<state_snapshot>\nThe quay stands.</state_snapshot>',
    'The conversation history before this point was compacted into the following summary:\n<summary>It stands.</summary>',
    'Some of the conversation history has been summarized to free up context.\n\nHere is a summary of the prior context:',
    '<system>Previous context has been compacted. Here is the compaction output:</system>\nThe quay stands.',
    'A previous instance of Droid has summarized the conversation thus far as follows:\n<summary>It stands.</summary>',
  ];
  assert.deepEqual(
    summaries.filter((text) => !isProducerSummary(text)),
    [],
  );
  const notes = [
    'Use the above summary generated from your last session to resume from where you left off.',
    'Continue if you have next steps',
    'Please continue the conversation from where we left off without asking the user any further questions.',
  ];
  assert.deepEqual(
    notes.filter((text) => isProducerSummary(text) || !isWrittenByProducer(text)),
    [],
  );
  const typed = ['Please continue.', 'Summarize this session.', 'The session is being continued tomorrow.', ''];
  assert.deepEqual(typed.filter(isWrittenByProducer), []);
});
