import { readCall } from '../handover/tool-call.ts';
import { callsOf, type ConversationMessage, type MessagePart } from '../message.ts';
import { estimateTokensByBytes } from '../tokens.ts';

/** Tokens of a part of the conversation, and of its parts, largest first. */
export type TokenNode = { readonly name: string; readonly tokens: number; readonly children: readonly TokenNode[] };

type Branch = { tokens: number; readonly children: Map<string, Branch> };

/** The name of what is no tool call. */
const PROSE = 'text';
const UNKNOWN_TOOL = 'unknown tool';

/**
 * Splits the tokens of a conversation by role, then tool, then what the tool worked on: a file, a pattern, an address or a command. A result
 * counts for the tool and object of its call.
 */
export function countTokenTree(messages: Iterable<ConversationMessage>): TokenNode {
  const root = createBranch();
  const calls = new Map<string, readonly [tool: string, object: string | null]>();
  const resultOf = ({ callId }: { callId: string }) => calls.get(callId) ?? [UNKNOWN_TOOL, null];
  for (const message of messages) {
    for (const part of partsOf(message)) {
      if (part.kind === 'call') calls.set(part.id, [part.name, objectOf(part)]);
      const [tool, object] =
        part.kind === 'text' ? [PROSE, null] : part.kind === 'call' ? [part.name, objectOf(part)] : resultOf(part);
      const written = part.kind === 'call' ? part.arguments : part.text;
      add(root, [message.role, tool, ...(object === null ? [] : [object])], estimateTokensByBytes(written));
    }
  }
  return toNode('all', root);
}

function partsOf(message: ConversationMessage): readonly MessagePart[] {
  const { parts, role, content, tool_call_id: callId } = message;
  if (parts !== undefined) return parts;
  if (role === 'tool' && callId !== undefined) return [{ kind: 'result', callId, text: content, isError: false }];
  const calls = callsOf(message).map((call): MessagePart => ({ kind: 'call', ...call }));
  return [{ kind: 'text', text: content }, ...calls];
}

/** The file, pattern or address that a call is about, or the command that it runs. */
function objectOf(call: Extract<MessagePart, { readonly kind: 'call' }>): string | null {
  const { written, target, command } = readCall(call);
  return written[0] ?? target ?? (command === null ? null : commandName(command));
}

const ASSIGNMENT = /^\w+=\S*$/;

/** `FOO=1 npm test -- x` → `npm test`. */
function commandName(command: string): string | null {
  const [name, action] = command.split(/\s+/).filter((word) => word !== '' && !ASSIGNMENT.test(word));
  if (name === undefined) return null;
  return action !== undefined && /^[a-z][\w:-]*$/.test(action) ? `${name} ${action}` : name;
}

function createBranch(): Branch {
  return { tokens: 0, children: new Map() };
}

function add(root: Branch, path: readonly string[], tokens: number): void {
  if (tokens === 0) return;
  let branch = root;
  branch.tokens += tokens;
  for (const name of path) {
    const next = branch.children.get(name) ?? createBranch();
    branch.children.set(name, next);
    next.tokens += tokens;
    branch = next;
  }
}

function toNode(name: string, { tokens, children }: Branch): TokenNode {
  const nodes = [...children].map(([child, branch]) => toNode(child, branch));
  return { name, tokens, children: nodes.sort((a, b) => b.tokens - a.tokens || (a.name < b.name ? -1 : 1)) };
}

export function foldSmallest(nodes: readonly TokenNode[], most: number): readonly TokenNode[] {
  if (nodes.length <= most) return nodes;
  const rest = nodes.slice(most - 1);
  const tokens = rest.reduce((sum, node) => sum + node.tokens, 0);
  return [...nodes.slice(0, most - 1), { name: `${rest.length} others`, tokens, children: [] }];
}
