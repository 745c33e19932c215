import type { MessagePart, Role } from '../../../core/message.ts';
import { isClipArchiveText } from '../../../core/split.ts';
import type { Decoded, Entry } from '../../../core/transcript.ts';
import type { Codec, CodecSession, ContextView, CutProblem, Json, SummaryInput } from '../../../ports/codec.ts';
import { FORMATS } from '../formats.ts';
import { detectConversations } from '../json-list/detect.ts';
import { createListRecords } from '../json-list/records.ts';
import { idAt, isList, isRecord, type JsonRecord, listOf, readSeconds, stringAt, valueAt } from '../json.ts';
import { joinTexts, readPartText, typedText } from '../message-parts.ts';
import { say, textParts } from '../said.ts';
import { createSession as createPlainSession } from '../session.ts';
import { buildTree } from '../parents.ts';

/** `conversations.json` of a ChatGPT export: a list of conversations, each a tree of messages. */
export const chatGpt: Codec = {
  format: FORMATS.chatGpt,
  records: createListRecords({ unit: 'element', kind: 'members', keys: ['mapping'] }),
  detect: ([beginning = null]) =>
    detectConversations(beginning, 'an object "mapping"', (value) => isRecord(value['mapping'])),
  open: createSession,
};

/** Remembers the current node of each conversation, by the line at which the conversation begins. */
function createSession(): CodecSession {
  const currentIds = new Map<number, string>();
  const branchOf = (entries: readonly Entry[]): Branch => findBranch(entries, currentIds.get(entries[0]?.line ?? 0));
  return createPlainSession({
    what: 'a message that is',
    read: readMember,
    openList: (around, line) => {
      const current = stringAt(around, 'current_node');
      if (current !== undefined) currentIds.set(line, current);
      return idAt(around, 'conversation_id') ?? idAt(around, 'id');
    },
    readContext: (entries) => readContext(branchOf(entries), entries),
    legalCuts: (entries) => findCuts(branchOf(entries)),
    renderSummary,
  });
}

/** A member of a conversation's mapping, a record `{id: node}`. */
type Node = {
  /** Its key, which other nodes name as their parent. */
  readonly id: string;
  /** null: a root. */
  readonly parentId: string | null;
  readonly message: JsonRecord | null;
};

/** null: it is not a node. */
function readNode(value: Json | undefined): Node | null {
  const [member] = isRecord(value) ? Object.entries(value) : [];
  if (member === undefined) return null;
  const [id, node] = member;
  const message = valueAt(node, 'message');
  return { id, parentId: stringAt(node, 'parent') ?? null, message: isRecord(message) ? message : null };
}

const ROLES: readonly Role[] = ['user', 'assistant', 'system', 'tool'];

/** Roots, empty system messages and the model's thinking are carried along as meta. */
function readMember(value: JsonRecord, { line }: { readonly line: number }): Decoded {
  const node = readNode(value);
  if (node === null) return { kind: 'meta' };
  const { id, parentId, message } = node;
  const place = { recordId: id, parentId };
  const role = ROLES.find((one) => one === valueAt(message, 'author', 'role'));
  if (message === null || role === undefined) return { kind: 'meta', ...place };
  const { content, create_time: time } = message;
  const text = readText(content);
  const said = { line, id, at: readSeconds(time) };
  const asSystem = { ...said, role: 'system', parts: textParts([text]) } as const;
  if (role === 'user' && isClipArchiveText(text)) return say(asSystem, { kind: 'summary', isUnmarked: true, ...place });
  if (role === 'system' || SETTINGS.has(stringAt(content, 'content_type') ?? ''))
    return text === '' ? { kind: 'meta', ...place } : say(asSystem, { kind: 'instruction', ...place });
  const parts = readParts(node, role, text);
  if (role === 'assistant' && parts.length === 0) return { kind: 'meta', ...place };
  const isTyped = role === 'user' && valueAt(message, 'metadata', 'is_visually_hidden_from_conversation') !== true;
  return say(
    { ...said, role, parts, name: stringAt(message, 'author', 'name'), typed: isTyped ? typedText([text]) : undefined },
    { ...place, ...(isTyped && { isPrompt: true }) },
  );
}

/** A message of the model to a specific recipient is a call; a tool's message answers its parent node. */
function readParts({ id, parentId, message }: Node, role: Role, text: string): readonly MessagePart[] {
  if (role === 'tool' && parentId !== null) return [{ kind: 'result', callId: parentId, text, isError: false }];
  const recipient = stringAt(message, 'recipient') ?? 'all';
  const isCall = role === 'assistant' && recipient !== 'all' && recipient !== '';
  return isCall ? [{ kind: 'call', id, name: recipient, arguments: text }] : textParts([text]);
}

/** Types of content: the model's own thinking, which is not part of the conversation. */
const THINKING: ReadonlySet<string> = new Set(['thoughts', 'reasoning_recap']);
/** Settings that a person wrote once for all conversations; the export has them as user messages. */
const SETTINGS: ReadonlySet<string> = new Set(['user_editable_context', 'model_editable_context']);

/** Where the various types of content have their text, besides `parts`. */
const TEXT_KEYS = ['title', 'url', 'user_profile', 'user_instructions', 'model_set_context', 'text', 'result'];

/**
 * The text of a message's content; '' for thinking and for media alone: parts that are objects are pictures, audio and files; the transcription
 * of audio is text.
 */
function readText(content: Json | undefined): string {
  if (!isRecord(content)) return readPartText(content);
  if (THINKING.has(stringAt(content, 'content_type') ?? '')) return '';
  const { parts } = content;
  const own = TEXT_KEYS.flatMap((key) => stringAt(content, key) ?? []);
  const text = joinTexts([...own, ...listOf(parts).map(readPartText)]);
  return text === '' && !isList(parts) && own.length === 0 ? readPartText(content) : text;
}

type Branch = ReturnType<typeof findBranch>;

/** The conversation: the path from the root to the node that the export names as the current one. Members may be in any order. */
function findBranch(entries: readonly Entry[], currentId: string | undefined) {
  const tree = buildTree(entries);
  const parents = new Set(entries.map(({ parentId }) => parentId));
  const isLeaf = ({ kind, recordId }: Entry): boolean =>
    kind === 'message' && recordId !== undefined && !parents.has(recordId);
  const path = tree.pathFrom(tree.find(currentId) ?? entries.findLast(isLeaf)).toReversed();
  const places = new Map(path.map((entry, place) => [entry, place]));
  const said = path.findIndex(({ kind }) => kind === 'message' || kind === 'summary');
  return {
    path,
    /** The place on the path of the first message: before it there are only roots, empty nodes and instructions. */
    firstSaid: said < 0 ? path.length : said,
    /** The place on the path of a member, or of the node that it depends on; null: it is not connected to the path. */
    placeOf: tree.askUpwards<number | null>((entry) => places.get(entry), null),
  };
}

/**
 * Everything that is not on the path goes or stays with the node that it depends on: empty nodes, instructions between messages, and branches
 * that were replaced by new questions or answers. So a kept node never names one that is gone.
 */
function readContext({ path, firstSaid, placeOf }: Branch, entries: readonly Entry[]): ContextView {
  const frame = entries[0]?.line ?? 0;
  const first = path[firstSaid];
  // For each place on the path, the line that decides: of the message there, or of the last one before it.
  const deciding: number[] = [];
  for (const [place, entry] of path.entries()) {
    const isSaid = entry === first || entry.kind === 'message';
    deciding.push(isSaid ? entry.line : (deciding[place - 1] ?? frame));
  }
  return {
    priorLine: first?.kind === 'summary' ? first.line : null,
    isStale: (entry) => {
      const place = placeOf(entry);
      if (place === null || path[place] !== entry) return true;
      return entry.kind === 'instruction' && place > firstSaid;
    },
    anchorOf: (entry) => deciding[placeOf(entry) ?? -1] ?? frame,
    orderOf: (entry) => placeOf(entry) ?? 0,
  };
}

/** The summary takes the id that the first kept node names as its parent. The only problem can be a tool's answer. */
function findCuts({ path, firstSaid }: Branch): (line: number) => CutProblem {
  const problems = new Map<number, CutProblem>();
  for (const [place, { kind, line, role }] of path.slice(firstSaid).entries()) {
    if (kind !== 'message') continue;
    const isAnswer = role === 'tool' ? 'it answers a call that would be gone' : null;
    problems.set(line, place === 0 ? 'it is the first message of the conversation' : isAnswer);
  }
  return (line) => {
    const problem = problems.get(line);
    return problem === undefined ? 'there is no message of the current branch' : problem;
  };
}

/**
 * A user node with the summary. It takes the id that the first kept node names as its parent. It, or an empty node
 * before it, also takes the id of the first node that left, which the node before names as its child. So the tree is
 * complete in both directions, and nothing in it was rewritten.
 */
function renderSummary(input: SummaryInput): readonly string[] {
  const head = readNode(input.prior ?? input.firstDropped ?? null);
  const kept = readNode(input.firstKept);
  const id = kept?.parentId ?? input.uuid('summary');
  const headId = head?.id ?? id;
  const above = head?.parentId ?? null;
  const message = {
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
  const summary = renderMember({ id, message, parent: headId === id ? above : headId, children });
  if (headId === id) return [summary];
  return [renderMember({ id: headId, message: null, parent: above, children: [id] }), summary];
}

function renderMember(node: { readonly id: string; readonly [key: string]: Json }): string {
  return `${JSON.stringify(node.id)}:${JSON.stringify(node)}`;
}
