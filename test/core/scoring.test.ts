import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { ConversationMessage } from '../../src/core/message.ts';
import { DEFAULT_SCORING_CONFIG, type ImportanceScoringConfig } from '../../src/core/policy.ts';
import {
  createFeatureReader,
  createKeywordMatcher,
  explainScore,
  readFeatures,
  scoreFeatures,
  scoreMessage,
} from '../../src/core/scoring.ts';
import { calling, conversations, message, oddTexts, toolCall } from '../support/messages.ts';

const weights = fc.double({ min: 0, max: 100, noNaN: true });
const configs: fc.Arbitrary<ImportanceScoringConfig> = fc.record({
  roleWeightSystem: weights,
  roleWeightUser: weights,
  roleWeightAssistant: weights,
  recencyDecay: fc.double({ min: 0.01, max: 1, noNaN: true }),
  questionBonus: weights,
  toolCallBonus: weights,
  keywordBonus: weights,
  importantKeywords: fc.array(oddTexts, { maxLength: 5 }),
  contentLengthWeight: weights,
});
const oddMessages = conversations.filter((all) => all.length > 0).chain((all) => fc.constantFrom(...all));
const places = fc
  .tuple(fc.nat({ max: 5_000 }), fc.nat({ max: 5_000 }))
  .map(([a, b]) => ({ index: Math.min(a, b), total: Math.max(a, b) + 1 }));

const FLAT = { ...DEFAULT_SCORING_CONFIG, contentLengthWeight: 0 };
const parts = [{ kind: 'call', id: 'a', name: 'look', arguments: '{}' }] as const;
const SCORES: readonly (readonly [string, Partial<ConversationMessage>, number, ImportanceScoringConfig?])[] = [
  ['S1: a system message weighs most', { role: 'system', content: '' }, 10],
  ['S1: a user weighs more than an assistant', { role: 'user', content: '' }, 5],
  ['S1: an assistant weighs least', { role: 'assistant', content: '' }, 3],
  ['S1: a tool message weighs as a user', { role: 'tool', content: '' }, 5],
  [
    'S4: results of tools have a weight of their own where the config names one',
    { role: 'tool', content: '' },
    2,
    { ...DEFAULT_SCORING_CONFIG, roleWeightTool: 2 },
  ],
  ['S3: a question raises the score by its bonus', { content: 'Tea? Now.' }, 5 + 2 + 0.09],
  ['S3: calls raise it by one bonus, however many there are', calling('a', 'b'), 3 + 4],
  ['S3: a call that only the parts tell of counts as well', { role: 'assistant', content: '', parts }, 3 + 4],
  ['S3: an empty list of calls counts as none', { role: 'assistant', content: '', tool_calls: [] }, 3],
  ['S3: each distinct keyword raises it, once', { content: 'Error: fix the ERROR' }, 5 + 1.5 + 1.5, FLAT],
  ...(
    [
      [0, 5],
      [100, 6],
      [299, 5 + 2.99],
      [300, 8],
      [100_000, 8],
    ] as const
  ).map(
    ([length, score]) =>
      [`S3: length (${length}) raises it up to three points`, { content: 'x'.repeat(length) }, score] as const,
  ),
];

for (const [what, said, score, config] of SCORES)
  test(what, () => assert.equal(scoreMessage(message(said), 0, 1, config), score));

test('S2: the weight of the role fades with each message that came later', () => {
  assert.equal(scoreMessage(message({ content: '' }), 0, 3), 5 * 0.95 ** 2);
  // S5: a million places back it is still finite.
  assert.equal(scoreMessage(message({ content: '' }), 0, 1_000_000), 0);
});

test('S2: the same message scores strictly higher the newer it stands, within the last few hundred', () => {
  const rich = message({
    role: 'assistant',
    content: `fix the error? ${'x'.repeat(400)}`,
    tool_calls: [toolCall('a')],
  });
  const scores = Array.from({ length: 400 }, (_, index) => scoreMessage(rich, index, 400));
  assert.ok(scores.every((score, index) => index === 0 || score > (scores[index - 1] ?? Infinity)));
});

test('S2: the same message never scores lower the newer it stands', () => {
  fc.assert(
    fc.property(oddMessages, configs, places, (odd, config, { index, total }) => {
      const newer = Math.min(index + 1, total - 1);
      assert.ok(scoreMessage(odd, newer, total, config) >= scoreMessage(odd, index, total, config));
    }),
  );
});

test('S4: every number comes from the config', () => {
  const config: ImportanceScoringConfig = {
    roleWeightSystem: 64,
    roleWeightUser: 32,
    roleWeightAssistant: 16,
    recencyDecay: 0.5,
    questionBonus: 8,
    toolCallBonus: 4,
    keywordBonus: 2,
    importantKeywords: ['tea'],
    contentLengthWeight: 25,
  };
  const odd = { content: 'tea?', tool_calls: [toolCall('a')] };
  const scores = (['system', 'user', 'tool', 'assistant'] as const).map((role) =>
    scoreMessage(message({ role, ...odd }), 1, 3, config),
  );
  assert.deepEqual(scores, [32 + 15, 16 + 15, 16 + 15, 8 + 15]);
});

test('S5: the score of any message, place and list of keywords is finite', () => {
  fc.assert(
    fc.property(oddMessages, configs, places, (odd, config, { index, total }) => {
      assert.ok(Number.isFinite(scoreMessage(odd, index, total, config)));
    }),
  );
});

test('an explained score names each share in order and leaves out what is zero', () => {
  const said = message({ role: 'assistant', content: 'Fix that bug?', tool_calls: [toolCall('a')] });
  assert.deepEqual(explainScore(said, 1, 2), {
    score: 3 + 2 + 4 + 1.5 + 1.5 + 0.13,
    recency: 1,
    terms: [
      { name: 'role', value: 3 },
      { name: 'question', value: 2 },
      { name: 'tool call', value: 4 },
      { name: 'keyword:bug', value: 1.5 },
      { name: 'keyword:fix', value: 1.5 },
      { name: 'length', value: 0.13 },
    ],
  });
});

test('the share of the role is named even where it is zero', () => {
  const config = { ...DEFAULT_SCORING_CONFIG, roleWeightUser: 0 };
  assert.deepEqual(explainScore(message({ content: '' }), 0, 2, config), {
    score: 0,
    recency: 0.95,
    terms: [{ name: 'role', value: 0 }],
  });
});

test('the terms of any message add up to its score, bit for bit', () => {
  fc.assert(
    fc.property(oddMessages, configs, places, (odd, config, { index, total }) => {
      const { score, terms } = explainScore(odd, index, total, config);
      const sum = terms.reduce((left, term) => left + term.value, 0);
      assert.deepEqual([sum, score], [score, scoreMessage(odd, index, total, config)]);
    }),
  );
});

test('features that messages share give each of them its very score', () => {
  fc.assert(
    fc.property(fc.array(oddMessages), configs, places, (messages, config, { index, total }) => {
      const read = createFeatureReader(config);
      for (const one of messages) {
        assert.equal(scoreFeatures(read(one), index, total, config), scoreMessage(one, index, total, config));
      }
    }),
  );
});

test('messages that score alike wherever they stand share their features', () => {
  const read = createFeatureReader(DEFAULT_SCORING_CONFIG);
  const [a, b] = [message({ content: 'long '.repeat(200) }), message({ content: 'longer '.repeat(300) })];
  assert.equal(read(a), read(b));
});

test('lists of keywords that were replaced in between are not mixed up', () => {
  const tea = { ...DEFAULT_SCORING_CONFIG, importantKeywords: ['tea'] };
  const milk = { ...DEFAULT_SCORING_CONFIG, importantKeywords: ['milk'] };
  const found = [tea, milk, tea].map((config) => readFeatures(message({ content: 'tea, milk' }), config).keywords);
  assert.deepEqual(found, [['tea'], ['milk'], ['tea']]);
});

const ODD = ['.*', 'a|b', '(x', '[z]', 'c++', '$1', '\\d', '{2}', '/i', 'p-q', '^'];
const FOUND: readonly (readonly [string, readonly string[], string, readonly string[]])[] = [
  [
    'found inside words, whatever their case, in the order of the list',
    ['bug', 'fix', 'agreed'],
    'PREFIX and Debugger',
    ['bug', 'fix'],
  ],
  ['all found where they overlap', ['error', 'terror', 'err'], 'terrors', ['error', 'terror', 'err']],
  ['no patterns', ODD, 'any text 22', []],
  ['themselves, whatever characters they have', ODD, '.* a|b (x [z] c++ $1 \\d {2} /i p-q ^', ODD],
  ['counted once if they differ only in case, as first spelt', ['Bug', 'bug', 'BUG'], 'a bug', ['Bug']],
  ['never found if empty', [''], 'text', []],
  ['never found if empty, in no text either', [''], '', []],
  [
    'folded in other scripts too',
    ['ошибка', 'λόγος', 'straße'],
    'ОШИБКА · ΛΌΓΟΣ · STRAẞE',
    ['ошибка', 'λόγος', 'straße'],
  ],
  ['halves of surrogate pairs like any other', ['\ud83d'], 'cut \ud83d here', ['\ud83d']],
  ['no half of a whole character', ['\ud83d'], 'whole 😀 here', []],
  ['told apart where they hold line breaks', ['a\nb', 'a', 'b'], 'a\nb', ['a\nb', 'a', 'b']],
  ['not found over another separator', ['a\nb', 'a', 'b'], 'a - b', ['a', 'b']],
];

for (const [what, keywords, text, found] of FOUND)
  test(`keywords are ${what}`, () => assert.deepEqual(createKeywordMatcher(keywords)(text), found));

test('texts with the same keywords share one array', () => {
  const find = createKeywordMatcher(['bug', 'fix']);
  assert.equal(find('a fix for the bug'), find('a bug, a fix'));
  assert.equal(find('nothing'), find('nothing else'));
});

test('what is found are the keywords that a pattern without case finds, wherever they stand', () => {
  const keywords = [...DEFAULT_SCORING_CONFIG.importantKeywords, 'mask', 'Asks', 'terror', 'fixer'];
  const find = createKeywordMatcher(keywords);
  const words = fc.constantFrom(
    ...keywords,
    ...keywords.map((word) => word.slice(0, -1)),
    'error',
    'ask',
    'ma\u017fk',
    'Ma\u017f\u212a',
  );
  const pieces = fc.oneof(
    words,
    words.map((word) => word.toUpperCase()),
    fc.constantFrom('', ' ', 'x', 's', 'ş', '😀', '\u0130'),
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (all) => {
      const text = all.join('');
      assert.deepEqual(
        find(text),
        keywords.filter((word) => new RegExp(word, 'iu').test(text)),
      );
    }),
  );
});
