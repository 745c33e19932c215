import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { restoreFile } from '../../src/app/restore/restore-file.ts';
import { undoFile } from '../../src/app/restore/undo.ts';
import { benchFor, reportOf, type Workbench } from '../support/workbench.ts';

const FIXTURES = join(import.meta.dirname, '../../fixtures/transcripts');
const CHOSEN = { compaction: { keepRecent: 4, maxSummaryTokens: 120 } };

type Block = { readonly type: string; readonly text?: string };
type Message = { readonly role: string; readonly content: string | readonly Block[]; readonly ts?: number };

const messagesOf = (text: string): readonly Message[] => JSON.parse(text);
const blocksOf = ({ content }: Message): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;
const isDetails = ({ text = '' }: Block): boolean => text.startsWith('<environment_details>');
const details = (turn: number): Block => ({
  type: 'text',
  text: `<environment_details>\n# Current Time\n2026-03-0${turn}\n</environment_details>`,
});

type Client = {
  readonly name: string;
  readonly fixture: string;
  /** The history as it is while the model has not answered: it ends with what was last said to it. */
  readonly unanswered: (messages: readonly Message[]) => readonly Message[];
  /** What the program sends and writes when the task is taken up again. */
  readonly resumed: (last: Message, turn: number) => Message;
};

const said = (turn: number): Block => ({
  type: 'text',
  text: `[TASK RESUMPTION] This task was interrupted ${turn} days ago.\n\n<user_message>\nAlso weigh the sheets of deck ${turn}.\n</user_message>`,
});
const untilUser = (messages: readonly Message[]): readonly Message[] =>
  messages.slice(0, messages.findLastIndex(({ role }) => role === 'user') + 1);

const CLIENTS: readonly Client[] = [
  {
    name: 'Cline',
    fixture: 'cline/results-as-text.json',
    unanswered: (messages) =>
      untilUser(messages.slice(0, -2)).map((one, at, { length }) =>
        at === length - 1 ? { ...one, content: blocksOf(one).filter((block) => !isDetails(block)) } : one,
      ),
    resumed: (last, turn) => ({ role: 'user', content: [...blocksOf(last), said(turn), details(turn)] }),
  },
  {
    name: 'a Cline that wrote a text for content',
    fixture: 'cline/results-as-text.json',
    unanswered: (messages) => [
      ...untilUser(messages.slice(0, -2)).slice(0, -1),
      { role: 'user', content: "[execute_command for 'make'] Result: 3 cleats were found" },
    ],
    resumed: (last, turn) => ({ role: 'user', content: [...blocksOf(last), said(turn), details(turn)] }),
  },
  {
    name: 'Roo Code',
    fixture: 'cline/session.json',
    unanswered: untilUser,
    resumed: (last, turn) => ({
      role: 'user',
      content: [...blocksOf(last).filter((block) => !isDetails(block)), said(turn), details(turn)],
      ts: 1_900_001_000_000 + turn,
    }),
  },
];

async function begin(
  t: TestContext,
  { fixture, unanswered }: Client,
): Promise<readonly [Workbench, readonly Message[]]> {
  const bench = benchFor(t);
  const original = unanswered(messagesOf(readFileSync(join(FIXTURES, fixture), 'utf8')));
  bench.write('s.json', JSON.stringify(original));
  assert.equal(reportOf(await bench.compact('s.json', CHOSEN)).result, 'compacted');
  return [bench, original];
}

/** The turns of a task that was taken up again: the first one goes into the last message, the others follow it. */
function takeUp({ resumed }: Client, messages: readonly Message[], turns: number): readonly Message[] {
  const last = messages.at(-1) ?? assert.fail();
  const answer = (turn: number): Message => ({
    role: 'assistant',
    content: [{ type: 'text', text: `The sheets of deck ${turn} weigh ${turn * 7} kg. `.repeat(30) }],
  });
  const more = Array.from({ length: turns - 1 }, (_, at) => [
    resumed({ role: 'user', content: [] }, at + 2),
    answer(at + 2),
  ]);
  return [...messages.slice(0, -1), resumed(last, 1), answer(1), ...more.flat()];
}

const input = (bench: Workbench): { path: string; name: string; format: null } => ({
  path: bench.path('s.json'),
  name: 's.json',
  format: null,
});

for (const client of CLIENTS) {
  for (const turns of [1, 3])
    test(`${client.name} goes on in the last message, ${turns} turns: verify, restore, undo and a second compaction work`, async (t) => {
      const [bench, original] = await begin(t, client);
      const compacted = messagesOf(bench.read('s.json').toString());
      const grown = JSON.stringify(takeUp(client, compacted, turns));
      const whole = JSON.stringify(takeUp(client, original, turns));
      bench.write('s.json', grown);
      const { result, problems, isRewritten } = await bench.verify('s.json');
      assert.deepEqual([result, problems, isRewritten], ['verified', [], true]);
      assert.equal((await bench.restore('s.json')).toString(), whole);
      const restored = await restoreFile(bench.deps, { input: input(bench), output: { kind: 'stdout' }, all: true });
      assert.equal(bench.stdout().toString(), whole);
      assert.match(
        restored.ok ? (restored.value.notes?.join(' ') ?? '') : '',
        new RegExp(`message ${original.length} of the original goes on in message ${compacted.length} of the file`),
      );

      const again = reportOf(await bench.compact('s.json', { compaction: { keepRecent: 1, maxSummaryTokens: 120 } }));
      assert.deepEqual([again.result, again.conversations[0]?.cycles], ['compacted', 2]);
      assert.equal((await bench.verify('s.json')).result, 'verified');
      assert.equal((await bench.restore('s.json', false)).toString(), grown);
      assert.equal((await bench.restore('s.json')).toString(), whole);

      bench.write('s.json', grown);
      const [file] = (await bench.archive().runs.list()).at(-1)?.files ?? assert.fail('no run');
      const undone = await undoFile(bench.deps, {
        file: file ?? assert.fail(),
        input: input(bench),
        output: { kind: 'in-place' },
      });
      assert.equal(undone.ok && undone.value.result, 'restored');
      assert.equal(bench.read('s.json').toString(), whole);
    });

  test(`${client.name} with another text in the last message: that is named`, async (t) => {
    const [bench, original] = await begin(t, client);
    const messages = takeUp(client, messagesOf(bench.read('s.json').toString()), 1);
    const at = messages.length - 2;
    const changed = messages.map((one, place) =>
      place === at
        ? { ...one, content: blocksOf(one).map((block) => ({ ...block, text: 'another text', content: '' })) }
        : one,
    );
    bench.write('s.json', JSON.stringify(changed));
    const { result, problems } = await bench.verify('s.json');
    assert.equal(result, 'failed');
    assert.match(problems[0]?.message ?? '', new RegExp(`^message ${original.length} of the original was changed`));
  });
}

test("Roo Code's own summary, which marks every message before it, is not taken for a change", async (t) => {
  const [bench, original] = await begin(t, CLIENTS[2] ?? assert.fail());
  const condense = (messages: readonly Message[]): string =>
    JSON.stringify([
      ...messages.map((one) => ({ ...one, condenseParent: 'c1', truncationParent: 't1' })),
      { role: 'user', content: [{ type: 'text', text: '## Summary' }], isSummary: true, condenseId: 'c1', ts: 1 },
    ]);
  bench.write('s.json', condense(messagesOf(bench.read('s.json').toString())));
  assert.deepEqual((await bench.verify('s.json')).problems, []);
  const restored = messagesOf((await bench.restore('s.json')).toString());
  assert.deepEqual(
    restored.map(({ content }) => content),
    messagesOf(condense(original)).map(({ content }) => content),
  );
});

test('outputs that OpenCode has left out since are not taken for a change', async (t) => {
  const bench = benchFor(t);
  const original = JSON.parse(readFileSync(join(FIXTURES, 'opencode/tools-and-subtasks.json'), 'utf8'));
  bench.write('s.json', JSON.stringify(original));
  assert.equal(
    reportOf(await bench.compact('s.json', { compaction: { keepRecent: 12, maxSummaryTokens: 120 } })).result,
    'compacted',
  );
  const prune = (_: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && 'end' in value ? { ...value, compacted: 1_900_000_000_000 } : value;
  const pruned = JSON.stringify(JSON.parse(bench.read('s.json').toString()), prune);
  assert.match(pruned, /"compacted":1900000000000/);
  bench.write('s.json', pruned);
  assert.deepEqual((await bench.verify('s.json')).problems, []);
  assert.equal(JSON.parse((await bench.restore('s.json')).toString()).messages.length, original.messages.length);
});
