import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertLinear } from '../../support/linear-time.ts';
import { call, edit, handoverOf, type Part, result, said, section, typed } from './said.ts';

const OVEN = [
  '     1→import { shut } from "./door";',
  '     2→',
  '     3→function heat(degrees: number) {',
  '     4→  const rest = () => {',
  '     5→    wait(5);',
  '     6→  };',
  '     7→  warm(degrees);',
  '     8→}',
  '     9→',
  '    10→// Cools it.',
  '    11→function cool() {',
  '    12→  wait(9);',
  '    13→  open();',
  '    14→}',
  '    15→wait(9);',
].join('\n');

/** The line on the oven among the files. */
function fileLine(edits: readonly Part[], shown = OVEN): string {
  const read = [call('r', 'Read', { file_path: '/srv/oven.ts' }), result('r', shown)];
  const text = handoverOf([typed('Mend the oven.'), ...read, ...edits, said('Mended.')]);
  return section(text, 'Files').split('\n')[0] ?? '';
}

test('an edit is placed in the function around it, where the file was read before', () => {
  assert.match(fileLine(edit('1', '/srv/oven.ts', '  warm(degrees);', '  warm(degrees / 2);')), /; in `heat`$/);
  // A function inside of another is not named by `const`.
  assert.match(fileLine(edit('1', '/srv/oven.ts', '    wait(5);', '    wait(6);')), /; in `heat`$/);
  assert.match(
    fileLine([
      ...edit('1', '/srv/oven.ts', '    wait(5);', '    wait(6);'),
      ...edit('2', '/srv/oven.ts', '  open();', '  open(2);'),
    ]),
    /; in `heat`, `cool`$/,
  );
});

test('no place is guessed', () => {
  for (const [before, after] of [
    // Outside of any function, even behind one.
    ['// Cools it.', '// Cools it down.'],
    // In two places.
    ['wait(9);', 'wait(10);'],
    // Never shown.
    ['  close();', '  close(1);'],
    // A function of its own.
    ['  open();\n}', '  open();\n}\nfunction smell() {}'],
  ] as const)
    assert.doesNotMatch(fileLine(edit('1', '/srv/oven.ts', before, after)), /; in /, before);
  const opened = edit('1', '/srv/oven.ts', '  open();', '  open(1);');
  assert.doesNotMatch(fileLine(opened, 'the oven is hot'), /; in /);
  // Between them another function may begin.
  assert.doesNotMatch(fileLine(opened, '     3→function heat() {\n    13→  open();'), /; in /);
  const rest = Array.from({ length: 900 }, (_, at) => `     ${at + 4}→  wait(${at});`).join('\n');
  assert.match(fileLine(opened, `     3→function heat() {\n${rest}\n   904→  open();`), /; in `heat`$/);
});

test('prose declares nothing', () => {
  const shown = 'record the heat\n  and class every loaf\nmodule which bakes:\n    - slowly';
  const lineOf = (path: string): string => {
    const read = [call('r', 'Read', { file_path: path }), result('r', shown)];
    const edits = [
      ...edit('1', path, '    - slowly', '    - fast'),
      ...edit('2', path, 'record the heat', 'record all'),
    ];
    const text = handoverOf([typed('Mend the oven.'), ...read, ...edits, said('Mended.')]);
    return section(text, 'Files').split('\n')[0] ?? '';
  };
  assert.match(lineOf('/srv/my ovens/oven.ts'), /\(edited 2 times\).*`all`; in `which`/);
  assert.match(lineOf('/srv/oven.md'), /\(edited 2 times\)/);
  assert.doesNotMatch(lineOf('/srv/oven.md'), /`(?:all|which)`/);
});

test('placing takes time in proportion to what was read and edited', () => {
  assertLinear('x', 1_000, ({ length }) => {
    const lines = Array.from({ length }, (_, at) => `     ${at}→  bake(${at});`);
    const edits = Array.from({ length }, (_, at) =>
      edit(`${at}`, '/srv/oven.ts', `  bake(${at});`, `  bake(${at}, true);`),
    );
    fileLine(edits.flat(), ['     0→function heat() {', ...lines].join('\n'));
  });
});
