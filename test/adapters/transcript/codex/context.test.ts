import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { codex } from '../../../../src/adapters/transcript/codex/codec.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { replay } from './replay.ts';
import {
  call,
  compacted,
  event,
  header,
  message,
  output,
  reasoning,
  record,
  rolledBack,
  said,
  SUMMARY,
  taskStarted,
  tokenCount,
  turn,
  turnContext,
} from './rollouts.ts';
import { readEntries } from '../reading.ts';

/** The line of the summary, and the messages and instructions that are no longer sent. */
function context(...records: readonly Json[]): { prior: number | null; stale: readonly number[] } {
  const { entries, session } = readEntries('codex', records);
  const { priorLine, isStale } = session.readContext(entries);
  const stale = entries.filter((entry) => entry.role !== undefined && entry.line !== priorLine && isStale(entry));
  return { prior: priorLine, stale: stale.map(({ line }) => line) };
}

function goes(...records: readonly Json[]): readonly number[] {
  const { entries, session } = readEntries('codex', records);
  const { mustDrop = () => false } = session.readContext(entries);
  return entries.filter(mustDrop).map(({ line }) => line);
}

suite('a compaction of Codex', () => {
  const history = [message('user', 'old')];

  test('replaces all before it, instructions too', () => {
    const records = [said('developer', 'rules'), said('user', 'a'), said('assistant', 'b'), compacted(history)];
    assert.deepEqual(context(...records, said('user', 'c')), { prior: 4, stale: [1, 2, 3] });
  });

  test('makes the one before it stale', () => {
    assert.deepEqual(context(compacted(history), said('user', 'a'), compacted(history)), { prior: 3, stale: [1, 2] });
  });

  test('without a history keeps what was typed', () => {
    const records = [said('developer', 'rules'), said('user', 'a'), said('assistant', 'b'), compacted(null, 'text')];
    assert.deepEqual(context(...records, said('user', 'c')), { prior: 4, stale: [3] });
  });

  test('is forgotten with the turn that it was made in', () => {
    const records = [said('user', 'a'), taskStarted(), compacted(history), said('user', 'b'), rolledBack(1)];
    assert.deepEqual(context(...records), { prior: null, stale: [3, 4] });
  });

  test('makes what was noted as told before it misleading', () => {
    const before = [turnContext(), record('world_state', { full: true })];
    assert.deepEqual(goes(...before, said('user', 'a'), compacted(history), turnContext()), [1, 2]);
  });
});

suite('turns that were taken back', () => {
  test('are stale, with the event, and what was written for them', () => {
    const records = [
      said('user', 'a'),
      said('assistant', 'b'),
      taskStarted(),
      said('user', '<environment_context>x</environment_context>'),
      turnContext(),
      said('user', 'c'),
      said('assistant', 'd'),
      rolledBack(1),
      taskStarted(),
      said('user', 'e'),
    ];
    assert.deepEqual(context(...records), { prior: null, stale: [4, 6, 7] });
    assert.deepEqual(goes(...records), [3, 4, 5, 6, 7, 8]);
  });

  test('are counted from the end, over those that were taken back before', () => {
    const records = [
      ...['a', 'b', 'c'].map((text) => said('user', text)),
      rolledBack(1),
      said('user', 'd'),
      rolledBack(2),
    ];
    assert.deepEqual(context(...records), { prior: null, stale: [2, 3, 5] });
  });

  test('are all there are where more are asked for, and the settings before the first stay', () => {
    const records = [said('developer', '<permissions instructions>x'), said('user', 'a'), rolledBack(9)];
    assert.deepEqual(context(...records), { prior: null, stale: [2] });
  });

  test('are not counted where Codex speaks as the user', () => {
    const records = [
      said('user', 'a'),
      said('user', 'b'),
      said('user', '<turn_aborted>x</turn_aborted>'),
      rolledBack(1),
    ];
    assert.deepEqual(context(...records), { prior: null, stale: [2, 3] });
  });

  test('none take back no compaction', () => {
    const records = [taskStarted(), said('user', 'a'), compacted([message('user', 'old')]), rolledBack(0)];
    assert.deepEqual(context(...records), { prior: 3, stale: [2] });
  });

  test('an event that takes nothing back goes all the same: after a compaction it would', () => {
    assert.deepEqual(goes(said('assistant', 'a'), rolledBack(1), said('user', 'b')), [2]);
  });

  test('any sequence: what is not stale is what a replay of the rollout gives', () => {
    const step = fc.oneof(
      fc.constantFrom('user', 'assistant', 'settings', 'start', 'aborted'),
      fc.record({ back: fc.integer({ min: 0, max: 4 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 24 }), (steps) => {
        const records = steps.map((one, at): Json => {
          if (typeof one === 'object') return rolledBack(one.back);
          if (one === 'start') return taskStarted();
          if (one === 'settings') return said('developer', `<permissions instructions>${at}`);
          if (one === 'aborted') return said('user', `<turn_aborted>${at}`);
          return said(one === 'user' ? 'user' : 'assistant', `${at}`);
        });
        const { entries, session } = readEntries('codex', records);
        const { isStale } = session.readContext(entries);
        const sent = entries.filter((entry) => entry.role !== undefined && !isStale(entry)).map(({ line }) => line);
        assert.deepEqual(
          sent,
          replay(records).map(({ line }) => line),
        );
      }),
    );
  });
});

suite('what must go', () => {
  test('counts of tokens, wherever they stand', () => {
    assert.deepEqual(goes(tokenCount(), said('user', 'a'), tokenCount()), [1, 3]);
  });

  test('nothing else of a plain rollout', () => {
    const records = [header(), ...turn('a'), ...turn('b')];
    assert.deepEqual(goes(...records), [11, 22]);
  });
});

suite('cuts', () => {
  const problem = (line: number, ...records: readonly Json[]): string | null => {
    const { entries, session } = readEntries('codex', records);
    return session.legalCuts(entries)(line);
  };

  test('stand before any message after the last compaction', () => {
    const records = [said('user', 'a'), compacted([message('user', SUMMARY)]), said('user', 'b'), event('x')];
    assert.equal(problem(1, ...records), "it is before the conversation's last compaction");
    assert.equal(problem(3, ...records), null);
  });

  test('stand nowhere in a thread that begins in another file', () => {
    const records = [header({ history_base: { thread_id: 'p' } }), said('user', 'a')];
    assert.equal(problem(2, ...records), 'the thread begins in the file of another, which a summary here would hide');
  });

  test('a fork that repeats the lines of its parent is whole', () => {
    assert.equal(problem(2, header({ forked_from_id: 'p' }), said('user', 'a')), null);
  });
});

test('what a compaction left is read: ours, one text, several, a plain message, or that there is nothing', () => {
  const textFor = (...args: Parameters<typeof compacted>): string | undefined => {
    const decoded = codex.open().observe(compacted(...args), 1);
    return 'problem' in decoded ? decoded.problem : decoded.message?.content;
  };
  const sealed = { type: 'compaction', encrypted_content: 'x' };
  const sealedText =
    "Codex's own summary of what was said before is encrypted; only the service that wrote it can read it.";
  assert.deepEqual(
    [
      textFor([message('developer', 'rules'), sealed, message('user', SUMMARY)]),
      textFor([message('developer', 'rules'), message('user', 'one')]),
      textFor([message('user', 'one'), message('assistant', 'two')]),
      textFor(null, 'plain'),
      textFor([], 'plain'),
      textFor([message('user', 'one'), sealed]),
      textFor([sealed]),
      textFor([]),
    ],
    [
      SUMMARY,
      'one',
      '[user]\none\n\n[assistant]\ntwo',
      'plain',
      'plain',
      `[user]\none\n\n${sealedText}`,
      sealedText,
      'Codex compacted what was said before and left no text of it.',
    ],
  );
});

/** Of every record, the line of the message that it goes with. */
function companions(...records: readonly Json[]): readonly (number | null)[] {
  const { entries, session } = readEntries('codex', records);
  const { anchorOf = () => null } = session.readContext(entries);
  return entries.map(anchorOf);
}

test('every record of a turn goes with a message of it', () => {
  assert.deepEqual(companions(...turn('a')), [9, 3, null, 3, 7, 7, null, null, null, null, 9]);
});

test('a mirror goes with the message of its words, before it or after it', () => {
  const mirror = event('user_message', { message: 'same' });
  assert.deepEqual(companions(said('user', 'same'), mirror), [null, 1]);
  assert.deepEqual(companions(mirror, said('user', 'same')), [2, null]);
});

test('of two messages with the same words each has its own mirror', () => {
  const mirror = event('agent_message', { message: 'ok' });
  const message = said('assistant', 'ok');
  assert.deepEqual(companions(mirror, message, mirror, message), [2, null, 4, null]);
  assert.deepEqual(companions(message, mirror, message, mirror), [null, 1, null, 3]);
});

test('the same words far away, or of another speaker, are not mirrored', () => {
  const between = Array.from({ length: 40 }, () => record('other', {}));
  assert.equal(companions(said('user', 'ok'), ...between, event('user_message', { message: 'ok' })).at(-1), null);
  assert.deepEqual(companions(said('user', 'ok'), event('agent_message', { message: 'ok' })), [null, null]);
});

test('mirrors of newer versions, which have the item in them, go with it', () => {
  const user = { type: 'UserMessage', content: [{ type: 'text', text: 'hi' }] };
  const agent = { type: 'AgentMessage', content: [{ type: 'Text', text: 'ho' }] };
  const command = { type: 'CommandExecution', id: 'c1' };
  const records = [said('user', 'hi'), said('assistant', 'ho'), call('c1')];
  const mirrors = [user, agent, command].map((item) => event('item_completed', { item }));
  assert.deepEqual(companions(...records, ...mirrors).slice(3), [1, 2, 3]);
});

test('what happens to a call goes with the call, whichever comes first', () => {
  const begin = event('exec_command_begin', { call_id: 'c1' });
  assert.deepEqual(companions(begin, call('c1'), begin, output('c1')), [2, null, 2, null]);
});

test('an id that is used again is the latest call before the record', () => {
  const end = event('exec_command_end', { call_id: 'c1' });
  assert.deepEqual(companions(call('c1'), output('c1'), call('c1'), end), [null, null, null, 3]);
});

test('where the call is missing its record goes with the output, and with nothing where that is missing too', () => {
  const end = event('patch_apply_end', { call_id: 'c1' });
  assert.deepEqual(companions(end, output('c1')), [2, null]);
  assert.deepEqual(companions(end, output('c2')), [null, null]);
});

test('thoughts go with the answer that follows, and with nothing where a person speaks next', () => {
  assert.deepEqual(companions(reasoning(), call('c1')), [2, null]);
  assert.deepEqual(companions(reasoning(), said('user', 'stop'), said('assistant', 'yes')), [null, null, null]);
});

test('the beginning of a turn goes with the last message of that turn, its settings with the next', () => {
  const records = [taskStarted('1'), turnContext(), said('user', 'a'), said('assistant', 'b'), taskStarted('2')];
  assert.deepEqual(companions(...records, said('user', 'c')), [4, 3, null, null, 6, null]);
});

test('the end of a turn, and its interruption, go with the message before', () => {
  const ends = [event('task_complete'), event('turn_aborted', { turn_id: 't' })];
  assert.deepEqual(companions(said('user', 'a'), ...ends), [null, 1, 1]);
});

test('a turn without a message, and events of their own, go by their place', () => {
  assert.deepEqual(companions(taskStarted('1'), taskStarted('2'), event('error', { message: 'x' })), [
    null,
    null,
    null,
  ]);
});
