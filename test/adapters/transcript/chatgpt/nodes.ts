/** A member of a mapping as the export writes it. */
export type NodeDraft = {
  readonly id: string;
  readonly parent: string | null;
  readonly role?: string;
  readonly text?: string;
  readonly message?: Readonly<Record<string, unknown>>;
};

/** A conversation of these nodes, its members in the order given; the last one is the current node unless another is named. */
export function conversationOf(
  nodes: readonly NodeDraft[],
  { order = nodes, current }: { readonly order?: readonly NodeDraft[]; readonly current?: string } = {},
): object {
  const childrenOf = (id: string): readonly string[] =>
    nodes.filter(({ parent }) => parent === id).map((one) => one.id);
  const members = order.map((node) => [node.id, { ...nodeOf(node), children: childrenOf(node.id) }] as const);
  return { title: 'T', mapping: Object.fromEntries(members), current_node: current ?? nodes.at(-1)?.id, id: 'conv-1' };
}

function nodeOf({ id, parent, role, text = '', message }: NodeDraft): object {
  const content = { content_type: 'text', parts: [text] };
  const said =
    role === undefined ? null : { id, author: { role }, create_time: 1.5, content, recipient: 'all', ...message };
  return { id, message: said, parent };
}

/** A root, a hidden system node, and turns one after the other. */
export function thread(texts: readonly string[]): readonly NodeDraft[] {
  const said = texts.map((text, index): NodeDraft => ({
    id: `n${index}`,
    parent: index === 0 ? 'sys' : `n${index - 1}`,
    role: index % 2 === 0 ? 'user' : 'assistant',
    text,
  }));
  return [{ id: 'root', parent: null }, { id: 'sys', parent: 'root', role: 'system' }, ...said];
}
