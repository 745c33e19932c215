import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { auditRetention } from '../../../src/core/retention/audit.ts';
import { conversations, messages, oddTexts } from '../../support/messages.ts';

const SAID = messages(
  { content: 'Never write to /srv/live.db. The limit is 1,200 ms.' },
  { role: 'assistant', content: 'I opened src/store/open.ts, version 2.4.1.' },
  { role: 'tool', content: 'reading other/file.ts\nTypeError: store is not open', tool_call_id: 'a' },
);

const lostIn = (summary: string): readonly string[] =>
  auditRetention({ summary, messages: SAID }).lost.map(({ text }) => text);

test('what a summary lost is told with its kind and its message, in order', () => {
  assert.deepEqual(auditRetention({ summary: 'Somebody looked at open.ts.', messages: SAID }), {
    kept: 1,
    total: 6,
    share: 1 / 6,
    lost: [
      { kind: 'path', text: '/srv/live.db', messageId: 'm1' },
      { kind: 'number', text: '1,200 ms', messageId: 'm1' },
      { kind: 'rule', text: 'Never write to /srv/live.db.', messageId: 'm1' },
      { kind: 'version', text: '2.4.1', messageId: 'm2' },
      { kind: 'error', text: 'TypeError: store is not open', messageId: 'm3' },
    ],
  });
});

test('a fact is kept in another form of the same', () => {
  assert.deepEqual(
    lostIn(
      'Within 1200ms, "never write to /srv/live.db!" In /home/me/repo/src/store/open.ts (v2.4.1) there was a TypeError: store is NOT open, twice.',
    ),
    [],
  );
});

test('a sentence without its negation is not kept', () => {
  const audit = (summary: string): number =>
    auditRetention({ summary, messages: messages({ content: "Don't use tabs in the sources." }) }).kept;
  assert.deepEqual(
    ['The user: use tabs in the sources.', 'The user: do not use tabs in the sources'].map(audit),
    [0, 1],
  );
});

test('words of a sentence that are spread over several do not keep it', () => {
  const audit = (summary: string): number =>
    auditRetention({ summary, messages: messages({ content: 'Always run the slow suite.' }) }).kept;
  assert.deepEqual(
    ['They always talk. A run of it. The suite is slow.', 'Always run the slow suite'].map(audit),
    [0, 1],
  );
});

test('a failure of several sentences is kept where all of them are', () => {
  const failure = messages({ role: 'tool', content: 'Error: the pump stalled. Valve nine leaks.', tool_call_id: 'a' });
  const audit = (summary: string): number => auditRetention({ summary, messages: failure }).kept;
  assert.deepEqual(
    ['Error: the pump stalled.', 'Valve nine leaks. First: "Error: the pump stalled".'].map(audit),
    [0, 1],
  );
});

test('what the previous summary says is kept', () => {
  const audit = auditRetention({
    summary: 'Nothing.',
    messages: messages({ content: 'See a/b.ts' }),
    previousSummary: 'b.ts',
  });
  assert.deepEqual([audit.kept, audit.lost], [1, []]);
});

test('what only a tool showed is no fact, nor is what a file being written says', () => {
  const total = auditRetention({
    summary: '',
    messages: messages(
      { role: 'tool', content: 'a/one.ts\na/two.ts\n12 ms', tool_call_id: 'a' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'b', name: 'write', arguments: { path: 'x/y.ts', text: `${'z '.repeat(400)} deep/in.ts` } }],
      },
      { role: 'system', content: 'Never touch sys/tem.ts.' },
    ),
  });
  assert.deepEqual(
    total.lost.map(({ text }) => text),
    ['x/y.ts'],
  );
});

test('source code that speaks of errors is no failure', () => {
  const code = [
    'throw new TypeError: x',
    '12→ Error: in a listing',
    'console.error("Error: x")',
    't.Errorf("error: %v", e)',
  ];
  const { total } = auditRetention({
    summary: '',
    messages: messages({ role: 'tool', content: code.join('\n'), tool_call_id: 'a' }),
  });
  assert.equal(total, 0);
});

for (const [rule, isRule] of [
  ['You must keep the old names.', true],
  ['Please do not rename files.', true],
  ['Make sure that it builds.', true],
  ['Das darf nicht gelöscht werden.', true],
  ['Nunca borres los archivos.', true],
  ['Il faut garder les noms.', true],
  ['绝不要删除这些文件。', true],
  ['必ずテストを実行してください。', true],
  ['It never worked.', false],
  ["I don't know.", false],
  ['Must it be so?', false],
  ['The parser is never called here.', false],
] as const) {
  test(`${isRule ? 'a rule' : 'no rule'} of the user: ${rule}`, () => {
    const { lost } = auditRetention({ summary: '', messages: messages({ content: rule }) });
    assert.equal(
      lost.some(({ kind }) => kind === 'rule'),
      isRule,
    );
  });
}

test('without facts everything is kept', () => {
  assert.deepEqual(auditRetention({ summary: 'Hi.', messages: messages({ content: 'hello there' }) }), {
    kept: 0,
    total: 0,
    share: 1,
    lost: [],
  });
});

test('a text keeps all of its own facts', () => {
  fc.assert(
    fc.property(conversations, fc.array(oddTexts), (said, more) => {
      const summary = [...said.map(({ content }) => content), ...more].join('\n');
      const plain = said.map(({ tool_calls: _calls, ...rest }) => rest);
      assert.deepEqual(auditRetention({ summary, messages: plain }).lost, []);
    }),
  );
});

test('time grows with the text', () => {
  const hostile = ['a/', 'a+a/', '1.1.1-', '1,', '#1 ', 'a_', 'you must x. ', 'Error: ', '/', '@', 'é', '必须', 'C:\\'];
  for (const unit of hostile) {
    const content = unit.repeat(300_000 / unit.length);
    const started = performance.now();
    auditRetention({ summary: content.slice(0, 4_000), messages: messages({ content }, { role: 'tool', content }) });
    const ms = performance.now() - started;
    assert.ok(ms < 6_000, `${unit}: ${Math.round(ms)} ms`);
  }
});
