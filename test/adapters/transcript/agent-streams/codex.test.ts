import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { codexExec } from '../../../../src/adapters/transcript/agent-streams/codex.ts';
import { detectFormat } from '../../../../src/adapters/transcript/detect.ts';
import { benchWith, compactLog, decodeAll, type Fields, FIXTURES, fixtureNames, readFixture, textAt } from './logs.ts';

const FORMAT = 'codex-exec';

suite('a log of codex exec', () => {
  test('and a rollout of Codex are told apart', async () => {
    for (const format of [FORMAT, 'codex']) {
      for (const name of fixtureNames(format)) {
        const found = await detectFormat(readFixture(format, name).slice(0, 50));
        assert.equal(found.kind === 'found' && found.codec.format.name, format, name);
      }
    }
  });

  test('keeps the first and latest beginning and the last end of each thread, and has a summary in each', async (t) => {
    const bench = benchWith(t, readFileSync(join(FIXTURES, FORMAT, 'several-runs-and-stderr.jsonl')));
    const after = await compactLog(bench, 1);
    const outline = after.flatMap((event) => {
      const item = Object(event['item']);
      if (event['type'] === 'thread.started') return [textAt(event, 'thread_id').slice(-1)];
      if (event['type'] === 'turn.completed') return [`end ${Object(event['usage']).input_tokens}`];
      return item.type === 'reasoning' ? [textAt(item, 'text').slice(0, 19)] : [];
    });
    const summary = '[Context Summary — ';
    assert.deepEqual(outline, ['a', 'b', summary, 'end 1002', 'a', summary, 'end 1003']);
  });

  test('has no message of the agent as its summary, since scripts take the last one for the answer', async (t) => {
    const bench = benchWith(t, readFileSync(join(FIXTURES, FORMAT, 'run.jsonl')));
    const after = await compactLog(bench, 1);
    const answers = after.flatMap(({ item }) => (Object(item).type === 'agent_message' ? [Object(item).text] : []));
    assert.deepEqual(answers, ['Everything is done: lights are read with their remarks, and old charts are refused.']);
  });
});

suite('an item of codex exec', () => {
  const item = (type: string, fields: Fields): Fields => ({ type, item: { id: 'item_1', ...fields } });
  const command = (fields: Fields): Fields => ({ type: 'command_execution', command: 'ls', ...fields });

  test('begins a call each time it starts, and an update alone is no message', () => {
    const records = [
      item('item.updated', command({})),
      item('item.started', command({})),
      item('item.started', command({})),
    ];
    assert.deepEqual(
      decodeAll(codexExec, records).map(({ calls }) => calls),
      [undefined, ['item_1@2'], ['item_1@3']],
    );
  });

  test('is a call where it begins, and its result where it ends, though its id was used in an earlier run', () => {
    const run = [
      { type: 'thread.started', thread_id: 't' },
      item('item.started', command({})),
      item('item.updated', command({})),
      item('item.completed', command({ aggregated_output: 'a.txt', exit_code: 2 })),
    ];
    const read = decodeAll(codexExec, [...run, ...run]).map(({ kind, calls, results, message }) => ({
      kind,
      ids: calls ?? results,
      content: message?.content,
    }));
    assert.deepEqual(read, [
      { kind: 'header', ids: undefined, content: undefined },
      { kind: 'message', ids: ['item_1@2'], content: 'command_execution {"command":"ls"}' },
      { kind: 'meta', ids: undefined, content: undefined },
      { kind: 'message', ids: ['item_1@2'], content: 'a.txt\nexit code 2' },
      { kind: 'meta', ids: undefined, content: undefined },
      { kind: 'message', ids: ['item_1@6'], content: 'command_execution {"command":"ls"}' },
      { kind: 'meta', ids: undefined, content: undefined },
      { kind: 'message', ids: ['item_1@6'], content: 'a.txt\nexit code 2' },
    ]);
  });

  test('is both if only its end is in the log', () => {
    const [read] = decodeAll(codexExec, [item('item.completed', command({ aggregated_output: 'a.txt' }))]);
    assert.deepEqual([read?.calls, read?.results, read?.message?.role], [['line:1'], ['line:1'], 'tool']);
    assert.equal(read?.message?.content, 'command_execution {"command":"ls"}\na.txt');
  });

  test('ends with all that it is about, if it is a search or of an unknown kind', () => {
    const read = decodeAll(codexExec, [
      item('item.started', { type: 'web_search', query: '' }),
      item('item.completed', { type: 'web_search', query: 'rhythm of lights' }),
    ]);
    assert.equal(read[1]?.message?.content, '{"query":"rhythm of lights"}');
  });

  test('says what it changes, asks and answers, whatever its kind', () => {
    const said = (fields: Fields): string | undefined => {
      const [read] = decodeAll(codexExec, [item('item.completed', fields)]);
      return read?.message?.content;
    };
    const changes = [
      { path: 'a.ts', kind: 'add' },
      { path: 'b.ts', kind: 'update' },
    ];
    const call = { type: 'mcp_tool_call', server: 's', tool: 'horn', arguments: { long: true } };
    const todos = [{ text: 'Read', completed: true }];
    assert.deepEqual(
      [
        said({ type: 'file_change', changes, status: 'failed' }),
        said({ ...call, result: { content: [{ type: 'text', text: 'toot' }] } }),
        said({ ...call, error: { message: 'silence' } }),
        said({ type: 'web_search', query: 'rhythm of lights' }),
        said({ type: 'todo_list', items: todos }),
        said({ type: 'error', message: 'fog' }),
        said({ type: 'never_seen', words: 'hello' }),
        said({ type: 'reasoning', text: 'hm' }),
      ],
      [
        'file_change {"path":"a.ts","kind":"add"}\nfile_change {"path":"b.ts","kind":"update"}\nfailed',
        's.horn {"long":true}\ntoot',
        's.horn {"long":true}\nsilence',
        'web_search {"query":"rhythm of lights"}',
        'todo_list {"todos":[{"content":"Read","status":"completed"}]}',
        'fog',
        'never_seen {"words":"hello"}',
        undefined,
      ],
    );
  });
});

test('an error of the stream is a message, because nothing else in the log says why a run failed', () => {
  const read = decodeAll(codexExec, readFixture(FORMAT, 'failed-turn.jsonl')).findLast(
    ({ kind }) => kind === 'message',
  );
  assert.deepEqual(read?.message?.parts, [
    {
      kind: 'result',
      callId: 'line:32',
      text: 'You have reached the limit of your plan. Try again at 12:00.',
      isError: true,
    },
  ]);
});
