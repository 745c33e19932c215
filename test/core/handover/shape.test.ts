import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { stemmer } from 'stemmer';
import { writeHandover } from '../../../src/core/handover/handover.ts';
import { condenseProse } from '../../../src/core/handover/prose.ts';
import { messages, oddTexts } from '../../support/messages.ts';
import { call, edit, handoverOf as handover, type Part, result, run, said, section, typed } from './said.ts';

const REPORT = [
  '## What changed',
  '',
  'The oven door is checked before each bake, because the timer fired twice.',
  '',
  '**Files**',
  '- `oven.ts`: the door event is read once',
  '- `timer.ts`: starts only after the door is closed',
  '',
  '| test | before | after |',
  '|------|--------|-------|',
  '| door | red | green |',
  '',
  'You can try it with:',
  '```sh',
  'npm run bake -- --door open --temperature 240 --minutes 45 --weigh --log oven.log --loud --twice --again --and-once-more',
  'npm run weigh',
  '```',
  'Shall I remove the old timer?',
].join('\n');

describe('a long answer that is condensed', () => {
  const text = condenseProse(REPORT, 420);

  test('keeps headings with what stands under them, and names the columns of a table', () => {
    assert.match(text, /^\*\*What changed:\*\* The oven door is checked/);
    assert.match(text, /- door: before: red, after: green/);
  });

  test('reads a table behind another by its own columns', () => {
    const tables = '| door | state |\n|---|---|\n| left | shut |\n\n| loaf | grams |\n|---|---|\n| rye | 700 |';
    assert.equal(condenseProse(tables, 400), '- left: shut\n- rye: 700');
  });

  test('knows how deep an item stands, whatever ends its line', () => {
    const list = 'It is hot.\n- door: open\n  - tray: full';
    for (const end of ['\n', '\u2028', '\u2029'])
      assert.equal(condenseProse(list.replaceAll('\n', end), 400), list, JSON.stringify(end));
  });

  test('takes no row of a table without a head for its columns', () => {
    const table = 'Four commits:\n\n| | |\n|---|---|\n| `e67d23e9` | the home page |\n| `17615915` | the menu |';
    assert.equal(condenseProse(table, 400), 'Four commits:\n- `e67d23e9`: the home page\n- `17615915`: the menu');
  });

  test('names the columns where cells say nothing without them', () => {
    const tables =
      '| Before | After |\n|---|---|\n| the door squeaks | it is oiled |\n\nText between.\n\n| Shut | Then |\n|---|---|\n| No | shut it |';
    assert.equal(
      condenseProse(tables, 400),
      '- Before: the door squeaks, After: it is oiled\nText between.\n- Shut: No, Then: shut it',
    );
  });

  test('never ends with the announcement of what was left out', () => {
    assert.doesNotMatch(text, /try it with/);
    for (const line of text.split('\n')) assert.doesNotMatch(line, /:$/, line);
  });

  test('cuts a list between its items and says how many are missing', () => {
    const items = Array.from({ length: 30 }, (_, at) => `- loaf ${at} weighs ${at * 100} g after an hour`);
    const short = condenseProse(['The scale shows:', ...items].join('\n'), 300);
    assert.match(short, /^The scale shows:\n- loaf \d+ weighs/);
    const [, more] = / \((\d+) more\)$/.exec(short) ?? [];
    assert.equal(short.split('\n').length - 1 + Number(more), 30);
  });

  test('quotes a whole list rather than an item of each', () => {
    const list = (of: string): string =>
      [`The ${of}:`, ...['one', 'two', 'three'].map((at) => `- ${of} ${at} was checked`)].join('\n');
    const short = condenseProse(['ovens', 'doors', 'mills', 'scales'].map(list).join('\n\n'), 186);
    assert.doesNotMatch(short, / more\)/);
    assert.match(short, /- ovens one was checked\n- ovens two was checked\n- ovens three was checked/);
  });

  test('says more than that it is done', () => {
    const long = `Done. ${'The dough rests for an hour and is folded twice and then it is baked, '.repeat(9)}`;
    assert.ok(condenseProse(long, 180).length > 100);
  });

  test('is never longer than its room, and quotes what was there', () => {
    const markdown = fc.array(
      fc.oneof(
        oddTexts,
        fc.constantFrom('- a list item', '## Heading', '| a | b |', '|---|---|', '```', 'A lead:', '**Bold**'),
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(markdown, fc.nat({ max: 400 }), (lines, maxChars) => {
        assert.ok(condenseProse(lines.join('\n'), maxChars).length <= Math.max(maxChars, 12));
      }),
    );
  });
});

describe('where it stands', () => {
  test('tells the branch, the commits, what was changed since, and the last checks', () => {
    const text = handover([
      typed('Fix the timer.'),
      ...run('1', 'git checkout -b fix-timer', "Switched to a new branch 'fix-timer'"),
      ...edit('2', '/srv/oven.ts', 'const MINUTES = 40;', 'const MINUTES = 45;'),
      ...run('3', 'npm test', '12 passed'),
      ...run('4', 'git commit -am "Bake longer"', '[fix-timer 1a2b3c4] Bake longer\n 1 file changed'),
      ...edit('5', '/srv/door.ts', 'open', 'closed'),
      said('The timer is fixed.'),
    ]);
    const state = section(text, 'Where it stands');
    assert.match(state, /^Last request \(1\): “Fix the timer\.” — answered\.$/m);
    assert.match(
      state,
      /^Git: branch `fix-timer`; 1 commit seen, newest first: 1a2b3c4 “Bake longer”; no push seen; changed, no commit seen since: `door\.ts`$/m,
    );
    assert.match(state, /^Last checks: `npm test` passed \(“12 passed”\), `door\.ts` changed since$/m);
  });

  test('knows a commit whose output was cut, and the tasks that were added and changed one by one', () => {
    const text = handover([
      typed('Fix the door.'),
      call('1', 'TaskCreate', { subject: 'Oil the hinge' }),
      result('1', 'Task #7 created successfully: Oil the hinge'),
      call('2', 'TaskCreate', { subject: 'Paint the door' }),
      result('2', 'Task #8 created successfully: Paint the door'),
      call('3', 'TaskUpdate', { taskId: '7', status: 'completed' }),
      result('3', 'Updated task #7 status'),
      ...edit('4', '/srv/door.ts', 'dry', 'oiled'),
      ...run('5', 'git add -A && git commit -q -m "Oil the hinge" && git log --oneline | head -1', '(no output)'),
      said('Oiled.'),
    ]);
    const state = section(text, 'Where it stands');
    assert.match(state, /^Tasks, as last written \(1 of 2 done\); done: Oil the hinge; open:\n- Paint the door$/m);
    assert.match(
      state,
      /^Git: 1 commit seen, newest first: “Oil the hinge” \(no hash was shown\); no push seen; no edits seen since$/m,
    );
  });

  test('takes the hash of a commit from a later log, and its subject from a here-document', () => {
    const text = handover([
      typed('Oil the hinge.'),
      ...edit('1', '/srv/door.ts', 'dry', 'oiled'),
      ...run('2', "git commit -q -F - <<'EOF'\nOil the hinge\n\nIt was dry.\nEOF", ''),
      ...run('3', 'git log --oneline -2', '1a2b3c4 Oil the hinge\n9f8e7d6 Hang the door'),
      said('Oiled.'),
    ]);
    assert.match(
      section(text, 'Where it stands'),
      /^Git: 1 commit seen, newest first: 1a2b3c4 “Oil the hinge”; no push seen; no edits seen since$/m,
    );
  });

  test('takes a repository in a temp folder for none of the session', () => {
    const text = handover([
      typed('Try it.'),
      ...run('1', 'cd /tmp/try && git init && git commit -m x', '[main (root-commit) 9f8e7d6] x'),
      said('It works.'),
    ]);
    assert.doesNotMatch(text, /Git:/);
  });

  test('tells of unfinished work what was found, what was changed and what came last', () => {
    const text = handover([
      typed('Why does the loaf sink?'),
      said('The dough rests for 40 minutes because `REST` is read as seconds in one place.'),
      ...edit('1', '/srv/rest.ts', 'seconds', 'minutes'),
      said('Let me run the tests:'),
      call('2', 'Bash', { command: 'npm test' }),
    ]);
    const state = section(text, 'Where it stands');
    assert.match(state, /not finished: the assistant was still working on it/);
    assert.match(state, /because `REST` is read as seconds/);
    assert.match(state, /^Changed for it so far: `rest\.ts`$/m);
    assert.match(state, /^- `npm test` \(no result yet\)$/m);
  });

  test('quotes the closing report once, and the request says where', () => {
    const text = handover([typed('Go.'), ...run('1', 'npm test', '3 passed'), said(REPORT)]);
    assert.match(section(text, 'Where it stands'), /^Closing report: \*\*What changed:\*\* The oven door/m);
    assert.match(text, /→ \(its closing report: see “Where it stands”\)/);
    assert.equal(text.split('The oven door is checked').length, 2);
    assert.match(text, /^Waits for an answer: “Shall I remove the old timer\?”$/m);
  });
});

describe('requests', () => {
  test('a choice stands with the option that it chose, a consent with what it answers', () => {
    const text = handover([
      typed('How can the bakery open earlier?'),
      said('Two ways:\n\n**1. At night** - bake the rye.\n\n**2. A second oven** - buy it.\n\nWhich one?'),
      typed('do 2'),
      said('The oven costs 900. Should I order it?'),
      typed('yes'),
      ...run('1', 'order oven', 'ok'),
      said('Ordered.'),
    ]);
    assert.match(text, /^2\. do 2\n {3}\(answers: “\*\*2\. A second oven\*\* - buy it\.”\)$/m);
    assert.match(text, /^3\. yes\n {3}\(answers: “Should I order it\?”\)$/m);
  });

  test('a consent in another language stands with what it answers', () => {
    for (const consent of ['Ja, bitte.', 'да', 'はい、お願いします']) {
      const text = handover([
        typed('Buy an oven.'),
        said('It costs 900. Shall I order it?'),
        typed(consent),
        ...run('1', 'order oven', 'ok'),
        said('Ordered.'),
      ]);
      assert.ok(text.includes(`2. ${consent}\n   (answers: “Shall I order it?”)`), consent);
    }
  });

  test('an option that a longer request names is quoted from the answer that offered it', () => {
    const text = handover([
      typed('How do we heat faster?'),
      ...run('1', 'heat --test', 'slow'),
      said('### Option 1: A fan\n\nIt moves the air.\n\n### Option 2: A second oven\n\nIt doubles the bill.'),
      typed('What does a fan cost?'),
      said('About 40.'),
      typed('Write down what we compared. I would go with option 2 for now, as the simple way.'),
      said('Written.'),
    ]);
    assert.match(text, /^ {3}\(answers: “\*\*Option 2: A second oven:\*\* It doubles the bill\.”\)$/m);
  });

  test('a commit that was amended counts once', () => {
    const text = handover([
      typed('Commit it.'),
      ...run('1', 'git commit -am "Bake"', '[main 1a2b3c4] Bake\n 1 file changed'),
      ...run('2', 'git commit --amend -m "Bake longer"', '[main 5d6e7f8] Bake longer\n 1 file changed'),
      said('Done.'),
    ]);
    assert.match(section(text, 'Where it stands'), /1 commit seen, newest first: 5d6e7f8 “Bake longer” \(amended\);/);
  });

  test('a command of the client with words of its own is a request, one without is none', () => {
    const command = (name: string, args: string): Part => ({
      role: 'user',
      content: `<command-message>${name}</command-message>\n<command-name>/${name}</command-name>\n<command-args>${args}</command-args>`,
    });
    const text = handover([
      command('review', 'the oven'),
      ...run('1', 'cat oven', 'hot'),
      said('It is hot.'),
      command('clear', ''),
    ]);
    assert.match(text, /^1\. \/review the oven$/m);
    assert.doesNotMatch(text, /clear/);
  });
});

test('a constant that was spoken of stands with its value and its file, and no output stands among details', () => {
  const text = handover([
    typed('Find the port.'),
    ...run(
      '1',
      'grep -rn PORT config',
      'config/gateway.ts:12: export const GATEWAY_PORT = 8443;\nThe gateway of mill 4 was started: fine.\nreturn errStop',
    ),
    said('`GATEWAY_PORT` is set in the configuration of the gateway.'),
    said('The gateway listens on the port of mill 7, as its manual demands of all gateways.'),
    said('Nothing else listens there.'),
  ]);
  assert.match(section(text, 'Files'), /^- `gateway\.ts`: `export const GATEWAY_PORT = 8443`$/m);
  assert.doesNotMatch(text, /mill 4|errStop/);
});

test('details stand under the request that they belong to, and repeat nothing', () => {
  const remarks = Array.from({ length: 400 }, (_, at) =>
    said(`Mill ${at} grinds rye at ${at * 9} rpm for the bakery.`),
  );
  const text = handover(
    [
      typed('Look at the mills.'),
      ...remarks.slice(0, 200),
      ...run('1', 'look', 'all mills'),
      ...remarks.slice(200),
      typed('And now?'),
      said('All mills were looked at, and none of them stands still today.'),
    ],
    6_000,
  );
  const details = section(text, 'Details');
  assert.match(details, /^Request 1:\n- Mill \d+ grinds rye/);
  const told = [...text.matchAll(/Mill (\d+) grinds/g)].map(([, mill]) => mill);
  assert.equal(new Set(told).size, told.length, text);
});

test('what a report says under its headings is not told again among details', () => {
  const items = Array.from(
    { length: 6 },
    (_, at) => `- **\`heat${at}()\`** - Waits ${at} minutes until door ${at} of the oven is shut.`,
  );
  const text = handover(
    [
      typed('Heat it.'),
      ...run('1', 'look', 'all'),
      said(['All is done. What changed:', '', '**`oven.ts`:**', ...items].join('\n')),
    ],
    50_000,
  );
  assert.equal(text.match(/Waits 0 minutes/g)?.length, 1, text);
});

test('a request that stays has its number and its place, and work on it does not stand under another', () => {
  const input = messages(
    typed('Knead the dough.'),
    ...run('1', 'knead', 'kneaded'),
    said('Kneaded for ten minutes.'),
    ...run('2', 'bake', 'baked'),
    said('Baked at 240 degrees.'),
  );
  const kept = [
    { messageId: 'k1', text: 'Now bake it.', after: input[3]?.id ?? null },
    { messageId: 'k2', text: 'Sell it.', after: input.at(-1)?.id ?? null },
  ];
  const { text } = writeHandover({ messages: input, kept }, { maxChars: 4_000, stem: stemmer });
  assert.match(text, /^Last request \(3\): “Sell it\.” — kept word for word\.$/m);
  assert.match(
    section(text, 'Requests and how they ended'),
    /^1\. Knead the dough\.\n {3}→ Kneaded for ten minutes\.\n2\. \(kept word for word\) Now bake it\.\n {3}→ Baked at 240 degrees\.\n3\. \(kept word for word\) Sell it\.$/,
  );
});

test('output that quotes an interruption interrupts nothing', () => {
  const state = (answer: string): string =>
    section(
      handover([typed('Look at the log.'), call('1', 'Bash', { command: 'cat log' }), result('1', answer)]),
      'Where it stands',
    );
  assert.doesNotMatch(state('line 1\nsaid: [Request interrupted by user]'), /interrupted by the user/);
  assert.match(state('[Request interrupted by user for tool use]'), /interrupted by the user/);
});
