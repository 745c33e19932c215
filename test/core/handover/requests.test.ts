import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openingOf } from '../../../src/core/handover/excerpt.ts';
import { writeRequests } from '../../../src/core/handover/handover.ts';
import { messages } from '../../support/messages.ts';
import { call, handoverOf as handover, run, said, section, typed } from './said.ts';

test('the opening of a text is its first sentence, however much follows or is blank before it', () => {
  for (const before of ['', '\n\n  ', '\n'.repeat(700), ' '.repeat(5_000)]) {
    for (const after of ['', ' And more.', ' And more.'.repeat(400)]) {
      assert.equal(openingOf(`${before}Look at this first.${after}`, 160), 'Look at this first.');
    }
  }
  const endless = 'one word after the other '.repeat(300);
  assert.equal(openingOf(endless, 30), 'one word after the other one…');
});

test('of more requests than fit, the first and the newest are listed', () => {
  const maxChars = 2_000;
  const said = Array.from({ length: 3_000 }, (_, at) => ({
    role: 'user' as const,
    content: `Do task ${at + 1}.`,
    typed: `Do task ${at + 1}.`,
  }));
  const lines = writeRequests(messages(...said), { maxChars }).map(({ text }) => text);
  assert.equal(lines[0], '1. Do task 1.');
  assert.deepEqual(
    lines.slice(1),
    Array.from({ length: lines.length - 1 }, (_, at) => {
      const number = 3_000 - (lines.length - 2) + at;
      return `${number}. Do task ${number}.`;
    }),
  );
  const chars = lines.reduce((sum, line) => sum + line.length + 1, 0);
  assert.ok(chars <= maxChars && chars > maxChars - 30, String(chars));
});

test('that work went on is told only if there is room for it', () => {
  for (const maxChars of [39, 80, 200]) {
    const text = handover([{ role: 'tool', content: 'word', tool_call_id: '1' }, typed('Bake.')], maxChars);
    assert.ok(text.length <= maxChars, text);
  }
});

describe('what a request answers', () => {
  const answered = (offer: string, reply: string): string =>
    /^   \((answers: .*)\)$/m.exec(
      handover([
        typed('What is open?'),
        said(offer),
        typed(reply),
        call('1', 'Bash', { command: 'set beep off' }),
        said('Set.'),
      ]),
    )?.[1] ?? '';
  const lists =
    'What I saw:\n1. The oven is cold.\n2. The door squeaks.\n\nOptions:\n1. Heat it\n2. Oil it\n\nWhich one do you want?';

  test('is the option at the end, not the item of a list above it', () => {
    assert.equal(answered(lists, '2'), 'answers: “2. Oil it”');
    assert.equal(answered(lists, 'do 2 please'), 'answers: “2. Oil it”');
    assert.equal(
      answered('Approach 2: oil it.\n\nWhy?\n2. It is quick.', 'option 2'),
      'answers: “Approach 2: oil it.”',
    );
  });

  test('is nothing where a number counts, a letter is an article, or a list of tasks follows', () => {
    const offer = lists.replaceAll(/^(\d)/gm, (digit) => (digit === '1' ? 'A' : digit));
    for (const reply of ['2 loaves fell on the floor', 'a loaf fell on the floor', 'Plan a trip to the mill.'])
      assert.equal(answered(offer, reply), '', reply);
    assert.equal(answered(lists, 'Two things:\n1. buy rye\n2. sell spelt'), '');
    assert.equal(answered('I did this:\n1. Heated it\n2. Oiled it', '1. buy rye\n2. sell spelt'), '');
  });
});

test('a plan that was pasted is quoted whole with its headings on lines of their own', () => {
  const steps = Array.from({ length: 40 }, (_, at) => `- Turn tray ${at} and write down how warm it is.`);
  const plan = `Implement the following plan:\n\n# Plan: Even heat\n\n${'The oven heats unevenly. '.repeat(8)}\n\n## Trays\n\n${steps.join('\n')}\n\n### Last\nShut the door, and never leave it open again while the oven is still hot inside.`;
  const requests = section(
    handover([typed(plan), call('1', 'Bash', { command: 'turn --all' }), said('All trays are turned.')], 16_000),
    'Requests and how they ended',
  );
  assert.match(requests, /^1\. Implement the following plan: # Plan: Even heat\n/);
  assert.match(requests, /\n {3}\*\*Trays\*\*\n {3}- Turn tray 0 /);
  assert.match(requests, /\n {3}\*\*Last\*\*\n {3}Shut the door/);
  for (const step of steps) assert.ok(requests.includes(step), step);
});

test('what a terminal showed is not quoted whole, however much room there is', () => {
  const shown = Array.from({ length: 200 }, (_, at) => `  ${at + 100} +    const s${at} = 0.0025;`);
  const requests = section(
    handover(
      [typed(`Why is this slow?\n${shown.join('\n')}`), call('1', 'Bash', { command: 'turn' }), said('It loops.')],
      16_000,
    ),
    'Requests and how they ended',
  );
  assert.match(requests, /^1\. Why is this slow\?/);
  assert.ok(shown.filter((line) => requests.includes(line.trim())).length < 120, requests);
});

test('a long request that is typed again is not quoted again', () => {
  const words = 'Please bake the rye loaf at 250 degrees, then let it rest for as long as the dough needs to.';
  const text = handover([
    typed(words),
    ...run('1', 'bake', 'done'),
    said('Baked.'),
    typed(words),
    said('Baked again.'),
    typed('Now wash the tins.'),
    said('Washed.'),
  ]);
  assert.match(text, /^2\. \(the same words as 1\)\n {3}→ Baked again\.$/m);
  assert.equal(text.split(words).length, 2);
});

test('the words of a request that is not quoted again are always there', () => {
  const words = 'Please bake the rye loaf at 250 degrees, then let it rest for as long as the dough needs to.';
  const asks = Array.from({ length: 300 }, (_, at) =>
    typed(at % 30 === 20 ? words : `Now wash tin ${at}, and dry it well.`),
  );
  const text = handover(asks.flatMap((ask, at) => [ask, ...run(`${at}`, 'wash', 'clean'), said('That is done now.')]));
  const repeated = [...text.matchAll(/^(\d+)\. \(the same words as (\d+)\)$/gm)];
  assert.notEqual(repeated.length, 0);
  for (const [, , shown] of repeated) assert.match(text, new RegExp(`^${shown}\\. Please bake`, 'm'));
});

test('a remark loses what the assistant says that it will do next', () => {
  const text = handover([
    typed('Why does the loaf sink?'),
    said('The oven door is opened after five minutes, so the loaf sinks. Let me check the timer.'),
    ...run('1', 'timer', '5'),
    said('The timer rings too early. I set it to 40 minutes and the loaf stands.'),
  ]);
  assert.match(text, /^ {3}- The oven door is opened after five minutes, so the loaf sinks\.$/m);
  const plan = 'Now let me remove the old timer, since we no longer need it:';
  const reasoned = handover([
    typed('Mend it.'),
    said(`Good. ${plan}`),
    ...run('1', 'timer', '5'),
    said('It is mended.'),
  ]);
  assert.ok(reasoned.includes(plan), reasoned);
});
