import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { chatTranscript } from '../support/chat.ts';
import { folderWith } from '../support/folders.ts';
import { jsonLines, runHere } from '../support/program.ts';

type Event = {
  readonly time: string;
  readonly level: string;
  readonly run: string | null;
  readonly message: string;
} & {
  readonly file?: string;
  readonly result?: string;
};

function setUp(t: TestContext) {
  const folder = folderWith(t, {
    'a.jsonl': chatTranscript(24),
    'b.jsonl': 'no record\n',
    'c.jsonl': chatTranscript(20, 90),
  });
  const path = (name: string): string => join(folder, name);
  const run = async (...args: readonly string[]) => {
    const ended = await runHere([...args, '--log', 'json', '--archive', path('archive.db')]);
    const events: readonly Event[] = jsonLines(ended.stderr);
    for (const { time } of events) assert.equal(new Date(time).toISOString(), time);
    return { ...ended, events };
  };
  return { path, run };
}

test('--log json prints a line of JSON for each file and message, with the run that the archive records', async (t) => {
  const { path, run } = setUp(t);
  const { code, stdout, events } = await run(
    '-i',
    path('a.jsonl'),
    path('b.jsonl'),
    path('c.jsonl'),
    path('gone.jsonl'),
  );
  assert.deepEqual([code, stdout], [1, '']);
  assert.deepEqual(
    events.map(({ level, file, result }) => [level, file, result]),
    [
      ['error', undefined, undefined],
      ['info', path('a.jsonl'), 'compacted'],
      ['error', path('b.jsonl'), 'failed'],
      ['info', path('c.jsonl'), 'compacted'],
      ['info', undefined, undefined],
    ],
  );
  assert.match(events[1]?.message ?? '', /a\.jsonl .* saved$/);
  assert.match(events[2]?.message ?? '', /b\.jsonl/);
  assert.match(events[4]?.message ?? '', /^4 transcripts: 2 compacted, 2 failed\n/);
  assert.doesNotMatch(events.map(({ message }) => message).join('\n'), / {3}|\n /);
  const tokens = new Set(events.map((event) => event.run));
  assert.equal(tokens.size, 1);
  const { stdout: listed } = await run('archive', 'runs', '--json');
  assert.ok(listed.includes(String(events[1]?.run)), listed);
});

test('--log json leaves answers as they are, and -q leaves out what is no error', async (t) => {
  const { path, run } = setUp(t);
  const compacted = await run('-i', '-q', '--json', path('a.jsonl'));
  assert.deepEqual([JSON.parse(compacted.stdout).result, compacted.events], ['compacted', []]);
  const restored = await run('restore', '--all', path('a.jsonl'));
  assert.deepEqual([restored.code, restored.stdout], [0, chatTranscript(24)]);
});

test('with -v, --log json tells at which stage each file is', async (t) => {
  const { path, run } = setUp(t);
  const { events } = await run('-i', '-v', path('a.jsonl'));
  const stages = events.filter(({ level }) => level === 'debug');
  assert.ok(stages.length > 0);
  assert.deepEqual(new Set(stages.map(({ file }) => file)), new Set([path('a.jsonl')]));
  assert.equal(new Set(stages.map(({ message }) => message)).size, stages.length);
  const silent = await run('verify', '-v', '--no-progress', path('a.jsonl'));
  assert.deepEqual(
    silent.events.filter(({ level }) => level === 'debug'),
    [],
  );
});

test('--log json is kept where the line or the session is refused', async (t) => {
  const { path, run } = setUp(t);
  for (const args of [
    ['verify', '--no-such-flag'],
    ['archive', 'grants', 'owner'],
    ['restore', path('c.jsonl')],
  ]) {
    const { code, events } = await run(...args);
    assert.notEqual(code, 0);
    assert.deepEqual([events.length, events[0]?.level], [1, 'error'], JSON.stringify(events));
  }
  const { events } = await run('restore', path('c.jsonl'));
  assert.equal(events[0]?.file, path('c.jsonl'));
});
