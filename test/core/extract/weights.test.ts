import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMessages } from '../../../src/core/extract/passage.ts';
import { selectUnits } from '../../../src/core/extract/select-units.ts';
import { createTermIndex } from '../../../src/core/extract/terms.ts';
import { weighTalkSentence, weighTerms } from '../../../src/core/extract/weights.ts';
import type { ConversationMessage } from '../../../src/core/message.ts';
import { messages } from '../../support/messages.ts';

/** What 'dann', a word of `frequency` of the units, is worth there, and what a word of one unit is. */
function worthOf(frequency: number, units: number, isEnglish: boolean): readonly boolean[] {
  const index = createTermIndex({ stem: (word) => word, isEnglish, speakers: [] });
  const letters = (unit: number): string =>
    String.fromCharCode(
      ...String(unit)
        .split('')
        .map((digit) => 97 + Number(digit)),
    );
  for (let unit = 0; unit < units; unit += 1) {
    const text = `${unit < frequency ? 'dann' : 'still'} wort${letters(unit)}`;
    index.add(text, { start: 0, end: text.length }, { speakerKind: 'user', messageIndex: unit });
  }
  const worth = weighTerms(index, { messageCount: units, isEnglish });
  const at = (word: string): boolean => index.knownTermsIn(word).every((term) => (worth[term] ?? 0) > 0);
  return [at('dann'), at('worta')];
}

test('without a list of stop-words, a word of many sentences is one', () => {
  assert.deepEqual(worthOf(6, 200, false), [false, true]);
});

test('a word of a few sentences is none, nor is any where there are few sentences', () => {
  assert.deepEqual(
    [worthOf(5, 200, false), worthOf(4, 50, false), worthOf(20, 30, false)],
    [
      [true, true],
      [true, true],
      [true, true],
    ],
  );
});

test('with a list only what it names is one', () => {
  assert.deepEqual(worthOf(6, 200, true), [true, true]);
});

const stem = (word: string): string => word;

function weigh(sentence: string, rest: { opensDay?: boolean; showsSomething?: boolean } = {}): number {
  const index = createTermIndex({ stem, isEnglish: true, speakers: [] });
  const features = index.add(sentence, { start: 0, end: sentence.length }, { speakerKind: 'user', messageIndex: 0 });
  return (
    Math.round(weighTalkSentence({ features, sentence, opensDay: false, showsSomething: false, ...rest }) * 1_000) /
    1_000
  );
}

function kept(said: readonly ConversationMessage[], budgetChars: number): readonly string[] {
  return selectUnits(readMessages(said), { budgetChars, stem }).map(({ text }) => text);
}

test('a sentence weighs more where its speaker tells what he did, has, counted, named or quoted', () => {
  assert.deepEqual(
    [
      'The ferry leaves from the northern pier',
      'I climbed the northern tower',
      'We just finally saw the ferry',
      "I've repaired the ferry",
      'my ferry leaves from the pier',
      'The ferry has three decks',
      'The ferry has 3 decks',
      'The ferry is called Heron',
      'They sang “The Grey Heron” aboard',
      'They carry cattle, timber and mail',
    ].map((sentence) => weigh(sentence)),
    [1, 1.15, 1.15, 1.15, 1.1, 1.15, 1.15, 1.3, 1.3, 1.15],
  );
});

test('what another did, a plan and a lone quotation mark weigh nothing more', () => {
  assert.deepEqual(
    ['They climbed the tower', 'I will climb the tower', 'The 5" nail', 'Ferries, and boats', 'I think they left'].map(
      (sentence) => weigh(sentence.replace('5', 'long')),
    ),
    [1, 1, 1, 1, 1],
  );
});

test('a sentence of the first messages of a day, or beside a picture, weighs more', () => {
  assert.deepEqual(
    [
      weigh('The ferry leaves', { opensDay: true }),
      weigh('The ferry leaves', { showsSomething: true }),
      weigh('The ferry leaves', { opensDay: true, showsSomething: true }),
    ],
    [1.15, 1.15, 1.322],
  );
});

// As many words in fewer characters, so that it is kept where nothing speaks for the other.
const GATE = 'The orchard gate jams badly.';
const ROOF = 'The granary roof creaks badly.';

test('a sentence beside a picture is kept before a slightly denser one', () => {
  const said = messages({ content: GATE }, { content: `${ROOF} [image: a roof]` });
  assert.deepEqual(kept(said, 45), [ROOF]);
});

test('a sentence that a day begins with is kept before a slightly denser one', () => {
  const monday = new Date('2024-03-04T10:00:00Z');
  const tuesday = new Date('2024-03-05T10:00:00Z');
  const fillers = Array.from({ length: 4 }, () => ({ content: 'ok', created_at: monday }));
  const said = messages(...fillers, { content: GATE, created_at: monday }, { content: ROOF, created_at: tuesday });
  assert.deepEqual(kept(said, 54), [ROOF]);
});

test('without days the first messages are no beginning of one', () => {
  const said = messages({ content: ROOF }, ...Array.from({ length: 4 }, () => ({ content: 'ok' })), {
    content: GATE,
  });
  assert.deepEqual(kept(said, 45), [GATE]);
});

test('where tools are at work a tale weighs no more than another sentence', () => {
  const tale = 'We watched granary roofs leak.';
  const said = messages({ role: 'assistant', content: GATE }, { role: 'assistant', content: tale });
  const answer = messages({ role: 'tool', content: '·', tool_call_id: 'a' });
  assert.deepEqual([kept(said, 45), kept([...said, ...answer], 45)], [[tale], [GATE]]);
});
