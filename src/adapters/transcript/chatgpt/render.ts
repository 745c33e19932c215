import type { Json, SummaryInput } from '../../../ports/codec.ts';
import { readNode } from './decode.ts';

/**
 * A user node with the summary. It takes the id that the first kept node names as its parent. It, or an empty node
 * before it, also takes the id of the first node that left, which the node before names as its child. So the tree is
 * complete in both directions, and nothing in it was rewritten.
 */
export function renderSummary(input: SummaryInput): readonly string[] {
  const head = readNode(input.prior ?? input.firstDropped ?? null);
  const kept = readNode(input.firstKept);
  const id = kept?.parentId ?? input.uuid('summary');
  const headId = head?.id ?? id;
  const above = head?.parentId ?? null;
  const message: Json = {
    id,
    author: { role: 'user', name: null, metadata: {} },
    create_time: readNode(input.lastDropped)?.message?.['create_time'] ?? null,
    update_time: null,
    content: { content_type: 'text', parts: [input.text] },
    status: 'finished_successfully',
    end_turn: true,
    weight: 1,
    metadata: {},
    recipient: 'all',
    channel: null,
  };
  const children = kept === null ? [] : [kept.id];
  const summary = member({ id, message, parent: headId === id ? above : headId, children });
  return headId === id ? [summary] : [member({ id: headId, message: null, parent: above, children: [id] }), summary];
}

function member(node: { readonly id: string; readonly [key: string]: Json }): string {
  return `${JSON.stringify(node.id)}:${JSON.stringify(node)}`;
}
