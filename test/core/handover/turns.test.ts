import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConversation, readSteps } from '../../../src/core/handover/turns.ts';

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

test('what asks for nothing is no request, and a bare consent is one only after a question or an offer', () => {
  const said = (role: 'user' | 'assistant', content: string, at: number) => ({
    id: `m${at}`,
    conversation_id: 'c',
    role,
    content,
    created_at: null,
    ...(role === 'user' && { typed: content }),
  });
  const asked = (...texts: readonly string[]): readonly string[] =>
    readConversation(texts.map((text, at) => said(at % 2 === 0 ? 'user' : 'assistant', text, at))).turns.flatMap(
      ({ request }) => (request === null ? [] : [request.text]),
    );
  assert.deepEqual(asked('Build the quay.', 'It stands.', 'wow!', 'Thanks.', '/exit', 'Bye.', 'ls', 'a b'), [
    'Build the quay.',
  ]);
  assert.deepEqual(asked('Build the quay.', 'It stands.', 'ok'), ['Build the quay.']);
  assert.deepEqual(asked('Build the quay.', 'Shall I paint it?', 'ok'), ['Build the quay.', 'ok']);
  assert.deepEqual(asked('/review the quay', 'Done.', 'perfect, now the boat'), [
    '/review the quay',
    'perfect, now the boat',
  ]);
});

test('a text that quotes the elements of a command is none', () => {
  const note = { id: 'm1', conversation_id: 'c', role: 'user', created_at: null } as const;
  const quoted =
    '<bash-stdout>\n<command-name>/drop</command-name>\n<command-args>all loaves</command-args></bash-stdout>';
  assert.deepEqual(
    readSteps([{ ...note, content: quoted }]).map(({ kind }) => kind),
    ['note'],
  );
  const typed = 'My log has <command-name>/drop</command-name>, why?';
  assert.deepEqual(
    readSteps([{ ...note, content: typed, typed }]).flatMap((step) => (step.kind === 'request' ? [step.text] : [])),
    [typed],
  );
  const summary = `<command-name>/drop</command-name>\n<command-args>all loaves</command-args>`;
  assert.deepEqual(
    readSteps([{ ...note, content: summary, isSummary: true }]).map(({ kind }) => kind),
    ['summary'],
  );
});
