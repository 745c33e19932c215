import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { DEFAULT_SCORING_CONFIG } from '../../src/core/policy.ts';
import { scoreMessage } from '../../src/core/scoring.ts';
import { type HistorySplit, isClipArchiveText, splitHistory } from '../../src/core/split.ts';
import { findGroups, groupInputOf } from '../../src/core/tool-groups.ts';
import { conversations, message, messages, talk } from '../support/messages.ts';

const clip = message({
  id: 'clip',
  role: 'system',
  content: '[Context Summary — 9 messages compressed across 1 compaction cycle]',
});
const ids = ({ toCompress, toKeep, priorSummary }: HistorySplit) => ({
  toCompress: toCompress.map((one) => one.id),
  toKeep: toKeep.map((one) => one.id),
  priorSummary: priorSummary?.id ?? null,
});
const histories = fc.tuple(fc.boolean(), conversations).map(([has, all]) => (has ? [clip, ...all] : all));
const keepCounts = fc.nat({ max: 40 });

test('P1: nothing is compressed where there are no more messages than are kept', () => {
  const history = talk(3);
  for (const keepRecent of [3, 4, 1_000, Infinity]) {
    assert.deepEqual(splitHistory(history, keepRecent), { toCompress: [], toKeep: history, priorSummary: null });
  }
});

test('P1: a prior summary does not count as one of the messages that are kept', () => {
  assert.deepEqual(ids(splitHistory([clip, ...talk(3)], 3)), {
    toCompress: [],
    toKeep: ['m1', 'm2', 'm3'],
    priorSummary: 'clip',
  });
});

test('P2: the least important comes first', () => {
  const history = messages(
    { content: 'an error, a bug, a decision?' },
    { role: 'assistant', content: 'well' },
    { content: 'ok' },
    {},
  );
  assert.deepEqual(ids(splitHistory(history, 1)).toCompress, ['m2', 'm3', 'm1']);
});

test('P2: equal scores keep their order', () => {
  const config = { ...DEFAULT_SCORING_CONFIG, recencyDecay: 1 };
  const history = messages({ content: 'same' }, { content: 'same' }, { content: 'a' }, { content: 'same' });
  assert.deepEqual(ids(splitHistory(history, 0, config)).toCompress, ['m3', 'm1', 'm2', 'm4']);
});

test('P2: scores count positions within the part that is compressed', () => {
  fc.assert(
    fc.property(conversations, keepCounts, (history, keepRecent) => {
      const { toCompress } = splitHistory(history, keepRecent);
      const scores = toCompress.map((one) => scoreMessage(one, history.indexOf(one), toCompress.length));
      assert.deepEqual(
        scores,
        scores.toSorted((a, b) => a - b),
      );
    }),
  );
});

test('P3: a clip-archive at the head is the prior summary', () => {
  assert.deepEqual(ids(splitHistory([clip, ...talk(3)], 1)), {
    toCompress: ['m2', 'm1'],
    toKeep: ['m3'],
    priorSummary: 'clip',
  });
});

test('P3: a clip-archive that is not the first message is a message like others', () => {
  assert.deepEqual(ids(splitHistory([...talk(1), clip], 1)), {
    toCompress: ['m1'],
    toKeep: ['clip'],
    priorSummary: null,
  });
});

test('P3: a user who quotes a clip-archive has not written one', () => {
  const quoted = message({ id: 'quote', content: clip.content });
  assert.equal(splitHistory([quoted, ...talk(2)], 1).priorSummary, null);
});

test('P3: a system message of another text is no prior summary', () => {
  const other = message({ role: 'system', content: `As said: ${clip.content}` });
  assert.equal(splitHistory([other, ...talk(2)], 1).priorSummary, null);
});

test('P3: a clip-archive is told by how its text begins', () => {
  const texts = ['[Context Summary — 1 messages', ' [Context Summary — 1', '[Context Summary - 1', ''];
  assert.deepEqual(texts.map(isClipArchiveText), [true, false, false, false]);
});

test('P4: no group stands on both sides, whatever the history and however many are kept', () => {
  fc.assert(
    fc.property(histories, keepCounts, (history, keepRecent) => {
      const groups = findGroups(history.map(groupInputOf));
      const { toCompress, toKeep } = splitHistory(history, keepRecent);
      const groupsOf = (part: typeof history) => part.map((one) => groups[history.indexOf(one)]);
      const gone = new Set(groupsOf(toCompress));
      assert.deepEqual(
        groupsOf(toKeep).filter((group) => gone.has(group)),
        [],
      );
    }),
  );
});

test('P4: at least as many messages are kept as was asked for', () => {
  fc.assert(
    fc.property(conversations, keepCounts, (history, keepRecent) => {
      const { toKeep, priorSummary } = splitHistory(history, keepRecent);
      const said = history.length - (priorSummary === null ? 0 : 1);
      assert.ok(toKeep.length >= Math.min(keepRecent, said));
      assert.deepEqual(toKeep, history.slice(history.length - toKeep.length));
    }),
  );
});

test('P5: the parts together are the history, each message once', () => {
  fc.assert(
    fc.property(histories, keepCounts, (history, keepRecent) => {
      const { toCompress, toKeep, priorSummary } = splitHistory(history, keepRecent);
      const all = [...(priorSummary === null ? [] : [priorSummary]), ...toCompress, ...toKeep];
      const places = all.map((one) => history.indexOf(one)).toSorted((a, b) => a - b);
      assert.deepEqual(
        places,
        history.map((_, index) => index),
      );
    }),
  );
});
