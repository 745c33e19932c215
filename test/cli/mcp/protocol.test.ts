import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { chatTranscript } from '../../support/chat.ts';
import { folderWith } from '../../support/folders.ts';
import { callTool, converse, OPENING, readAnswers, requestLine, startMcp, textOf } from '../../support/mcp.ts';
import { runHere } from '../../support/program.ts';
import { helpOf, parsed } from '../command-lines.ts';

const NO_ARCHIVE = ['--archive', '/nowhere/archive.db'];
const AT_A_TIME = { concurrency: 2 };

function names(listed: unknown): readonly string[] {
  return Object(listed).tools.map(({ name }: { readonly name: string }) => name);
}

test('it says who it is, and to a model what the memory is for', async () => {
  const { answers, code, stderr } = await converse(NO_ARCHIVE, '');
  const opened = answers.get('init')?.result ?? {};
  assert.deepEqual([code, stderr], [0, '']);
  assert.deepEqual(
    { ...opened, instructions: '' },
    {
      protocolVersion: '2025-06-18',
      capabilities: { tools: { listChanged: false } },
      serverInfo: {
        name: 'compact',
        title: 'compact: past conversations',
        version: JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')).version,
      },
      instructions: '',
    },
  );
  assert.match(String(opened['instructions']), /memory_read.*memory_expand/s);
});

test('both tools of the memory are listed as such that only read', async () => {
  const { answers } = await converse(NO_ARCHIVE, requestLine(1, 'tools/list'));
  const { tools } = Object(answers.get(1)?.result);
  assert.deepEqual(names({ tools }), ['memory_read', 'memory_expand']);
  for (const { annotations, inputSchema, description } of tools) {
    assert.deepEqual(annotations, {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    });
    assert.deepEqual([inputSchema.type, inputSchema.additionalProperties], ['object', false]);
    assert.ok(description.length > 200);
  }
});

test('compact_context is listed where it is allowed, and its instructions name the folders', async (t) => {
  const folder = folderWith(t, {});
  const { answers } = await converse([...NO_ARCHIVE, '--allow-compact', folder], requestLine(1, 'tools/list'));
  assert.deepEqual(names(answers.get(1)?.result), ['memory_read', 'memory_expand', 'compact_context']);
  assert.ok(String(answers.get('init')?.result?.['instructions']).endsWith(`in these folders: ${folder}.`));
});

test('a tool that does not exist is an error of the protocol', async () => {
  const { answers } = await converse(NO_ARCHIVE, requestLine(1, 'tools/call', { name: 'memory_write', arguments: {} }));
  assert.deepEqual(answers.get(1)?.error, { code: -32602, message: 'Tool memory_write not found' });
});

test('wrong arguments are told to the model: each of them, by its name', async () => {
  const result = await callTool(NO_ARCHIVE, 'memory_read', { queri: 'boat', limit: 0, role: 'pilot' });
  assert.equal(result.isError, true);
  assert.match(textOf(result), /query: .*role: .*limit: .*"queri"/s);
});

test('a call without arguments is told what is missing', async () => {
  const { answers } = await converse(NO_ARCHIVE, requestLine(1, 'tools/call', { name: 'memory_read' }));
  assert.match(JSON.stringify(answers.get(1)?.result), /query: .*"isError":true/);
});

test('a request before the conversation is opened is answered', async () => {
  const { stdout } = await runHere(['mcp', ...NO_ARCHIVE], requestLine(1, 'tools/list'));
  assert.deepEqual(names(readAnswers(stdout)[0]?.result), ['memory_read', 'memory_expand']);
});

test('a reader of the newest revision of the protocol needs no opening', async () => {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw lines', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const call = { name: 'memory_read', arguments: { query: 'boat' }, _meta: envelope };
  const { stdout } = await runHere(['mcp', ...NO_ARCHIVE], requestLine(1, 'tools/call', call));
  assert.match(JSON.stringify(readAnswers(stdout)[0]?.result), /Nothing is archived yet/);
});

test('a call that its client withdraws is not waited for', async () => {
  const call = requestLine(1, 'tools/call', { name: 'memory_read', arguments: { query: 'boat' } });
  const params = { requestId: 1, reason: 'no longer of interest' };
  const withdrawal = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params })}\n`;
  const { answers, code } = await converse(NO_ARCHIVE, call + withdrawal + requestLine(2, 'ping'));
  assert.deepEqual([code, [...answers.keys()]], [0, ['init', 2]]);
});

test('a folder that is not there is a wrong command line', async () => {
  const { code, stderr, stdout } = await runHere(['mcp', '/nowhere/logs'], OPENING);
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /^compact: \/nowhere\/logs: no such file or folder\./);
});

test('--allow-compact without a folder is a wrong command line', async () => {
  const { code, stderr } = await runHere(['mcp', '--allow-compact'], OPENING);
  assert.equal(code, 2);
  assert.match(stderr, /^compact: --allow-compact needs the folders/);
});

suite('in a process of its own', AT_A_TIME, () => {
  test('what was asked before the input ended is answered', async (t) => {
    const folder = folderWith(t, { 'talk.jsonl': chatTranscript(40) });
    const conversation = await startMcp(t, ['--archive', join(folder, 'a.db'), '--allow-compact', folder]);
    const answer = conversation.call('compact_context', { path: 'talk.jsonl' });
    const { code, stderr } = await conversation.end();
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal((await answer).structuredContent?.['result'], 'compacted');
  });

  test('an end of the input in the middle of a line ends it quietly', async (t) => {
    const conversation = await startMcp(t, NO_ARCHIVE);
    conversation.write(requestLine(9, 'tools/call', { name: 'memory_read' }).slice(0, 40));
    const { code, stderr } = await conversation.end();
    assert.equal(code, 0);
    assert.match(stderr, /^compact mcp: a line of standard input is not valid JSON.*\n$/);
  });

  for (const [signal, expected] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    test(`${signal} ends it without a word`, async (t) => {
      const { child, ended } = await startMcp(t, NO_ARCHIVE);
      child.kill(signal);
      const { code, stderr } = await ended;
      assert.deepEqual([code, stderr], [expected, '']);
    });
  }

  test('a client that goes away ends it without a word', async (t) => {
    const { child, write, ended } = await startMcp(t, NO_ARCHIVE);
    child.stdout?.destroy();
    write(requestLine(1, 'ping'));
    const { code, stderr } = await ended;
    assert.deepEqual([code, stderr], [0, '']);
  });
});

test('the folders and flags of the server are read, and no project has a say', async () => {
  const outputOptions = { json: false, verbosity: 'normal', color: 'never', showProgress: false };
  assert.partialDeepStrictEqual(await parsed('mcp'), {
    operands: [],
    outputOptions,
    settings: { configFlag: null, project: 'ignored' },
  });
  const given = ['mcp', 'logs', 'more', '--allow-compact', '-q', '--archive', 'a.db', '--config', 'c'];
  const limits = ['--source', './talk.jsonl', '--since', '2026-03-02T09:30Z', '--redact'];
  assert.partialDeepStrictEqual(await parsed(...given, ...limits), {
    operands: ['logs', 'more'],
    options: {
      allowCompact: true,
      source: './talk.jsonl',
      since: Date.parse('2026-03-02T09:30Z'),
      redact: true,
    },
    outputOptions: { ...outputOptions, verbosity: 'quiet' },
    settings: { configFlag: 'c', project: 'ignored', flags: { archive: { path: 'a.db' } } },
  });
});

test('its help names its flags, and the help of the program names it', async () => {
  const own = await helpOf(['mcp', '--help']);
  const whole = await helpOf(['--help']);
  assert.match(own, /Usage: compact mcp \[options\] \[folder\.\.\.\]/);
  assert.match(own, /--allow-compact +offer the tool compact_context/);
  assert.match(whole, /^Also: .*\bmcp\b/m);
});

// Needs `dist`: `npm test` builds first.
const BIN = join(import.meta.dirname, '../../../bin/compact.js');

async function connect(t: TestContext, ...args: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'a test', version: '1' });
  t.after(() => client.close());
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [BIN, 'mcp', ...args] }));
  return client;
}

test('a client compacts a transcript, finds what left it, and reads it word for word', async (t) => {
  const folder = folderWith(t, { 'talk.jsonl': chatTranscript(30) });
  const client = await connect(t, '--archive', join(folder, 'archive.db'), '--allow-compact', folder);
  assert.equal(client.getServerVersion()?.name, 'compact');
  assert.match(client.getInstructions() ?? '', /memory of the user's past conversations/);
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['memory_read', 'memory_expand', 'compact_context'],
  );

  const compacted = await client.callTool({ name: 'compact_context', arguments: { path: 'talk.jsonl' } });
  assert.equal(Object(compacted.structuredContent).result, 'compacted');
  const found = await client.callTool({ name: 'memory_read', arguments: { query: 'part-3.ts', kind: 'messages' } });
  const [hit] = Object(found.structuredContent).hits;
  const [, said] = /^read_file src\/part-3\.ts → (.{40})/.exec(hit.text) ?? [];
  assert.ok(said !== undefined, hit.text);
  const read = await client.callTool({ name: 'memory_expand', arguments: { id: hit.show } });
  assert.ok(Object(read.structuredContent).messages[0].text.startsWith(said));
});

test('what goes wrong reaches a client as a result or as an error of the protocol', async (t) => {
  const folder = folderWith(t, {});
  const client = await connect(t, '--archive', join(folder, 'archive.db'));
  const refused = await client.callTool({ name: 'compact_context', arguments: { path: 'talk.jsonl' } });
  assert.equal(refused.isError, true);
  await assert.rejects(client.callTool({ name: 'memory_write', arguments: {} }), { code: -32602 });
});
