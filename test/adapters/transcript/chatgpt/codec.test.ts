import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import * as fc from 'fast-check';
import { prose } from '../../../support/chat.ts';
import { benchWith, type BenchSettings, createWorkbench, reportOf } from '../../../support/workbench.ts';
import { conversationOf, type NodeDraft, thread } from './nodes.ts';
import { runsOf } from '../../../support/runs.ts';

type Node = {
  readonly id: string;
  readonly parent: string | null;
  readonly children: readonly string[];
  readonly message: { readonly content: { readonly parts: readonly string[] } } | null;
};
type Conversation = { readonly mapping: Readonly<Record<string, Node>>; readonly current_node: string };

const words = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => prose(index, 60));
const keep3: BenchSettings = { compaction: { keepRecent: 3, maxSummaryTokens: 100 } };

async function compacted(t: TestContext, conversation: object, settings = keep3): Promise<Conversation> {
  const bench = benchWith(t, 'c.json', JSON.stringify([conversation]));
  assert.equal(reportOf(await bench.compact('c.json', settings)).result, 'compacted');
  const [result]: readonly Conversation[] = JSON.parse(bench.read('c.json').toString('utf8'));
  assert.ok(result !== undefined);
  return result;
}

/** Texts on the way from the root to the current node; every node must name its parent, and its parent must name it. */
function wayOf({ mapping, current_node: current }: Conversation): readonly string[] {
  const texts: string[] = [];
  for (let id: string | null = current; id !== null;) {
    const node: Node | undefined = mapping[id];
    assert.ok(node !== undefined, `${id} is not there`);
    assert.ok(
      node.parent === null || mapping[node.parent]?.children.includes(id),
      `${node.parent} does not name ${id}`,
    );
    const text = node.message?.content.parts.join('') ?? '';
    if (text !== '') texts.push(text);
    id = node.parent;
  }
  return texts.toReversed();
}

function isWhole({ mapping }: Conversation): void {
  for (const { id, parent, children } of Object.values(mapping)) {
    assert.ok(parent === null || parent in mapping, `${id} hangs on ${parent}, which is gone`);
    for (const child of children) assert.ok(child in mapping, `${id} names ${child}, which is gone`);
  }
}

test('the way to the current node leads from the root through the summary to what stays', async (t) => {
  const texts = words(12);
  const result = await compacted(t, conversationOf(thread(texts)));
  isWhole(result);
  const [summary = '', ...kept] = wayOf(result);
  assert.match(summary, /^\[Context Summary — 8 messages/);
  assert.deepEqual(kept, texts.slice(8));
});

test('custom instructions before the first message stay before the summary', async (t) => {
  const nodes = thread(words(12)).map((node) => (node.id === 'sys' ? { ...node, text: 'Answer briefly.' } : node));
  const result = await compacted(t, conversationOf(nodes));
  isWhole(result);
  assert.equal(wayOf(result)[0], 'Answer briefly.');
});

test('a branch goes with the message that it hangs on', async (t) => {
  const branch = (id: string, parent: string): NodeDraft => ({ id, parent, role: 'assistant', text: `branch ${id}` });
  const nodes = [...thread(words(12)), branch('old', 'n2'), branch('older', 'old'), branch('late', 'n10')];
  const result = await compacted(t, conversationOf(nodes, { current: 'n11' }));
  isWhole(result);
  assert.deepEqual(
    ['old', 'older', 'late'].filter((id) => id in result.mapping),
    ['late'],
  );
});

test('a second compaction leaves the tree whole', async (t) => {
  const bench = benchWith(t, 'c.json', JSON.stringify([conversationOf(thread(words(14)))]));
  reportOf(await bench.compact('c.json', { compaction: { keepRecent: 8, maxSummaryTokens: 100 } }));
  assert.equal(reportOf(await bench.compact('c.json', keep3)).conversations[0]?.cycles, 2);
  const [result]: readonly Conversation[] = JSON.parse(bench.read('c.json').toString('utf8'));
  assert.ok(result !== undefined);
  isWhole(result);
  assert.match(wayOf(result)[0] ?? '', /across 2 compaction cycles/);
});

test('a call is not cut from the tool message that answers it', async (t) => {
  const texts = words(12);
  const nodes = thread(texts).map((node): NodeDraft => {
    if (node.id === 'n7') return { ...node, message: { recipient: 'python' } };
    return node.id === 'n8' ? { ...node, role: 'tool' } : node;
  });
  const result = await compacted(t, conversationOf(nodes), { compaction: { keepRecent: 4, maxSummaryTokens: 100 } });
  isWhole(result);
  assert.equal('n7' in result.mapping, 'n8' in result.mapping);
});

test('in whatever order members stand, the same messages stay, and the document and its tree are whole', async () => {
  const nodes = [...thread(words(10)), { id: 'side', parent: 'n3', role: 'assistant', text: 'another answer' }];
  const order = fc.shuffledSubarray(nodes, { minLength: nodes.length });
  await fc.assert(
    fc.asyncProperty(order, async (members) => {
      const bench = createWorkbench();
      try {
        const original = JSON.stringify([conversationOf(nodes, { order: members, current: 'n9' })], null, 1);
        bench.write('c.json', original);
        const report = reportOf(await bench.compact('c.json', keep3));
        assert.equal(report.result, 'compacted');
        const [result]: readonly Conversation[] = JSON.parse(bench.read('c.json').toString('utf8'));
        assert.ok(result !== undefined);
        isWhole(result);
        assert.deepEqual(wayOf(result).slice(1), words(10).slice(6));
        assert.deepEqual((await bench.verify('c.json')).problems, []);
        assert.equal((await bench.restore('c.json')).toString('utf8'), original);
      } finally {
        bench.remove();
      }
    }),
    { numRuns: runsOf(15) },
  );
});
