import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { condenseProse } from '../../../src/core/handover/prose.ts';
import { call, handoverOf as handover, type Part, result, run, said, section, typed } from './said.ts';

const stateOf = (parts: readonly Part[]): string => section(handover(parts), 'Where it stands');

describe('where it stands', () => {
  test('an unfinished request shows the whole list that its newest report gives', () => {
    const findings = Array.from(
      { length: 8 },
      (_, at) => `${at + 1}. Shelf ${at + 1} is ${at + 3} cm too low because its bracket was mounted upside down.`,
    );
    const state = stateOf([
      typed('Check all shelves and mend what is wrong.'),
      said(['I measured every shelf of the bakery with the laser. These are wrong:', '', ...findings].join('\n')),
      ...run('1', 'mount --shelf 1', 'done'),
      said('Shelf 1 hangs right now, so the next one is shelf 2.'),
      call('2', 'Bash', { command: 'mount --shelf 2' }),
    ]);
    for (const finding of findings) assert.ok(state.includes(finding), finding);
    assert.match(
      state,
      /^Its last steps, in order:\n- `mount --shelf 1` \(passed\)\n- `mount --shelf 2` \(no result yet\)$/m,
    );
  });

  test('a consent stands with what it consents to', () => {
    const state = stateOf([
      typed('Plan the bread.'),
      said('Rye for Monday. Shall I order forty kilos of rye flour?'),
      typed('yes'),
      call('1', 'Bash', { command: 'order rye 40' }),
    ]);
    assert.match(state, /“yes” — not finished.*\n {3}\(answers: “Shall I order forty kilos of rye flour\?”\)/);
  });

  test('of a pasted log, the first line is enough', () => {
    const log = Array.from({ length: 9 }, (_, at) => `2026-03-01 09:00:0${at} oven ${at} switched on`);
    const state = stateOf([
      typed(['The oven is on at night:', ...log, 'Why?'].join('\n')),
      ...run('1', 'look oven', 'hot'),
      said('It is hot.'),
    ]);
    assert.match(state, /oven 0 switched on/);
    assert.match(state, /Why\?/);
    assert.doesNotMatch(state, /oven [1-9] switched on/);
  });

  test('without a commit, what was changed is said to be uncommitted', () => {
    const state = stateOf([
      typed('Oil the door.'),
      call('1', 'Edit', { file_path: '/srv/door.ts', old_string: 'dry', new_string: 'oiled' }),
      result('1', 'ok'),
      said('The door is oiled.'),
    ]);
    assert.match(state, /^Git: changed, no commit seen: `door\.ts`$/m);
  });

  test('checks of Go and counts of issues tell how a check ended, even through a pipe', () => {
    const state = stateOf([
      typed('Check it.'),
      ...run('1', 'golangci-lint run | tail -5', '2 issues:\n* errcheck: 2'),
      ...run('2', 'go test ./oven/... 2>&1 | tail -3', 'ok  \tbakery/oven\t0.52s'),
      said('Checked.'),
    ]);
    assert.match(
      state,
      /^Last checks, in order:\n- `golangci-lint run` failed \(“2 issues:” “\* errcheck: 2”\)\n- `go test \.\/oven\/\.\.\.` passed$/m,
    );
    const broken = stateOf([
      typed('Check it.'),
      ...run('1', 'go test ./oven/... 2>&1 | tail -3', '--- FAIL: TestHeat (0.01s)\nFAIL\tbakery/oven\t0.52s'),
      said('Checked.'),
    ]);
    assert.match(broken, /`go test \.\/oven\/\.\.\.` failed/);
  });

  test('a failure does not contradict a later check of its kind that passed', () => {
    const text = handover([
      typed('Lint it.'),
      ...run('1', 'npm run lint', '3 problems'),
      ...run('2', 'npm run lint', '1 problem'),
      ...run('3', 'npm run build && npm run lint', 'Found 0 errors'),
      said('Linted.'),
    ]);
    assert.match(
      section(text, 'Commands'),
      /^- `npm run lint` 2 times failed \(later `npm run build && npm run lint` passed\)/m,
    );
    assert.match(section(text, 'Where it stands'), /^Last checks: `npm run build && npm run lint` passed/m);
  });

  test('a task that is known only by its number is left out', () => {
    const state = stateOf([
      typed('Go on.'),
      call('1', 'TaskUpdate', { taskId: '3', status: 'completed' }),
      result('1', 'Updated task #3 status'),
      said('Task 3 is done.'),
    ]);
    assert.doesNotMatch(state, /Tasks|task 3;/);
  });
});

test('a command of the client stands as it was typed', () => {
  const text = handover([
    typed(
      '<command-message>weigh</command-message>\n<command-name>/weigh</command-name>\n<command-args>all loaves</command-args>',
    ),
    ...run('1', 'weigh', '12 kg'),
    said('They weigh 12 kg.'),
  ]);
  assert.match(section(text, 'Requests and how they ended'), /^1\. \/weigh all loaves$/m);
});

test('a request that was typed again before anything came of it is told once', () => {
  const text = handover([
    typed('Bake spelt bread for the market'),
    typed('Bake spelt bread for the market on Monday, twenty loaves.'),
    ...run('1', 'bake spelt 20', 'baked'),
    said('Twenty loaves of spelt are baked.'),
    typed('Bake spelt bread for the market on Monday, twenty loaves.'),
    said('Twenty more are baked.'),
  ]);
  const requests = section(text, 'Requests and how they ended');
  assert.equal(requests.match(/^\d+\. /gm)?.length, 2);
});

test('two requests that only begin alike are two', () => {
  const beginning = 'Read the page https://bakery.example/recipes/2026/03/01/how-to-bake-bread and tell me how ';
  const requests = section(
    handover([
      typed(`${beginning}rye is baked.`),
      typed(`${beginning}spelt is baked.`),
      ...run('1', 'read it', 'rye'),
      said('So.'),
    ]),
    'Requests and how they ended',
  );
  assert.match(requests, /rye is baked/);
  assert.match(requests, /spelt is baked/);
});

test('a guess is no finding, and findings take no more than their share', () => {
  const things = 'anvil bellows cellar damper ember funnel grate hinge ingot jack kettle ladle mallet nozzle'.split(
    ' ',
  );
  const findingsOf = (verb: string, things: readonly string[], maxChars: number): string => {
    const parts = things.flatMap((thing, at) => [
      said(`The ${thing}Door ${verb} at ${at} °C because the ${thing}Fan was never switched off by ${thing}Clock.`),
      ...run(`${at}`, `look ${thing}`, 'looked'),
    ]);
    const text = handover([typed('Why is the bread stale?'), ...parts, said('I looked.')], maxChars);
    return section(text, 'Decisions and findings');
  };
  const many = things.flatMap((thing) => [`${thing}Old`, `${thing}New`, `${thing}Big`, `${thing}Odd`, `${thing}Raw`]);
  const found = findingsOf('is', many, 6_000);
  assert.match(found, /Door is at/);
  assert.ok(found.length < 600);
  assert.equal(findingsOf('might be', many, 6_000), '');
});

test('thinking aloud and empty words are left out, but not the beginning of an answer', () => {
  const answer =
    'The oven is cold. The fuse is whole. Wait, let me think about the lamp. The door switch is stuck at 4.';
  assert.doesNotMatch(condenseProse(answer, 400), /Wait/);
  assert.match(condenseProse('Good question. Let me think about the lamp. It is off.', 400), /^Good question\. Let me/);
  const state = stateOf([
    typed('Mend the oven.'),
    said('Now I have a comprehensive understanding of the oven.'),
    ...run('1', 'look switch', 'stuck'),
    said('The door switch is stuck at position 4.'),
    ...run('2', 'free switch', 'free'),
    said('Let me test it.'),
    call('3', 'Bash', { command: 'heat' }),
  ]);
  assert.match(state, /switch is stuck/);
  assert.doesNotMatch(state, /understanding/);
});

test('a check that failed once is told once', () => {
  const text = handover([typed('Test it.'), ...run('1', 'npm test', 'Exit code 1\n2 failed'), said('Two tests fail.')]);
  assert.equal(text.match(/`npm test`/g)?.length, 1, text);
});

test('a command that failed last is told with its errors, and not again among the commands', () => {
  const text = handover([
    typed('Deploy it.'),
    call('1', 'Bash', { command: 'deploy oven' }),
    result('1', 'Exit code 1\nerror: the oven is hot'),
    said('It is hot.'),
  ]);
  assert.match(
    section(text, 'Where it stands'),
    /^Last failing command: `deploy oven`\n {3}> error: the oven is hot$/m,
  );
  assert.equal(text.match(/`deploy oven`/g)?.length, 1, text);
});

test('while the newest request is being worked on, the one before it gets the most room', () => {
  const report = (name: string): string =>
    Array.from({ length: 90 }, (_, at) => `The ${name} has rule ${at}, because loaf ${at} of it was weighed.`).join(
      '\n',
    );
  const text = handover(
    [
      ...['rye', 'oat', 'wheat'].flatMap((name, at) => [
        typed(`Weigh ${name}.`),
        ...run(`${at}`, `weigh ${name}`, 'ok'),
        said(report(name)),
      ]),
      typed('Go on.'),
      call('9', 'Bash', { command: 'weigh all' }),
    ],
    9_000,
  );
  const quotes = ['rye', 'oat', 'wheat'].map((name) => text.split(`The ${name} has rule`).length);
  const [rye = 0, oat = 0, wheat = 0] = quotes;
  // As if it were the newest: three parts to two, not two to one and a half.
  assert.ok(wheat > 1.38 * oat && oat > rye, quotes.join());
});

test('a question is open only if the assistant waited with it', () => {
  const question = said('The oven is cold. Shall I heat it?');
  assert.match(stateOf([typed('Look.'), ...run('1', 'look', 'cold'), question]), /^Waits for an answer: /m);
  assert.doesNotMatch(stateOf([typed('Look.'), question, ...run('1', 'look', 'cold')]), /Waits for an answer/);
});

test('only commands that ran a check are checks, and only runs with a known end passed', () => {
  const text = handover([
    typed('Check it.'),
    ...[
      'golangci-lint --version',
      'npm install jest',
      'rm -rf build',
      'test -f oven.ts',
      'TEST=lint-it run "make',
    ].flatMap((command, at) => run(`a${at}`, command, 'fine')),
    ...run('1', 'npm test | tail -2', 'something'),
    ...run('2', 'npm test | tail -2', '7 passed'),
    ...run('3', 'npx jest', '9 passed'),
    said('Checked.'),
  ]);
  assert.match(section(text, 'Where it stands'), /^Last checks: `npx jest` passed \(“9 passed”\)$/m);
  assert.match(section(text, 'Commands'), /^- Passed: `npm test` \(“7 passed”\)$/m);
});

test('what a summary of the producer says of its current work is over once a request came later', () => {
  const summary =
    'This session is being continued from a previous conversation.\n1. Files:\n - oven.ts is new\n2. Current Work:\n I was oiling the door.';
  const parts = [{ role: 'user', content: summary } as const, ...run('1', 'oil door', 'oiled')];
  assert.match(handover([...parts, said('Oiled.')]), /oiling the door/);
  // An earlier request does not end it.
  assert.match(handover([typed('Oil the door.'), ...parts, said('Oiled.')]), /oiling the door/);
  assert.doesNotMatch(handover([...parts, typed('Now the scale.'), said('Weighed.')]), /oiling the door/);
});

test('numbered next steps of a producer go with their heading', () => {
  const summary =
    '## Goal\nBake.\n## Next Steps\n1. Order rye flour\n2. Clean the oven\n## Key Files\n- oven.ts is new';
  const text = handover([
    {
      role: 'user',
      content: `The conversation history before this point was compacted into the following summary:\n${summary}`,
    },
    typed('Now the scale.'),
    ...run('1', 'weigh', '3 kg'),
    said('Weighed.'),
  ]);
  assert.match(text, /oven\.ts is new/);
  assert.doesNotMatch(text, /Order rye|Clean the oven|Next Steps/);
});

test('a call that the user did not allow counts as nothing', () => {
  const refusal =
    "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nI did not say commit anything";
  const text = handover([
    typed('Oil the door.'),
    call('1', 'Edit', { file_path: '/srv/door.ts', old_string: 'dry', new_string: 'oiled' }),
    result('1', 'ok'),
    ...run('2', 'git commit -am "Oil the door"', refusal),
    said('Not committed.'),
  ]);
  assert.match(section(text, 'Where it stands'), /^Git: changed, no commit seen: `door\.ts`$/m);
  assert.match(text, /\(refused Bash, as its result tells:\) I did not say commit anything/);
});

test('a reply in numbers stands with the items that it answers', () => {
  const text = handover([
    typed('What is open?'),
    said('Three things are open:\n1. Should the oven beep?\n2. Is rye sold on Mondays?\n3. Who weighs the loaves?'),
    typed('1. no\n3. Kim'),
    ...run('1', 'set beep off', 'ok'),
    said('Set.'),
  ]);
  assert.match(text, /\(answers: “1\. Should the oven beep\?”; “3\. Who weighs the loaves\?”\)/);
});

test('a call that the user did not allow is told at the end of the work', () => {
  const state = stateOf([
    typed('Oil the door.'),
    said('I commit it.'),
    ...run(
      '1',
      'git commit -m "Oil the door"',
      "The user doesn't want to proceed with this tool use. The tool use was rejected.",
    ),
  ]);
  assert.match(state, /^Refused, as its result tells: Bash `git commit -m "Oil the door"`$/m);
});

test('a command is called by what it does, not by the variables and the folder that it sets first', () => {
  const commands = section(
    handover([
      typed('Weigh it.'),
      ...run('1', 'SCALE="/dev/scale 1"\nweigh rye', 'Exit code 1\nerror: the scale is wet'),
      ...run('2', 'cd /srv/bakery\nexport SCALE=2\nweigh spelt', 'Exit code 1\nerror: the scale is dry'),
      ...run('3', 'true', ''),
      said('Weighed.'),
    ]),
    'Commands',
  );
  assert.match(commands, /^- `weigh rye` failed: “error: the scale is wet”$/m);
  assert.doesNotMatch(commands, /SCALE|cd /);
});

test('a build that failed before tests passed is over, and nothing that only names a check is one', () => {
  const checks = (...parts: readonly Part[]): string =>
    section(handover([typed('Mend the oven.'), ...parts, said('Mended.')]), 'Where it stands');
  const broken = run('1', 'go build ./...', 'Exit code 1\nundefined: heat');
  const tested = run('2', 'go test ./...', 'ok  \toven\t0.1s');
  assert.match(checks(...broken), /^Last checks: `go build \.\/\.\.\.` failed/m);
  assert.match(checks(...broken, ...tested), /^Last checks: `go test \.\/\.\.\.` passed$/m);
  assert.match(checks(...tested, ...broken), /^- `go build \.\/\.\.\.` failed/m);
  assert.doesNotMatch(checks(...run('3', 'gh api repos/x/test -f body=build', '{"id": 7}')), /Last checks/);
});
