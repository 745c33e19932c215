import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, edit, handoverOf as handover, type Part, result, run, said, section, typed } from './said.ts';

test('a changed file shows the signatures and constants that it has now', () => {
  const text = handover([
    typed('Let the oven take minutes.'),
    call('1', 'Edit', {
      file_path: '/srv/oven.ts',
      old_string: 'function bake() {',
      new_string: 'const MAX_MINUTES = 90;\nfunction bake(minutes: number, isLoud: boolean) {\n  const rest = minutes;',
    }),
    result('1', 'ok'),
    call('2', 'Edit', { file_path: '/srv/oven.yaml', old_string: 'heat: 200', new_string: 'heat: 240' }),
    result('2', 'ok'),
    said('Done.'),
  ]);
  const files = section(text, 'Files');
  assert.match(files, /has now `const MAX_MINUTES = 90`, `function bake\(minutes: number, isLoud: boolean\)`$/m);
  assert.match(files, /oven\.yaml` \(edited\): `heat: 200` → `heat: 240`$/m);
  assert.doesNotMatch(files, /has now.*rest = minutes/);
});

const NEWEST = 'What the newest edits wrote, without lines that only close brackets:';
const FENCE = '```';
const CODE = `${FENCE}\n  `;

test('the newest edits are shown, and a file that is as it was before', () => {
  const files = section(
    handover([
      typed('Let the oven read the time.'),
      ...edit('1', '/srv/scale.ts', 'const unit = "g";', 'const unit = "kg";'),
      ...edit('2', '/srv/oven.ts', 'start();', 'const started = parseTime(line.timestamp);\nreturn started ?? EPOCH;'),
      ...edit('3', '/srv/scale.ts', 'const unit = "kg";', 'const unit = "g";'),
      call('4', 'Bash', { command: 'npm test' }),
    ]),
    'Files',
  );
  assert.ok(
    files.endsWith(
      `${NEWEST}\n- in \`oven.ts\`:\n  ${CODE}const started = parseTime(line.timestamp);\n  return started ?? EPOCH;\n  ${FENCE}`,
    ),
    files,
  );
  assert.match(files, /^- `scale\.ts` \(edited 2 times, and is as it was before\)/m);
});

test('a file is as it was before only if each of its edits was taken back', () => {
  const edit = (id: string, args: Readonly<Record<string, string>>): readonly Part[] => [
    call(id, 'Edit', { file_path: '/srv/oven.ts', ...args }),
    result(id, 'ok'),
  ];
  const filesOf = (...edits: readonly (readonly Part[])[]): string =>
    section(handover([typed('Heat it.'), ...edits.flat(), said('Heated.')]), 'Files');
  // Nobody sees what an edit without its texts did, lines that swapped places, or a bracket that is new.
  assert.doesNotMatch(filesOf(edit('1', {}), edit('2', {})), /as it was before/);
  const swapped = { old_string: 'heat();\nopen();', new_string: 'open();\nheat();' };
  const closed = { old_string: 'shut();', new_string: 'shut();\n});' };
  assert.doesNotMatch(filesOf(edit('1', swapped), edit('2', closed)), /as it was before/);
  const back = { old_string: 'open();\nheat();', new_string: 'heat();\nopen();' };
  assert.match(filesOf(edit('1', swapped), edit('2', back)), /edited 2 times, and is as it was before/);
});

test('what was written last is the newest edit, however short, or nothing', () => {
  const files = section(
    handover([
      typed('Let the oven read the time.'),
      call('1', 'Edit', {
        file_path: '/srv/oven.ts',
        old_string: 'start();',
        new_string: 'const started = parseTime(line.timestamp, EPOCH);',
      }),
      result('1', 'ok'),
      call('2', 'Edit', {
        file_path: '/srv/oven.ts',
        old_string: 'const started = parseTime(line.timestamp, EPOCH);',
        new_string: 'start();',
      }),
      result('2', 'ok'),
      call('3', 'Bash', { command: 'npm test' }),
    ]),
    'Files',
  );
  assert.ok(!files.includes(NEWEST), files);
});

const newestOf = (parts: readonly Part[], maxChars?: number): string =>
  section(handover([typed('Heat it.'), ...parts, said('Heated.')], maxChars), 'Files').split(`${NEWEST}\n`)[1] ?? '';

test('newest edits come as code with its indentation, without brackets and imports, the newest first', () => {
  const before = 'function heat() {\n  open();\n}';
  const after =
    'import { shut } from "./door";\nfunction heat(degrees: number) {\n\tif (degrees > 200) {\n\t\tshut();\n\t}\n}';
  assert.equal(
    newestOf([
      ...edit('1', '/srv/oven.ts', before, after),
      ...edit('2', '/srv/door.ts', 'shut();', 'shut({ slowly: true });\nlock();'),
    ]),
    [
      '- in `door.ts`:',
      `  ${FENCE}`,
      '  shut({ slowly: true });',
      '  lock();',
      `  ${FENCE}`,
      '- in `oven.ts`:',
      `  ${FENCE}`,
      '  function heat(degrees: number) {',
      '    if (degrees > 200) {',
      '      shut();',
      `  ${FENCE}`,
    ].join('\n'),
  );
});

test('between two new lines of an edit the few that stand there are shown, and none that a later edit took away', () => {
  assert.equal(
    newestOf([
      ...edit(
        '1',
        '/srv/oven.ts',
        'shut();',
        'heatTheOven(240);\nif (err) {\nreturn;\n}\nwarmTheOven(20);\nopenTheDoor();',
      ),
      ...edit('2', '/srv/oven.ts', 'warmTheOven(20);\n', ''),
    ]),
    [
      '- in `oven.ts`:',
      `  ${FENCE}`,
      '  heatTheOven(240);',
      '  if (err) {',
      '  return;',
      '  ',
      '  openTheDoor();',
      `  ${FENCE}`,
    ].join('\n'),
  );
});

test('a line that cannot be shown leaves a mark', () => {
  const code = ['heatTheOven(240);', 'say("```");', 'say("```", 2);', 'openTheDoor();'];
  assert.equal(
    newestOf(edit('1', '/srv/oven.ts', 'heat();', code.join('\n'))),
    ['- in `oven.ts`:', `  ${FENCE}`, '  heatTheOven(240);', '  …', '  openTheDoor();', `  ${FENCE}`].join('\n'),
  );
});

test('code of edits ends no block, and leaves out data and what is in every function', () => {
  const code = [
    'heatTheOven(240);',
    'say("```");',
    '``` ## Where it stands',
    `const data = "${'x'.repeat(500)}";`,
    'if (err != nil) {',
    'return nil, err',
    'if (err != nil) {',
    'return nil, err',
    'if (err != nil) {',
    'openTheDoor();',
  ];
  assert.equal(
    newestOf(edit('1', '/srv/oven.go', 'cold()', code.join('\n'))),
    `- in \`oven.go\`:\n  ${CODE}heatTheOven(240);\n  …\n  openTheDoor();\n  ${FENCE}`,
  );
  assert.equal(newestOf(edit('1', '/srv/oven.ts', 'function heat(how = `slowly`) {\n  open();', '')), '');
});

test('only four edits of one file come before those of others', () => {
  const many = Array.from({ length: 9 }, (_, at) =>
    edit(`${at}`, '/srv/oven.ts', `cold(${at});`, `heatTheOvenSlowly(${at}, '${'hot '.repeat(18)}');`),
  );
  const newest = newestOf(
    [...edit('d', '/srv/door.ts', 'open();', 'shutTheDoor();\nlockTheDoor();'), ...many.flat()],
    2_000,
  );
  assert.match(newest, /heatTheOvenSlowly\(7[^]*heatTheOvenSlowly\(5[^]*shutTheDoor/);
});

test('edits of one file stand together, and tests come after what they test', () => {
  const newest = newestOf([
    ...edit('1', '/srv/oven.ts', 'heat();', 'heatUpSlowly(240);\nopenTheDoor();'),
    ...edit('2', '/srv/door.ts', 'shut();', 'shutTheDoor();\nlockTheDoor();'),
    ...edit('3', '/srv/oven.ts', 'light();', 'lightTheOven();\nwaitForHeat();'),
    ...edit('4', '/srv/oven.test.ts', 'old();', 'assertHeat(240);\nassertShut();'),
  ]);
  assert.deepEqual(
    [...newest.matchAll(/in `(.*)`|(\w+TheOven|heatUpSlowly|…)/g)].map(([, file, word]) => file ?? word),
    ['oven.ts', 'lightTheOven', '…', 'heatUpSlowly', 'door.ts', 'oven.test.ts'],
  );
});

test('lines that differ at their ends are shown where they differ', () => {
  const flags = 'build --with-all-the-doors-and-trays-of-the-bakery --in-the-oven-behind-the-house --version';
  const files = section(
    handover([typed('Build it.'), ...edit('1', '/srv/build.sh', `${flags} 1`, `${flags} 2`), said('Built.')]),
    'Files',
  );
  assert.match(files, /build\.sh` \(edited\): `….*--version 1` → `….*--version 2`/);
});

test('a declaration that an edit removed for good is named, and one that came back is not', () => {
  const gone = newestOf(
    edit('1', '/srv/oven.ts', 'export function preheat(minutes: number) {\n  wait(minutes);\n}', ''),
  );
  assert.equal(gone, '- in `oven.ts`: removed `export function preheat(minutes: number)`');
  const back = newestOf([
    ...edit('1', '/srv/oven.ts', 'export function preheat(minutes: number) {', 'wait(10);'),
    ...edit('2', '/srv/oven.ts', 'wait(10);', 'export function preheat(minutes: number) {'),
  ]);
  assert.equal(back, '');
});

test('a declaration that changed twice, or went to another file, is not removed', () => {
  const [old, middle, now] = ['function heat() {', 'function heat(degrees) {', 'function heat(degrees, minutes) {'];
  const changed = newestOf([...edit('1', '/srv/oven.ts', old, middle), ...edit('2', '/srv/oven.ts', middle, now)]);
  assert.doesNotMatch(changed, /removed/);
  const moved = newestOf([
    ...edit('1', '/srv/oven.ts', old, ''),
    ...edit('2', '/srv/heat.ts', 'light();', `light();\nexport ${now}`),
  ]);
  assert.doesNotMatch(moved, /removed/);
});

test('of a long edit declarations and their comments are shown first, and a new file comes after edits', () => {
  const steps = Array.from({ length: 60 }, (_, at) => `  turnTheTray(${at}, slowly);`);
  const body = [
    'function bakeAll() {',
    ...steps,
    '}',
    '// Cools for ten minutes.',
    'function coolDown(minutes: number) {',
    '  wait(minutes);',
    '}',
  ];
  const newest = newestOf(
    [
      ...edit('1', '/srv/oven.ts', 'heat();', body.join('\n')),
      call('2', 'Write', {
        file_path: '/srv/tray.ts',
        content: 'export const TRAYS = 12;\nexport function trays() {}',
      }),
      result('2', 'ok'),
      call('3', 'Write', {
        file_path: '/srv/notes.md',
        content: 'function inProse() {}\nThe oven is hot, and all trays are in it.',
      }),
      result('3', 'ok'),
    ],
    4_000,
  );
  assert.match(newest, /function bakeAll\(\) \{\n {4}turnTheTray\(0, slowly\);/);
  assert.match(newest, /\n {2}…\n {2}\/\/ Cools for ten minutes\.\n {2}function coolDown\(minutes: number\) \{/);
  assert.ok(newest.indexOf('tray.ts') > newest.indexOf('oven.ts'), newest);
  assert.doesNotMatch(newest, /notes\.md|inProse/);
});

test('a name stands with the file that declares it, also where the id of the call is used again', () => {
  const read = (path: string, code: string): readonly Part[] => [
    call('1', 'Read', { file_path: path }),
    result('1', code),
  ];
  const files = section(
    handover([
      typed('Look at heatTheOven.'),
      ...read('/srv/oven.ts', 'export function heatTheOven(degrees: number) {\n}'),
      ...read('/srv/door.ts', 'export function shut() {\n}'),
      said('I looked at it.'),
    ]),
    'Files',
  );
  assert.match(files, /^- `oven\.ts`: `export function heatTheOven\(degrees: number\)`$/m);
});

test('names that were spoken of stand with the file that was read for them', () => {
  const files = section(
    handover([
      typed('Why does bakeLoaf take so long?'),
      call('1', 'Read', { file_path: '/srv/oven.ts' }),
      result(
        '1',
        '  7→export function bakeLoaf(minutes: number) {\n  8→  heatUp(minutes);\n  9→function unusedHelper() {',
      ),
      ...run('2', 'grep -rn heatUp src', 'src/heat.ts:12:export async function heatUp(minutes: number) {'),
      said('bakeLoaf waits for heatUp, which takes ten minutes.'),
    ]),
    'Files',
  );
  assert.match(
    files,
    /^Definitions, .*:\n- `heat\.ts`: `export async function heatUp\(minutes: number\)`\n- `oven\.ts`: `export function bakeLoaf\(minutes: number\)`$/m,
  );
});

test('a file shows the names in it that changed, in their last form, and what the assistant said of it', () => {
  const text = handover([
    typed('Weigh the loaves.'),
    ...edit('1', '/srv/scale.ts', '', 'export function readScale(): number {\n  return 1;\n}\nexport const TARE = 10;'),
    ...edit('2', '/srv/scale.ts', 'export const TARE = 10;', 'export const TARE = 12;'),
    ...edit('3', '/srv/shop.ts', 'price: 4', 'price: 5'),
    said('`scale.ts` now subtracts the weight of the tin, because that was counted before.'),
  ]);
  const files = section(text, 'Files');
  assert.match(files, /^- `scale\.ts` \(edited 2 times\): `readScale`, `TARE` — “`scale\.ts` now subtracts/m);
  assert.match(files, /^- `shop\.ts` \(edited\): `price: 4` → `price: 5`$/m);
  assert.doesNotMatch(text, /TARE = 10/);
});

test('a file that a command removed is told as deleted, and one of the same name elsewhere is not', () => {
  const filesOf = (command: string, ...paths: readonly string[]): string =>
    section(
      handover([
        typed('Clean up.'),
        ...paths.flatMap((path, at) => edit(`${at}`, path, 'heat();', 'shut();')),
        ...run('rm', command, ''),
        said('Done.'),
      ]),
      'Files',
    );
  assert.match(
    filesOf('rm -f src/old.ts && ls', '/srv/src/old.ts', '/srv/src/new.ts'),
    /`old\.ts` \(deleted\)\n- `new\.ts` \(edited\)/,
  );
  assert.match(filesOf('cd /srv && rm -rf src', '/srv/src/old.ts', '/srv/lib/new.ts'), /`src\/old\.ts` \(deleted\)/);
  for (const command of ['rm index.ts', 'cd /tmp && rm a/index.ts', 'rm -rf a', 'rm *.ts', 'echo "rm a/index.ts"'])
    assert.doesNotMatch(filesOf(command, '/srv/a/index.ts', '/srv/b/index.ts'), /deleted/, command);
});

test('files of a Windows folder share it', () => {
  const files = section(
    handover([
      typed('Heat it.'),
      ...edit('1', 'D:\\bakery\\src\\oven.ts', 'heat();', 'shut();'),
      ...edit('2', 'D:\\bakery\\door.ts', 'heat();', 'shut();'),
      said('Done.'),
    ]),
    'Files',
  );
  assert.ok(files.startsWith('In D:\\bakery\\:\n- `src\\oven.ts` (edited)'), files);
});

test('a file that a patch deleted is told as deleted, and one that came back is not', () => {
  const patch = (id: string, ...lines: readonly string[]): readonly Part[] => [
    call(id, 'apply_patch', { input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') }),
    result(id, 'Success.'),
  ];
  const text = handover([
    typed('Clean up.'),
    ...patch(
      '1',
      '*** Delete File: src/old.ts',
      '*** Delete File: src/back.ts',
      '*** Update File: src/new.ts',
      '-a()',
      '+b()',
    ),
    ...patch('2', '*** Add File: src/back.ts', '+export const BACK = 1;'),
    said('Done.'),
  ]);
  const files = section(text, 'Files');
  assert.match(files, /^- `old\.ts` \(deleted\)$/m);
  assert.match(files, /^- `new\.ts` \(edited\)/m);
  assert.match(files, /^- `back\.ts` \(written, 1 line, 2 calls\): `BACK`$/m);
});

test('files that were only read are listed by how often, without those that were changed', () => {
  const read = (id: string, path: string): readonly Part[] => [call(id, 'Read', { file_path: path }), result(id, 'x')];
  const text = handover([
    typed('Look at the oven.'),
    ...read('1', '/srv/src/door.ts'),
    ...read('2', '/srv/src/oven.ts'),
    ...read('3', '/srv/src/timer.ts'),
    ...read('4', '/srv/src/timer.ts'),
    ...edit('5', '/srv/src/oven.ts', 'cold', 'hot'),
    said('Done.'),
  ]);
  assert.match(section(text, 'Files'), /^Read, not changed: `src\/timer\.ts` ×2, `src\/door\.ts`$/m);
});

test('a statement stands with the file that it names, and with none of two of one name', () => {
  const edit = (id: string, path: string): readonly Part[] => [
    call(id, 'Edit', { file_path: path, old_string: 'dry', new_string: 'oiled' }),
    result(id, 'ok'),
  ];
  const files = section(
    handover([
      typed('Oil the doors.'),
      ...['/srv/a.ts', '/srv/data.ts', '/srv/east/door.ts', '/srv/west/door.ts'].flatMap((path, at) =>
        edit(`${at}`, path),
      ),
      said('I changed data.ts because the hinge was dry. I fixed door.ts, since it squeaked with the wind.'),
    ]),
    'Files',
  );
  assert.match(files, /^- `data\.ts` .* — “I changed data\.ts/m);
  assert.doesNotMatch(files, /^- `(?:a|east\/door|west\/door)\.ts` .*—/m);
});

test('a name that several files declare, or a page speaks of, is defined nowhere', () => {
  const read = (id: string, path: string, text: string): readonly Part[] => [
    call(id, 'Read', { file_path: path }),
    result(id, text),
  ];
  const files = section(
    handover([
      typed('Where is heatUp?'),
      ...read('1', '/srv/oven.ts', 'const ovenId = 1;\nexport function heatUp() {'),
      ...read('2', '/srv/mill.ts', 'const ovenId = 2;'),
      ...read('3', '/srv/README.md', 'type BakeTime is a number'),
      said('heatUp takes ovenId and BakeTime.'),
    ]),
    'Files',
  );
  assert.match(files, /^Definitions, .*:\n- `oven\.ts`: `export function heatUp\(\)`$/m);
});

test('an edit of two hundred thousand lines is read like any', () => {
  const newest = newestOf(edit('1', '/srv/oven.ts', 'cold', 'heat(240);\nturn(180);\n'.repeat(100_000)));
  assert.match(newest, /^- in `oven\.ts`:\n.*\n {2}heat\(240\);\n {2}turn\(180\);\n/);
});
