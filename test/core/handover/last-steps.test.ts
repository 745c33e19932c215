import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, edit, handoverOf, type Part, result, run, said, section, typed } from './said.ts';

/** The last steps of work that was not finished. */
function stepsIn(parts: readonly Part[]): string {
  const state = section(handoverOf([typed('Mend the oven.'), said('Let me look.'), ...parts]), 'Where it stands');
  return state.split('Its last steps, in order:\n')[1] ?? '';
}

function stepsOf(parts: readonly Part[]): readonly string[] {
  return stepsIn(parts)
    .split('\n')
    .filter((line) => /^- (?!`.*` passed)/.test(line));
}

test('a step shows what it found: declarations of a file, files of a search, the first lines of an output', () => {
  assert.deepEqual(
    stepsOf([
      call('1', 'Read', { file_path: '/srv/oven.ts' }),
      result('1', '  7→export function heat(degrees: number): void {\n  8→  warm(degrees);\n  9→}'),
      call('2', 'Grep', { pattern: 'heat\\(', path: '/srv' }),
      result('2', '/srv/oven.ts:7:export function heat(\n/srv/door.ts-3-  heat(1);\n/srv/oven.ts:12:  heat(2);'),
      ...run('3', 'git log --oneline', 'a1b2c3d\tHeat the oven slowly\nb2c3d4e Shut the door first'),
      ...edit('4', '/srv/oven.ts', 'warm(1);', 'warm(2);'),
    ]),
    [
      '- Read `oven.ts`: `export function heat(degrees: number): void`',
      '- Grep `heat\\(`: `oven.ts`, `door.ts` with `export function heat(`',
      '- `git log --oneline`: “a1b2c3d Heat the oven slowly” “b2c3d4e Shut the door first”',
      '- Edit `oven.ts`: `warm(2);`',
    ],
  );
});

test('a file of code that was read without line numbers shows its declarations', () => {
  const code = 'package oven\n\nimport (\n\t"time"\n)\n\nfunc Heat(degrees int) {\n\twarm(degrees)\n}';
  assert.deepEqual(stepsOf([call('1', 'read_file', { absolute_path: '/srv/oven.go' }), result('1', code)]), [
    '- read_file `oven.go`: `func Heat(degrees int)`',
  ]);
});

test('a step that failed shows where, without what was logged', () => {
  const output =
    '2026-11-28T06:00:00Z INFO error store opened\noven.ts:7:3: error TS2304: Cannot find name\nExit code: 2';
  assert.deepEqual(stepsOf(run('1', 'npm run build', output)), [
    '- `npm run build` (failed): “oven.ts:7:3: error TS2304: Cannot find name”',
  ]);
});

test('the report of an agent is quoted as prose, without what the client adds', () => {
  const report =
    'I read all of it.\n\nThe oven overheats because `warm` is called twice.\nagentId: a12 (for resuming)\n<usage>total_tokens: 12\nduration_ms: 60</usage>';
  const steps = stepsIn([
    call('1', 'Task', { description: 'Explore the oven', prompt: 'Find it' }),
    result('1', report),
  ]);
  assert.match(
    steps,
    /^- Task `Explore the oven`: “I read all of it\.\n {3}The oven overheats because `warm` is called twice\.”/,
  );
  assert.doesNotMatch(steps, /agentId|duration_ms/);
});

test('only the last six steps are shown, and no changes of the task list', () => {
  const steps = stepsOf([
    ...Array.from({ length: 9 }, (_, at) => run(`${at}`, `step-${at} --now`, 'done, all is well here')).flat(),
    call('t', 'TodoWrite', { todos: [{ content: 'Heat', status: 'pending' }] }),
    result('t', 'ok'),
  ]);
  assert.deepEqual(
    steps.filter((line) => line.includes('step-')).map((line) => /step-\d/.exec(line)?.[0]),
    ['step-3', 'step-4', 'step-5', 'step-6', 'step-7', 'step-8'],
  );
});

test('a call whose id is used again has its own result', () => {
  assert.deepEqual(
    stepsOf([
      ...run('1', 'git log -1', 'a1b2c3d Heat the oven slowly'),
      ...run('1', 'git log -2', 'b2c3d4e Shut the door first'),
      call('2', 'Bash', { command: 'git status' }),
      typed('Go on.'),
      ...run('1', 'git log -3', 'c3d4e5f Open the door again'),
      call('2', 'Bash', { command: 'git diff' }),
      result('2', 'the door and the oven differ'),
      call('1', 'Bash', { command: 'git show' }),
    ]),
    [
      '- `git log -3`: “c3d4e5f Open the door again”',
      '- `git diff`: “the door and the oven differ”',
      '- `git show` (no result yet)',
    ],
  );
});

test('a command that does something shows the end of its output, and no steps of a runner', () => {
  const output =
    '$ vite build\nreading the recipes\nbaking the first loaf\nbaking the second loaf\nFinished in 12 seconds';
  assert.match(
    stepsIn(run('1', 'npx bake --all', output)),
    /^- `npx bake --all` \(passed\): “baking the first loaf” “baking the second loaf” \(of 3 lines\)$/,
  );
});

test('a result that comes after the next request belongs to its call, and single tasks are no steps', () => {
  assert.deepEqual(
    stepsOf([
      call('1', 'Bash', { command: 'git log' }),
      typed('Go on.'),
      result('1', 'a1b2c3d Heat the oven slowly'),
      call('2', 'TaskUpdate', { taskId: '1', status: 'completed' }),
      result('2', 'Updated task #1 status'),
      ...run('3', 'git status', 'the door and the oven differ'),
    ]),
    ['- `git status`: “the door and the oven differ”'],
  );
  const state = section(
    handoverOf([
      typed('Look.'),
      call('1', 'Bash', { command: 'oil --all' }),
      typed('Go on.'),
      result('1', 'Exit code 1\nerror: no oil is left'),
      said('I look.'),
    ]),
    'Where it stands',
  );
  assert.match(state, /Last failing command: `oil --all`/);
});

test('as many of the last steps are shown as fit', () => {
  const steps = Array.from({ length: 6 }, (_, at) =>
    run(`${at}`, `git log -${at}`, `${'the oven is hot and '.repeat(7)}${at}`),
  );
  const shown = [900, 1_800, 6_000].map((maxChars) => {
    const text = handoverOf([typed('Mend the oven.'), ...steps.flat()], maxChars);
    assert.ok(text.length <= maxChars);
    return (text.match(/- `git log -\d`/g) ?? []).join();
  });
  assert.deepEqual(
    shown.map((each) => each === '' || each.endsWith('git log -5`')),
    [true, true, true],
  );
  assert.ok((shown[1]?.length ?? 0) < (shown[2]?.length ?? 0), shown.join('; '));
});

test('a step that names many files or nothing is short, and does not hide the others', () => {
  const patch = Array.from({ length: 400 }, (_, at) => `*** Update File: /srv/tray-${at}.ts\n+turn(${at});`).join('\n');
  assert.deepEqual(
    stepsOf([
      call('1', 'apply_patch', { input: patch }),
      result('1', 'ok'),
      call('2', 'Task', {}),
      call('3', `x${'-'.repeat(9_000)}`, {}),
    ])
      .slice(0, 3)
      .map((line) => line.slice(0, 200)),
    [
      `- apply_patch ${Array.from({ length: 10 }, (_, at) => `\`tray-${at}.ts\``).join(', ')} and 390 more: \`turn(0);\``,
      '- Task (no result yet)',
      `- x${'-'.repeat(158)}… (no result yet)`,
    ],
  );
});

test('the same call several times in a row is one step, which does not crowd out others', () => {
  const read = (id: string): readonly Part[] => [
    call(id, 'Read', { file_path: '/srv/oven.ts' }),
    result(id, `  7→export function heat${id}(): void {`),
  ];
  assert.deepEqual(
    stepsOf([
      ...run('1', 'git log --oneline', 'a1b2c3d Heat it'),
      ...['2', '3', '4', '5', '6', '7', '8'].flatMap(read),
    ]),
    [
      '- `git log --oneline`: “a1b2c3d Heat it”',
      `- Read \`oven.ts\` 7 times: ${['2', '3', '4', '5', '6', '7', '8'].map((id) => `\`export function heat${id}(): void\``).join(', ')}`,
    ],
  );
});

test('a check among the last steps tells how it failed once', () => {
  const state = section(
    handoverOf([typed('Mend the oven.'), said('Let me test.'), ...run('1', 'npm test', 'Exit code 1\nError: too hot')]),
    'Where it stands',
  );
  assert.equal(state.split('too hot').length, 2, state);
  assert.match(state, /^Last checks: `npm test` failed$/m);
});

test('calls are one step only if they do the same to the same, and it says how many of them failed', () => {
  const script = (id: string, line: string, answer: string): readonly Part[] =>
    run(id, `node - <<'END'\nconsole.log(${line});\nEND`, answer);
  assert.deepEqual(
    stepsIn([
      ...edit('1', '/srv/a/oven.ts', 'a', 'const warm = 1;'),
      ...edit('2', '/srv/b/oven.ts', 'b', 'const cold = 2;'),
      ...script('3', 'heat', 'it is hot in here'),
      ...script('4', 'cool', 'it is cold in here'),
      ...run('5', 'bake --all 2>&1 | tail -5', 'Exit code 1\nerror: no flour is left'),
      ...run('6', 'bake --all', 'two loaves were baked'),
      ...run('7', 'cd /srv/b && bake --all', 'Exit code 1\nerror: no salt is left'),
    ])
      .split('\n')
      .slice(0, 6),
    [
      '- Edit `oven.ts`: `const warm = 1;`',
      '- Edit `oven.ts`: `const cold = 2;`',
      "- `node - <<'END'` (passed): “it is hot in here”",
      "- `node - <<'END'` (passed): “it is cold in here”",
      '- `bake --all` 2 times (1 failed, last: passed): “two loaves were baked”',
      '- `bake --all` (failed): “error: no salt is left”',
    ],
  );
});

test('a check tells what it printed unless a step above tells it', () => {
  const failed = run('1', 'npm test', 'Exit code 1\noven.test.ts:7: error: too hot');
  const long = run('2', 'git log', Array.from({ length: 4 }, (_, at) => `${at}: ${'the oven '.repeat(15)}`).join('\n'));
  const stateOf = (...parts: readonly Part[]): string =>
    section(handoverOf([typed('Mend the oven.'), said('Let me look.'), ...parts], 3_000), 'Where it stands');
  assert.match(stateOf(...failed), /- `npm test` \(failed\): “.*too hot”\nLast checks: `npm test` failed$/);
  assert.match(stateOf(...failed, ...long), /Last checks: `npm test` failed \(“.*too hot”\)$/);
});
