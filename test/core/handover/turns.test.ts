import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSteps } from '../../../src/core/handover/turns.ts';

test('a summary that the archive has as text is read as one, whatever it begins with', () => {
  const message = {
    id: 'batch:1',
    conversation_id: 'c',
    role: 'user',
    content: 'They chose the port.',
    created_at: null,
  } as const;
  assert.deepEqual(readSteps([{ ...message, isSummary: true }]), [
    { kind: 'summary', messageId: 'batch:1', text: 'They chose the port.' },
  ]);
  assert.deepEqual(
    readSteps([message]).map(({ kind }) => kind),
    ['note'],
  );
});
