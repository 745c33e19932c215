import assert from 'node:assert/strict';
import test from 'node:test';
import { copilot } from '../../../../src/adapters/transcript/copilot/codec.ts';
import type { Decoded } from '../../../../src/core/transcript.ts';
import {
  answer,
  chain,
  compaction,
  compactionStart,
  type Event,
  meta,
  readEntries,
  result,
  session,
  user,
  uuidOf,
} from './events.ts';
import { type Fields, isoAt } from '../reading.ts';

const link = { recordId: uuidOf(1), parentId: uuidOf(0) };
const said = { id: uuidOf(1), conversation_id: '', created_at: new Date(isoAt(1)) };

function decode(event: Event | Fields): Decoded {
  const decoded = copilot.open().observe({ ...chain([meta('x'), meta('y')])[1], ...event }, 2);
  if ('problem' in decoded) throw new Error(decoded.problem);
  return decoded;
}

test('the start gives the conversation its id, and only the first is one', () => {
  const { entries } = readEntries([...session(), ...session()]);
  assert.deepEqual(
    entries.map(({ kind, conversation }) => [kind, conversation]),
    [
      ['header', 'session-1'],
      ['meta', undefined],
    ],
  );
});

test('what a person typed is a prompt, without what Copilot put around it', () => {
  assert.deepEqual(decode(user('hello', { transformedContent: '<time>now</time>\n\nhello' })), {
    ...link,
    kind: 'message',
    isPrompt: true,
    message: {
      ...said,
      role: 'user',
      content: 'hello',
      parts: [{ kind: 'text', text: 'hello' }],
      typed: 'hello',
      ruleText: 'hello',
    },
  });
});

test('an attachment alone is a prompt; blank text, skills and Copilot going on by itself are none', () => {
  const attachments = [{ type: 'blob', data: 'AA', mimeType: 'image/png' }];
  const prompts = [
    user('', { attachments }),
    user(' ', { attachments: [] }),
    user('Keep it shut.', { source: 'skill-locks' }),
    user('Go on.', { isAutopilotContinuation: true }),
  ].map(decode);
  assert.deepEqual(
    prompts.map(({ isPrompt, message }) => [isPrompt, message?.name]),
    [
      [true, undefined],
      [undefined, undefined],
      [undefined, 'skill-locks'],
      [undefined, undefined],
    ],
  );
});

test('where nothing was typed the text is what the model got', () => {
  assert.equal(decode(user('', { transformedContent: 'the file' })).message?.content, 'the file');
});

test('an answer has its calls, and no reasoning', () => {
  const value = answer('Looking.', ['c1'], { reasoningText: 'hm', apiCallId: 'api-1' });
  const call = { id: 'c1', name: 'view', arguments: '{"path":"c1.ts"}' };
  assert.deepEqual(decode(value), {
    ...link,
    kind: 'message',
    calls: ['c1'],
    groupKey: 'api-1',
    message: {
      ...said,
      role: 'assistant',
      content: 'Looking.\nview {"path":"c1.ts"}',
      tool_calls: [call],
      parts: [
        { kind: 'text', text: 'Looking.' },
        { kind: 'call', ...call },
      ],
    },
  });
});

test('arguments that are text stay text', () => {
  const toolRequests = [{ toolCallId: 'c1', name: 'apply_patch', arguments: '*** Begin', type: 'custom' }];
  assert.equal(decode(answer('', [], { toolRequests })).message?.content, 'apply_patch *** Begin');
});

test('a result is what the model is told: the content, or the message of the failure', () => {
  const failed = result('c1', '', { success: false, error: { message: 'no such file' } });
  assert.deepEqual(decode(failed), {
    ...link,
    kind: 'message',
    results: ['c1'],
    message: {
      ...said,
      role: 'tool',
      content: 'no such file',
      tool_call_id: 'c1',
      parts: [{ kind: 'result', callId: 'c1', text: 'no such file', isError: true }],
    },
  });
  assert.equal(decode(result('c1', 'two lines')).message?.content, 'two lines');
});

test('what subagents say and do is aside, and so is what was only for the screen', () => {
  const asides = [
    { ...answer('x'), agentId: 'a' },
    answer('x', [], { parentToolCallId: 'c' }),
    { ...answer('x'), ephemeral: true },
    result('c1', 'x', { parentToolCallId: 'c' }),
    { ...answer('x'), agentId: '' },
  ].map(decode);
  assert.deepEqual(
    asides.map(({ isSide }) => isSide),
    [true, true, true, true, undefined],
  );
});

test('a command that a person ran is told with its output, as the user’s, and is no prompt', () => {
  const requested = meta('tool.user_requested', {
    toolCallId: 's1',
    toolName: 'bash',
    arguments: { command: 'ls gates' },
  });
  const reading = copilot.open();
  const [first, second] = [requested, result('s1', 'north', { isUserRequested: true })];
  reading.observe(chain([first])[0] ?? null, 1);
  const decoded = reading.observe(chain([first, second])[1] ?? null, 2);
  assert.deepEqual(decoded, {
    ...link,
    kind: 'message',
    message: {
      ...said,
      role: 'user',
      content: '$ ls gates\nnorth',
      parts: [{ kind: 'text', text: '$ ls gates\nnorth' }],
    },
  });
});

test('a notice is told to the model in the user’s name; that instructions were found is not', () => {
  const notices = ['shell_completed', 'instruction_discovered'].map((type) =>
    decode(meta('system.notification', { content: 'The pump has stopped.', kind: { type } })),
  );
  assert.deepEqual(
    notices.map(({ kind, isPrompt, message }) => [kind, isPrompt, message?.role, message?.content]),
    [
      ['message', undefined, 'user', 'The pump has stopped.'],
      ['meta', undefined, undefined, undefined],
    ],
  );
});

test('a compaction is a summary, unless it failed or has no text', () => {
  const { kind, message } = decode(compaction('It was long.'));
  assert.deepEqual([kind, message?.role, message?.content], ['summary', 'system', 'It was long.']);
  const others = [
    compaction(''),
    meta('session.compaction_complete', { success: false, summaryContent: 'x' }),
    compactionStart,
  ];
  assert.deepEqual(
    others.map((event) => decode(event)),
    others.map(() => ({ ...link, kind: 'meta' })),
  );
});

test('events of a call go and stay with the message that makes it, wherever they name it', () => {
  const events = [
    meta('tool.execution_start', { toolCallId: 'c1' }),
    meta('permission.requested', { requestId: 'r', permissionRequest: { kind: 'shell', toolCallId: 'c1' } }),
  ];
  const { entries, session } = readEntries(chain([answer('look', ['c1']), ...events]));
  const { anchorOf = () => null } = session.readContext(entries);
  assert.deepEqual(entries.map(anchorOf), [null, 1, 1]);
});

test('of what sets the session up the latest stays, of what only happened nothing', () => {
  const events = [
    meta('session.model_change', { newModel: 'm' }),
    meta('session.mode_changed'),
    meta('session.nobody_knows'),
    meta('session.binary_asset', { assetId: 'a' }),
    meta('session.schedule_created', { id: 1 }),
    meta('session.schedule_cancelled', { id: 1 }),
    meta('session.schedule_rearmed', { id: 1 }),
    meta('system.message', { role: 'system', content: 'x' }),
    meta('system.message', { role: 'developer', name: 'agents', content: 'x' }),
    meta('skill.invoked', { name: 'locks' }),
    meta('subagent.selected', { agentName: 'x' }),
    meta('subagent.deselected'),
    meta('session.shutdown'),
    meta('session.error'),
    meta('assistant.turn_start', { turnId: '0' }),
    meta('hook.start'),
  ];
  assert.deepEqual(
    events.map((event) => decode(event).latestKey),
    [
      'session.model_change',
      'session.mode_changed',
      'session.nobody_knows',
      'session.binary_asset a',
      'session.schedule 1',
      'session.schedule 1',
      'session.schedule_rearmed 1',
      'system.message system ',
      'system.message developer agents',
      'skill.invoked locks',
      'subagent.selected',
      'subagent.selected',
      undefined,
      undefined,
      undefined,
      undefined,
    ],
  );
});
