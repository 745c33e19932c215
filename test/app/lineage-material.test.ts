import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLineage } from '../../src/app/read/lineage.ts';
import type { ConversationMessage } from '../../src/core/message.ts';
import type { ArchivedLine, StoredBatch } from '../../src/ports/archive-lookup.ts';
import type { Archive, StoredCycle } from '../../src/ports/archive.ts';

const BATCH: StoredBatch = {
  id: 1,
  label: 'one',
  contentSha256: '',
  level: 'plain',
  content: 'what was said',
  depth: 0,
  startTime: null,
  endTime: null,
  messageCount: 1,
};

const CYCLE: StoredCycle = {
  id: 1,
  compactionId: 1,
  conversationId: 'c',
  cycle: 1,
  parentCycleId: null,
  clipSha256: '',
  parentCompactionId: null,
  isErased: false,
  title: null,
  messagesCompressed: 1,
  live: [BATCH],
  made: [],
};

/** Lines of one compaction; none of them says where in the conversation it stood. */
function archiveOf(count: number): Pick<Archive, 'readOriginals' | 'loadSources'> {
  return {
    loadSources: async () => [],
    readOriginals: async function* () {
      for (let line = count; line >= 1; line -= 1) yield [{ ...lineOf(line), bytes: new Uint8Array() }];
    },
  };
}

function lineOf(line: number): ArchivedLine {
  return {
    lineId: line,
    line,
    compactionId: 1,
    format: 'chat',
    sourcePath: '/t.jsonl',
    archivedAt: new Date(0),
    sizeBytes: 0,
    sha256: '',
    outcome: 'summarized',
    conversationId: 'c',
    batchLabel: 'one',
    message: null,
  };
}

const base = { conversation_id: 'c', created_at: null } as const;
const request = (n: number): ConversationMessage => {
  const content = `Request ${n}: keep the port of vessel ${n} and never touch its lock file. `.repeat(4);
  return { ...base, id: `u${n}`, role: 'user', content, typed: content };
};
const result = (n: number): ConversationMessage => ({
  ...base,
  id: `t${n}`,
  role: 'tool',
  tool_call_id: `c${n}`,
  content: `line ${n} of a log\n`.repeat(120),
});

test('of a long lineage the requests stay word for word, and results are cut until all is within bounds', async () => {
  const count = 600;
  const decode = ({ line }: ArchivedLine): ConversationMessage => (line % 2 === 1 ? request(line) : result(line));
  const { messages, replaced, kept } = await readLineage(archiveOf(count), CYCLE, decode);
  assert.deepEqual([replaced, kept, messages.length], [[BATCH], [], count]);
  assert.deepEqual(
    messages.filter(({ role }) => role === 'user'),
    Array.from({ length: count / 2 }, (_, at) => request(2 * at + 1)),
  );
  const chars = messages.reduce((sum, { content }) => sum + content.length, 0);
  assert.ok(chars > 200_000 && chars < 270_000, `${chars} characters`);
  assert.deepEqual(
    messages.map(({ id }) => Number(id.slice(1))),
    Array.from({ length: count }, (_, at) => at + 1),
  );
});

test('a short lineage is read in full', async () => {
  const { messages } = await readLineage(archiveOf(3), CYCLE, ({ line }) => result(line));
  assert.deepEqual(messages, [result(1), result(2), result(3)]);
});

test('a batch of which the archive has no line stays as it is', async () => {
  const { messages, replaced, kept } = await readLineage(archiveOf(0), CYCLE, () => null);
  assert.deepEqual([messages, replaced, kept], [[], [], [BATCH]]);
});
