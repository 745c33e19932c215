import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConversationMessage } from '../../../src/core/message.ts';
import { countTokenTree, foldSmallest, type TokenNode } from '../../../src/core/overview/token-tree.ts';

function said(changes: Partial<ConversationMessage>): ConversationMessage {
  return { id: 'm', conversation_id: 'c', role: 'user', content: '', created_at: null, ...changes };
}

/** The tree as `name tokens` with its children. */
function outline({ name, tokens, children }: TokenNode): unknown {
  return children.length === 0 ? `${name} ${tokens}` : [`${name} ${tokens}`, children.map(outline)];
}

const read = { kind: 'call', id: 'c1', name: 'Read', arguments: '{"file_path":"src/a.ts"}' } as const;
const test1 = { kind: 'call', id: 'c2', name: 'Bash', arguments: '{"command":"CI=1 npm test -- --watch"}' } as const;

test('tokens are counted by role, tool and object; a result belongs to its call', () => {
  const tree = countTokenTree([
    said({ content: 'x'.repeat(40) }),
    said({ role: 'assistant', parts: [{ kind: 'text', text: 'y'.repeat(20) }, read, test1] }),
    said({ role: 'tool', parts: [{ kind: 'result', callId: 'c1', text: 'z'.repeat(400), isError: false }] }),
    said({ role: 'tool', tool_call_id: 'c2', content: 'z'.repeat(80) }),
    said({ role: 'tool', tool_call_id: 'c9', content: 'z'.repeat(4) }),
  ]);
  assert.deepEqual(outline(tree), [
    'all 152',
    [
      ['tool 121', [['Read 100', ['src/a.ts 100']], ['Bash 20', ['npm test 20']], 'unknown tool 1']],
      ['assistant 21', [['Bash 10', ['npm test 10']], ['Read 6', ['src/a.ts 6']], 'text 5']],
      ['user 10', ['text 10']],
    ],
  ]);
});

test('small nodes are folded into one, and nothing is lost', () => {
  const nodes = [9, 5, 3, 1].map((tokens) => ({ name: `n${tokens}`, tokens, children: [] }));
  assert.deepEqual(foldSmallest(nodes, 3).map(outline), ['n9 9', 'n5 5', '2 others 4']);
  assert.equal(foldSmallest(nodes, 4), nodes);
});
