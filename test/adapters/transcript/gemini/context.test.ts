import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { createLog } from '../../../../src/adapters/transcript/gemini/context.ts';
import type { Json } from '../../../../src/ports/codec.ts';
import { SUMMARY } from '../codex/rollouts.ts';
import {
  brought,
  calling,
  checkpoint,
  clip,
  contextOf,
  header,
  model,
  readSession,
  rewindTo,
  user,
} from './sessions.ts';

const SNAPSHOT = '<state_snapshot>what was said</state_snapshot>';
const SURROUNDINGS = user('environment-context', '<session_context>\nthe folder\n</session_context>');

function companions(...records: readonly Json[]): readonly (number | null)[] {
  const { entries, session } = readSession(...records);
  const { anchorOf = () => null } = session.readContext(entries);
  return entries.map(anchorOf);
}

suite('a message that is recorded again', () => {
  const records = [header(), user('a', 'one'), model('b', 'two'), model('b', 'two and more'), user('c', 'three')];

  test('is sent as its last record says it, once', () => {
    assert.deepEqual(contextOf(...records), { prior: null, sent: [2, 4, 5], goes: [] });
  });

  test('keeps its records together', () => {
    assert.deepEqual(companions(...records), [null, null, 4, null, null]);
  });

  test('is one message where other messages stand between its records', () => {
    assert.deepEqual(contextOf(user('a', 'one'), user('b', 'two'), user('a', 'one, rather')).sent, [2, 3]);
  });
});

suite('a rewind', () => {
  test('takes back its message and all after it, and goes with them', () => {
    const records = [
      header(),
      user('a', 'one'),
      user('b', 'two'),
      model('c', 'three'),
      rewindTo('b'),
      user('d', 'four'),
    ];
    assert.deepEqual(contextOf(...records), { prior: null, sent: [2, 6], goes: [3, 4, 5] });
  });

  test('takes back what was noted for the screen meanwhile', () => {
    const note = { id: 'i', type: 'info', content: 'Cancelled.' };
    assert.deepEqual(contextOf(user('a', 'one'), user('b', 'two'), note, rewindTo('b')).goes, [2, 3, 4]);
  });

  test('to a message that is not there takes back everything', () => {
    assert.deepEqual(contextOf(user('a', 'one'), model('b', 'two'), rewindTo('gone'), user('c', 'three')), {
      prior: null,
      sent: [4],
      goes: [1, 2, 3],
    });
  });

  test('leaves a message that was said again under the same id', () => {
    const records = [
      user('a', 'one'),
      user('b', 'two'),
      rewindTo('b'),
      user('b', 'two, otherwise'),
      model('c', 'three'),
    ];
    assert.deepEqual(contextOf(...records), { prior: null, sent: [1, 4, 5], goes: [2, 3] });
    assert.deepEqual(companions(...records), [null, null, null, null, null]);
  });

  test('takes back results that were brought to the model', () => {
    const records = [user('a', 'one'), calling('b', 'x'), brought('c', 'x'), rewindTo('b')];
    assert.deepEqual(contextOf(...records), { prior: null, sent: [1], goes: [2, 3, 4] });
  });

  test('to the summary takes it back', () => {
    assert.deepEqual(contextOf(header(), clip('s'), user('a', 'one'), rewindTo('s'), user('b', 'two')), {
      prior: null,
      sent: [5],
      goes: [2, 3, 4],
    });
  });
});

suite('a checkpoint', () => {
  test('that only repeats messages goes, and leaves their own records', () => {
    const records = [header(), clip('s'), user('a', 'one'), model('b', 'two')];
    const again = checkpoint(SURROUNDINGS, clip('s'), user('a', 'one'), model('b', 'two'));
    assert.deepEqual(contextOf(...records, again, user('c', 'three')), { prior: 2, sent: [3, 4, 6], goes: [5] });
  });

  test('of a session that was resumed within the minute of its file name leaves the messages on their own lines', () => {
    const callAgain = { ...model('b', ''), content: [{ functionCall: { id: 'x', name: 'look', args: {} } }] };
    const again = checkpoint(
      SURROUNDINGS,
      user('a', 'one'),
      callAgain,
      brought('b_response', 'x'),
      brought('c', 'x'),
      model('d', 'four'),
    );
    const records = [
      header(),
      user('a', 'one'),
      calling('b', 'x'),
      brought('c', 'x'),
      model('d', 'four'),
      header({ startTime: '2026-03-02T09:00:30.000Z' }),
      checkpoint(SURROUNDINGS),
      { $set: { sessionId: 's-1' } },
      again,
      user('e', 'five'),
    ];
    assert.deepEqual(contextOf(...records), { prior: null, sent: [2, 3, 5, 10], goes: [7, 9] });
  });

  test('that begins a session anew leaves nothing of what stood before it, unless a later one does', () => {
    const records = [header(), user('a', 'one'), model('b', 'two'), header(), checkpoint(SURROUNDINGS)];
    assert.deepEqual(contextOf(...records), { prior: null, sent: [], goes: [5] });
    assert.deepEqual(contextOf(...records, user('c', 'three')), { prior: null, sent: [6], goes: [5] });
    assert.deepEqual(contextOf(...records, user('c', 'three'), checkpoint(user('b', 'two'), user('c', 'three'))), {
      prior: null,
      sent: [3, 6],
      goes: [5, 7],
    });
  });

  test('that begins a session anew keeps the records of one message together', () => {
    const records = [header(), user('a', 'one'), model('b', 'two'), header(), checkpoint(SURROUNDINGS)];
    assert.deepEqual(companions(...records, model('b', 'two and more')), [null, null, 6, null, null, null]);
  });

  test('that begins a new session says nothing', () => {
    assert.deepEqual(contextOf(header(), checkpoint(SURROUNDINGS), user('a', 'one')), {
      prior: null,
      sent: [3],
      goes: [2],
    });
  });

  test('takes back the request that it leaves out, for it would be sent again without the checkpoint', () => {
    const records = [user('a', 'one'), model('b', 'two'), user('c', 'aborted')];
    assert.deepEqual(contextOf(...records, checkpoint(user('a', 'one'), model('b', 'two'))), {
      prior: null,
      sent: [1, 2],
      goes: [3, 4],
    });
  });

  test('takes back results that it leaves out, also where their call is left', () => {
    const records = [user('a', 'one'), calling('b', 'x'), brought('c', 'x')];
    assert.deepEqual(contextOf(...records, checkpoint(user('a', 'one'), calling('b', 'x'))), {
      prior: null,
      sent: [1, 2],
      goes: [3, 4],
    });
  });

  test('of a compression is the summary of what it leaves out, and of nothing else', () => {
    const records = [user('a', 'one'), model('b', 'two'), user('c', 'three'), calling('d', 'x'), brought('e', 'x')];
    const call = { functionCall: { id: 'x', name: 'look', args: {} } };
    const compressed = checkpoint(
      SURROUNDINGS,
      user('n1', '<state_snapshot>one and two</state_snapshot>'),
      model('n2', 'Got it. Thanks for the additional context!'),
      user('n3', 'three'),
      { ...model('n4', ''), content: [call] },
      brought('n5', 'x'),
    );
    const { entries, session } = readSession(...records, compressed);
    assert.deepEqual(contextOf(...records, compressed, user('f', 'four')), { prior: 6, sent: [3, 4, 7], goes: [6] });
    assert.equal(session.readContext(entries).anchorOf?.(entries[4] ?? assert.fail()), 4);
    const decoded = session.decode(compressed, 6);
    assert.equal('message' in decoded && decoded.message?.content, '<state_snapshot>one and two</state_snapshot>');
  });

  test('gives messages new ids, under which they are taken back', () => {
    const records = [user('a', 'one'), model('b', 'two'), user('c', 'three'), model('d', 'four')];
    const compressed = checkpoint(user('n1', SNAPSHOT), user('n2', 'three'), model('n3', 'four'));
    assert.deepEqual(contextOf(...records, compressed, rewindTo('n3')), { prior: 5, sent: [3], goes: [4, 5, 6] });
  });

  test('gives messages new ids, under which they are recorded again', () => {
    const records = [user('a', 'one'), model('b', 'two'), checkpoint(user('n1', 'one'), model('n2', 'two'))];
    assert.deepEqual(contextOf(...records, model('n2', 'two and more')), { prior: null, sent: [1, 4], goes: [2, 3] });
  });

  test('leaves the records of a message together that is recorded again under its new id', () => {
    const records = [
      user('a', 'one'),
      model('b', 'tw'),
      model('b', 'two'),
      checkpoint(user('n1', 'one'), model('n2', 'two')),
    ];
    assert.deepEqual(companions(...records, model('n2', 'two and more')), [null, 3, null, null, null]);
  });

  test('finds the later of two messages with the same words', () => {
    const records = [user('a', 'go on'), model('b', 'one'), user('c', 'go on'), model('d', 'two')];
    const compressed = checkpoint(user('n1', SNAPSHOT), user('n2', 'go on'), model('n3', 'two'));
    assert.deepEqual(contextOf(...records, compressed).sent, [3, 4]);
  });

  test('that holds what was said and nothing else does is a message, after which the kept part begins', () => {
    const records = [header(), user('z', 'gone'), checkpoint(user('a', 'one'), model('b', 'two')), user('c', 'three')];
    const { entries, session } = readSession(...records);
    const decoded = session.decode(records[2] ?? null, 3);
    assert.equal('message' in decoded && decoded.message?.content, '[user]\none\n\n[assistant]\ntwo');
    assert.deepEqual(contextOf(...records), { prior: null, sent: [3, 4], goes: [3] });
    const problem = 'Gemini CLI wrote all messages again after it';
    assert.deepEqual([2, 3, 4].map(session.legalCuts(entries)), [problem, problem, null]);
  });

  test('that quotes a snapshot in an older summary is a message still', () => {
    const records = [
      clip('s'),
      checkpoint(user('a', `${SUMMARY}\n${SNAPSHOT}`), model('b', 'two')),
      user('c', 'three'),
    ];
    assert.deepEqual(contextOf(...records), { prior: null, sent: [2, 3], goes: [2] });
  });

  test('that was replaced by another is no message any more', () => {
    const records = [checkpoint(user('a', 'one')), checkpoint(user('b', 'two')), user('c', 'three')];
    assert.deepEqual(contextOf(...records), { prior: null, sent: [2, 3], goes: [1, 2] });
  });

  test('is no summary any more once its words were taken back', () => {
    const records = [checkpoint(user('a', SNAPSHOT)), rewindTo('a'), user('b', 'two')];
    assert.deepEqual(contextOf(...records), { prior: null, sent: [3], goes: [1, 2] });
  });

  test('is read alike when its line is read a second time', () => {
    const records = [user('a', 'one'), checkpoint(user('b', 'two'), brought('c', 'x')), calling('d', 'x')];
    const { entries, session } = readSession(...records);
    const decoded = session.decode(records[1] ?? null, 2);
    assert.equal('message' in decoded && decoded.message?.content, '[user]\ntwo\n\n[tool]\noutput of x');
    assert.equal(entries[1]?.kind, 'message');
  });
});

suite('the summary', () => {
  test('is a clip-archive that comes before everything said', () => {
    const records = [header(), SURROUNDINGS, clip('s'), user('a', 'one')];
    assert.deepEqual(contextOf(...records), { prior: 3, sent: [4], goes: [] });
  });

  test('is not a clip-archive that somebody put into a message later on', () => {
    assert.deepEqual(contextOf(user('a', 'one'), clip('b'), model('c', 'two')), {
      prior: null,
      sent: [1, 2, 3],
      goes: [],
    });
  });

  test('stays the summary when Gemini CLI compresses nothing but what follows it', () => {
    const again = checkpoint(clip('s'), user('n1', SNAPSHOT));
    assert.deepEqual(contextOf(clip('s'), user('a', 'one'), again, user('b', 'two')), {
      prior: 1,
      sent: [4],
      goes: [2, 3],
    });
  });
});

test('results that were brought to the model go with the message that holds them', () => {
  const records = [user('a', 'one'), calling('b', 'x'), brought('c', 'x'), calling('b', 'x', 'more')];
  assert.deepEqual(contextOf(...records).sent, [1, 4]);
  assert.deepEqual(companions(...records), [null, 4, 4, null]);
});

test('results that were brought before their call held them, and once more after it, go with it', () => {
  const records = [user('a', 'one'), brought('c', 'x'), calling('b', 'x'), brought('c', 'x')];
  assert.deepEqual(contextOf(...records).sent, [1, 3]);
  assert.deepEqual(companions(...records), [null, 3, null, 3]);
});

test('results that several messages hold are a message', () => {
  const records = [calling('a', 'x'), calling('b', 'y'), brought('c', 'x', 'y')];
  assert.deepEqual(contextOf(...records).sent, [1, 2, 3]);
});

test('results that stand nowhere else are a message', () => {
  assert.deepEqual(contextOf(user('a', 'one'), model('b', 'two'), brought('c', 'x')).sent, [1, 2, 3]);
});

/** The list of messages told once more in the plainest way: as pairs of id and line. */
function replay(records: readonly Json[]): readonly number[] {
  let list: readonly (readonly [string, number])[] = [];
  for (const [index, record] of records.entries()) {
    const { id, $rewindTo, $set } = Object(record);
    if (id !== undefined) {
      const isKnown = list.some(([known]) => known === id);
      const place = [id, index + 1] as const;
      list = isKnown ? list.map((one) => (one[0] === id ? place : one)) : [...list, place];
    } else if ($rewindTo !== undefined) {
      const at = list.findIndex(([known]) => known === $rewindTo);
      list = list.slice(0, Math.max(0, at));
    } else {
      const named: readonly { readonly id: string }[] = $set.messages;
      list = named.flatMap((message) => list.filter(([known]) => known === message.id));
    }
  }
  return list.map(([, line]) => line).toSorted((a, b) => a - b);
}

test('what is sent is what the log leaves when it is read from the beginning', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const record = fc.oneof(
    { weight: 6, arbitrary: fc.tuple(id, fc.nat()).map(([one, n]) => user(one, `words ${n}`)) },
    { weight: 1, arbitrary: id.map(rewindTo) },
  );
  const withCheckpoints = fc.array(fc.oneof({ weight: 9, arbitrary: record }, fc.constant('checkpoint')), {
    maxLength: 30,
  });
  const property = fc.property(withCheckpoints, fc.nat({ max: 2 }), (steps, dropped) => {
    const records: Json[] = [];
    for (const step of steps) {
      const said = replay(records).map((line) => records[line - 1] ?? null);
      records.push(step === 'checkpoint' ? checkpoint(...said.slice(0, said.length - dropped)) : step);
    }
    assert.deepEqual(contextOf(...records).sent, replay(records));
  });
  fc.assert(property);
});

test('the words of the summary are told whole', () => {
  const { session } = readSession(clip('s'));
  const decoded = session.decode(clip('s'), 1);
  assert.equal('message' in decoded && decoded.message?.content, SUMMARY);
});

test('a rewind and a checkpoint take very many messages back at once', () => {
  const count = 130_000;
  const log = createLog();
  const addAll = (from: number): void => {
    for (let at = 0; at < count; at += 1)
      log.add({ kind: 'message', id: `${from + at}`, key: '', isSaid: true }, from + at);
  };
  addAll(1);
  log.add({ kind: 'rewind', id: '1' }, count + 1);
  addAll(count + 2);
  log.add({ kind: 'checkpoint', messages: [] }, 2 * count + 2);
  const { live, takenBack, lastLineOf } = log.read();
  assert.deepEqual([live.length, takenBack.size, lastLineOf.size], [0, count, 2 * count]);
});
