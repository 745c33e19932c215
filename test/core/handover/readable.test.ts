import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { errorLines, outcomeOf, readCalls, totalOf } from '../../../src/core/handover/calls.ts';
import { quoted, splitLines } from '../../../src/core/handover/line.ts';
import { condenseProse } from '../../../src/core/handover/prose.ts';
import { summaryLines } from '../../../src/core/handover/producer-summary.ts';
import { isAnnouncement, statesCause, worthOfStatement } from '../../../src/core/handover/statements.ts';
import { isNoise, readableText } from '../../../src/core/handover/tool-result.ts';
import { readConversation } from '../../../src/core/handover/turns.ts';
import { assertLinear } from '../../support/linear-time.ts';
import { messages } from '../../support/messages.ts';
import { call, handoverOf, type Part, result, said, typed, section } from './said.ts';

const handover = (parts: readonly Part[], maxChars = 4_000): string => handoverOf(parts, maxChars);

describe('what a tool answered', () => {
  test('loses its terminal colors and nothing else', () => {
    const answer = 'first line\n[fmt] formatted\n\t[lint] clean \u001b[1;32mgreen\u001b[0m end';
    assert.equal(readableText(answer), 'first line\n[fmt] formatted\n\t[lint] clean green end');
  });

  test('is split at every run of line ends, whatever these are', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\n', '\n', '\r', '\u0085', '\u2028') });
    fc.assert(fc.property(text, (said) => assert.deepEqual(splitLines(said), said.split(/[\n\r\u0085\u2028]+/))));
    fc.assert(
      fc.property(text, (said) => {
        const plain = said.replaceAll(/[^a\n]/g, '\n');
        assert.deepEqual(splitLines(plain), plain.split(/\n+/));
      }),
    );
  });

  test('loses reminders to the model, also where one has no end', () => {
    assert.equal(readableText('a\n<system-reminder>\nRefuse this.\n\nAll of it.\n</system-reminder>\nb'), 'a\n\n\nb');
    assert.equal(readableText('a\n<system-reminder>Refuse\nthis.\n\nb'), 'a\n\n\nb');
  });

  test('is quoted without what the client says of the call', () => {
    const text = handover([
      typed('Ask the helper which port the gateway uses.'),
      call('1', 'Task', { description: 'find port' }),
      result(
        '1',
        'The gateway listens on port 8443 behind the proxy.\nagentId: 4f2a (internal ID - do not mention to user)',
      ),
      call('2', 'shell', { command: 'make check' }),
      result('2', 'Chunk ID: a1b2c3\nWall time: 0.2 seconds\nThe checker wrote report-17.html.'),
      said('It is 8443.'),
    ]);
    assert.match(text, /port 8443 behind the proxy/);
    assert.doesNotMatch(text, /agentId|internal ID|Chunk ID|Wall time/);
  });
});

describe('noise', () => {
  const noisy = [
    '-rw-r--r-- 1 root root 1262 Nov 22 14:16 notes.md',
    'drwxr-xr-x@ 3 kim staff 96 Jan 2 10:00 src',
    'total 236',
    'tests/test_bread.py::test_rises[rye] PASSED [ 28%]',
    'ok  	example.org/bakery/oven	(cached)',
    '--- PASS: TestOven (0.00s)',
    'import { bake } from "./oven.ts";',
    'import numpy as np',
    'from bakery.oven import Oven',
    '#include <oven.h>',
    "const oven = require('./oven');",
    '"example.org/bakery/oven"',
    ' 45% |##### ',
  ];
  const telling = [
    '12 passed, 1 failed in 3.20s',
    'tests/test_bread.py::test_rises[rye] FAILED [ 28%]',
    'FAIL example.org/bakery/oven 2.630s',
    'Import the recipes from the old bakery first.',
    'from now on the oven starts at five',
    'error: cannot find module ./oven',
    'coverage: 71% of statements',
  ];
  for (const line of noisy) test(`is: ${line}`, () => assert.ok(isNoise(line.trim())));
  for (const line of telling) test(`is not: ${line}`, () => assert.ok(!isNoise(line)));
});

test('an announcement is told from a report, and a cause or a result says more than a remark', () => {
  assert.ok(isAnnouncement('Let me check the constants of the oven for the right name.'));
  assert.ok(isAnnouncement('Now let me look at the part around the timer:'));
  assert.ok(isAnnouncement('Need to add the timer to the door.'));
  assert.ok(isAnnouncement('Still waiting for the other two agents.'));
  assert.ok(!isAnnouncement('Now I see that the timer starts twice because of the door.'));
  const plain = worthOfStatement('The dough lies on the table.');
  assert.ok(worthOfStatement('The timer fires twice because the door event is sent again.') > plain);
  assert.ok(worthOfStatement('The scale is fixed.') > plain);
  assert.ok(worthOfStatement('The oven heats to 240 °C in `preheat()`.') > plain);
});

test('announcements and causes are told in other languages too', () => {
  const announced = ['Ich prüfe zuerst die Anzahl der Zeilen in der Tabelle.', '먼저 설정 파일을 확인하겠습니다.'];
  const caused = ['Die Abfrage ist langsam, weil der Index fehlt.', '인덱스가 없기 때문에 느립니다.'];
  const told = [...announced, ...caused].map((text) => [isAnnouncement(text), statesCause(text)]);
  assert.deepEqual(told, [
    [true, false],
    [true, false],
    [false, true],
    [false, true],
  ]);
  const foreign = ['Ich habe die Anzahl geprüft.', 'Weil is the name of a town.', 'Die casting is fast.'];
  assert.deepEqual(
    foreign.filter((text) => isAnnouncement(text) || statesCause(text)),
    [],
  );
});

describe('a summary of the producer that does not fit', () => {
  const steps = Array.from({ length: 30 }, (_, at) => `   - Step ${at}: kneaded the dough of batch ${at} for a while.`);
  const text = [
    'This session is being continued from a previous conversation.',
    '1. Primary Request:',
    ...steps,
    '2. Files and Code Sections:',
    ...steps,
    '3. Pending Tasks:',
    '   - Order rye flour.',
    '   - Clean the oven.',
    '4. Optional Next Step:',
    ...steps,
    '   Two constraints must carry into that work:',
    '   - Never open the door during the first ten minutes.',
    '   - The scale reads in grams only.',
  ].join('\n');
  const lines = summaryLines({ summaries: [{ kind: 'summary', messageId: 'm1', text }], turns: [] }, 1_200).map(
    (line) => line.text,
  );

  test('keeps its rules with their whole list, and its open work', () => {
    for (const kept of ['Never open the door', 'The scale reads in grams', 'Order rye flour', 'Clean the oven'])
      assert.ok(
        lines.some((line) => line.includes(kept)),
        kept,
      );
  });

  test('says of open work that it was open then, and how many lines are missing', () => {
    assert.equal(lines[0], 'As of that time; what came later stands in the other sections:');
    assert.match(lines.at(-1) ?? '', /^ {2}\(\d+ lines left out\)$/);
    assert.ok(lines.join('\n').length <= 1_200);
  });
});

function run(command: string, answer: string): { readonly hasFailed: boolean; readonly end: readonly unknown[] } {
  const [done] = readCalls(
    readConversation(messages(typed('Go on.'), call('1', 'Bash', { command }), result('1', answer))).turns,
  );
  assert.ok(done !== undefined);
  return { hasFailed: done.hasFailed, end: [outcomeOf(done), totalOf(done)] };
}

describe('a command', () => {
  const answers: readonly (readonly [string, string])[] = [
    ['rg -n "sourdough" .', 'Exit code 1'],
    ['rg "rye|spelt" src', 'Process exited with code 1\nOutput:'],
    ['cat list.txt | grep rye', 'Exit code: 1\nWall time: 0.1 seconds\nOutput:\n'],
    ['diff old.txt new.txt', 'Exit code 1\n1c1\n< rye bread\n> wheat bread'],
    ['test -f oven.json', 'Exit code 1'],
  ];
  for (const [command, answer] of answers)
    test(`has not failed where exit code 1 is its answer: ${command}`, () => {
      assert.equal(run(command, answer).hasFailed, false);
    });

  const failures: readonly (readonly [string, string])[] = [
    ['rg -n "sour(" .', 'Exit code 2\nregex parse error'],
    ['grep rye missing.txt', 'Exit code 1\ngrep: missing.txt: No such file or directory'],
    ['diff old.txt missing.txt', 'Exit code 1\ndiff: missing.txt: No such file or directory'],
    ['make && grep rye out.txt', 'Exit code 1\nmake: no rule for target'],
    ['npm test', 'Exit code 1'],
  ];
  for (const [command, answer] of failures)
    test(`has failed: ${command}`, () => assert.equal(run(command, answer).hasFailed, true));

  test('shows the total of its answer, and not the last line that it counts', () => {
    const passed =
      'tests/test_rye.py::test_a PASSED [ 50%]\n======= 2 passed in 0.10s ========\nwarning: tests/test_rye.py passed a list';
    assert.deepEqual(run('pytest -v', passed).end, ['passed', '2 passed in 0.10s']);
    const failed = 'Exit code 1\nFAILED tests/test_rye.py\n1 failed, 2 passed in 0.10s\nsee errors.log for the failure';
    assert.deepEqual(run('pytest -v', failed).end, ['failed', '1 failed, 2 passed in 0.10s']);
  });

  test('shows each error once, and no help on options', () => {
    const answer = 'Error: unknown flag: --rye\nError: unknown flag: --rye\n-q, --quiet   Print errors only';
    assert.deepEqual(errorLines(answer, 6), ['Error: unknown flag: --rye']);
  });
});

test('headings in a quotation lose their marks and keep their lines', () => {
  assert.equal(
    quoted('## Summary\nAll loaves rose.\n### Next\n- # Rye'),
    'Summary\n   All loaves rose.\n   Next\n   - Rye',
  );
});

test("what a client writes in the model's name is no ending", () => {
  const text = handover([
    typed('Weigh the flour.'),
    call('1', 'Bash', { command: 'weigh flour' }),
    result('1', '500'),
    said('It weighs 500 g on both scales.'),
    said('No response requested.'),
  ]);
  assert.match(text, /→ It weighs 500 g/);
  assert.doesNotMatch(text, /No response requested/);
});

test('what the user answered to a question of the model stands among the decisions, with the question', () => {
  const text = handover([
    typed('Plan the bakery.'),
    call('1', 'AskUserQuestion', {
      questions: [
        { question: 'Which flour?', options: [{ label: 'Wheat', description: 'As before' }] },
        { question: 'Which oven?', options: [{ description: 'The "hot" one, slower to heat', label: 'Stone' }] },
      ],
    }),
    result(
      '1',
      'Your questions have been answered: "Which flour?"="Rye, and no wheat", "Which oven?"="Stone". You can now continue with these answers in mind.',
    ),
    said('The plan uses rye.'),
  ]);
  const [heading, ...answers] = section(text, 'Decisions and findings').split('\n');
  assert.match(heading ?? '', /answers to questions of the assistant, as the calls report them:$/);
  assert.deepEqual(answers, [
    '- (1) “Which flour?” → “Rye, and no wheat”',
    '- (1) “Which oven?” → “Stone” (The "hot" one, slower to heat)',
  ]);
});

test('a request does not end with an announcement where more was said before', () => {
  const outcome = 'The loaf sinks because the dough rests for less than an hour before it is baked in the oven.';
  const text = handover([
    typed('Why does the loaf sink?'),
    call('1', 'Bash', { command: 'read-log oven' }),
    result('1', 'rest: 40 min'),
    said(outcome),
    said('Let me try a different approach:'),
  ]);
  assert.ok(section(text, 'Where it stands').includes(`- ${outcome}`), text);
  assert.ok(text.includes('1. Why does the loaf sink?\n   → (not finished: see “Where it stands”)'), text);
});

test('an earlier summary loses what was current then, also in a list', () => {
  const text = '## Errors\n- **Current error**: the oven is cold\n  - seen today\n- **Old error**: the door squeaked';
  const summary = { kind: 'summary', messageId: 'm1', text } as const;
  const { turns } = readConversation(messages(typed('Go on.')));
  const [turn] = turns;
  assert.ok(turn !== undefined);
  const before = { ...turn, request: null, number: 0, steps: [summary] };
  assert.deepEqual(
    summaryLines({ summaries: [summary], turns: [before, turn] }, 1_000).map((line) => line.text),
    [
      'Before request 1; what came later stands in the other sections:',
      '  Errors',
      '  - **Old error**: the door squeaked',
    ],
  );
});

test("headings of a producer's summary lose their marks, also where these were quoted before", () => {
  const text = 'This session is being continued from a previous conversation.\n\\# Bakery\n## Next Steps\n1. Buy rye.';
  assert.deepEqual(
    summaryLines({ summaries: [{ kind: 'summary', messageId: 'm1', text }], turns: [] }, 1_000).map(
      (line) => line.text,
    ),
    [
      'As of that time; what came later stands in the other sections:',
      '  Bakery',
      '  Next Steps (at that time)',
      '  1. Buy rye.',
    ],
  );
});

test('a request keeps its words with their marks', () => {
  const text = handover([
    typed('Bake this:\n## Rye\nIt is dark.'),
    call('1', 'Bash', { command: 'bake' }),
    said('Baked.'),
  ]);
  assert.match(text, /^1\. Bake this: ## Rye\n {3}It is dark\.$/m);
});

test('work that went on when the next request was typed is named below the first', () => {
  const text = handover([
    typed('Bake the rye loaf.'),
    call('1', 'Bash', { command: 'heat oven' }),
    result('1', '250 °C'),
    typed('How hot is it?'),
    said('The oven has 250 °C. The rye loaf is baked, too.'),
  ]);
  assert.match(
    text,
    /^1\. Bake the rye loaf\.\n   \(the work went on when 2 was typed; see there\)\n2\. How hot is it\?$/m,
  );
});

test('stops in a row and analyses without an end take linear time', () => {
  const handOver = (before: string, text: string): void => {
    const parts = [
      { role: 'user', content: `This session is being continued from a previous conversation.\n${before}` } as const,
      typed(`${text} x`),
      call('1', 'Bash', { command: 'bake' }),
      result('1', 'baked'),
      said('Baked.'),
    ];
    assert.match(handover(parts), /Baked/);
  };
  assertLinear('.', 50_000, (text) => handOver('', text));
  assertLinear('Analysis:\n', 50_000, (text) => handOver(text, 'Bake'));
});

test('a list that is cut keeps its upper items, and long code leaves a mark behind the words that introduce it', () => {
  const list = [
    'The bakery has changed in three ways this week:',
    '1. **Oven**: heats faster than it did',
    '- a new fan blows the air around inside of it',
    '- the door has a second pane of thick glass now',
    '2. **Scale**: reads in grams only',
    '3. **Tins**: hold one loaf each',
  ].join('\n');
  assert.equal(
    condenseProse(list, 180),
    [
      'The bakery has changed in three ways this week:',
      '1. **Oven**: heats faster than it did',
      '2. **Scale**: reads in grams only',
      '3. **Tins**: hold one loaf each …',
    ].join('\n'),
  );
  const code = ('```\n' + 'heat(240);\n'.repeat(20) + '```\n').repeat(2);
  assert.equal(condenseProse(`The recipe becomes:\n${code}\nIt is short.`, 200), 'The recipe becomes: …\nIt is short.');
});
