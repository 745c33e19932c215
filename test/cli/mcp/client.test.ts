import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { chatTranscript } from '../../support/chat.ts';
import { folderWith } from '../../support/folders.ts';

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
  assert.match(hit.text, /src\/part-3\.ts/);
  const read = await client.callTool({ name: 'memory_expand', arguments: { id: hit.show } });
  assert.equal(Object(read.structuredContent).messages[0].text, 'read_file {"path":"src/part-3.ts"}');
});

test('what goes wrong reaches a client as a result or as an error of the protocol', async (t) => {
  const folder = folderWith(t, {});
  const client = await connect(t, '--archive', join(folder, 'archive.db'));
  const refused = await client.callTool({ name: 'compact_context', arguments: { path: 'talk.jsonl' } });
  assert.equal(refused.isError, true);
  await assert.rejects(client.callTool({ name: 'memory_write', arguments: {} }), { code: -32602 });
});
