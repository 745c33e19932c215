import type { Entry } from '../../../core/transcript.ts';
import type { CutProblem, Json } from '../../../ports/codec.ts';
import { readToolBlock } from '../chat-lines/tools.ts';
import { isList, isRecord, type JsonRecord } from '../json.ts';

/**
 * Histories of Anthropic's kind, as Roo, Cline and the APIs of Anthropic and Bedrock keep them: only the roles user and assistant, which take
 * turns, and lists of blocks as content. Nothing in them may have the role system.
 */
type TurnTaking = {
  readonly note: (record: JsonRecord, line: number) => void;
  /** Why the kept part may not begin at a line: a summary is a user's message, and an assistant's has to follow it. */
  readonly cutProblem: (entries: readonly Entry[]) => (line: number) => CutProblem;
};

export function createTurnTaking(): TurnTaking {
  const shapes = new Map<number, Shape>();
  return {
    note: (record, line) => shapes.set(line, shapeOf(record)),
    cutProblem: (entries) => {
      const messages = entries.filter(({ kind }) => kind === 'message' || kind === 'summary' || kind === 'instruction');
      const isOurs = isAnthropicStyle(messages.map(({ line }) => shapes.get(line) ?? 'other'));
      const sides = messages.map(({ role }) => role === 'assistant');
      if (!isOurs || sides.some((side, at) => at > 0 && side === sides[at - 1])) return () => null;
      const answers = new Set(messages.flatMap(({ line, role }) => (role === 'assistant' ? [line] : [])));
      return (line) =>
        answers.has(line) ? null : 'users and assistants take turns, and the summary is a user’s message';
    },
  };
}

/** Whether a summary between these messages is a user's. */
export function isAnthropicHistory(neighbors: readonly JsonRecord[]): boolean {
  return isAnthropicStyle(neighbors.map(shapeOf));
}

/** tools: blocks that make calls or answer them. blocks: others. text: no list. other: a role that Anthropic does not know. */
type Shape = 'tools' | 'blocks' | 'text' | 'other';

function shapeOf({ role, content }: JsonRecord): Shape {
  if (role !== 'user' && role !== 'assistant') return 'other';
  if (!isList(content)) return 'text';
  return content.some((block) => isRecord(block) && readToolBlock(block) !== null) ? 'tools' : 'blocks';
}

function isAnthropicStyle(shapes: readonly Shape[]): boolean {
  if (shapes.length === 0 || shapes.includes('other')) return false;
  return shapes.includes('tools') || !shapes.includes('text');
}

/** The text as a block of the kind that the neighbors have: Bedrock's have no type. */
export function textBlock(text: string, neighbors: readonly JsonRecord[]): Json {
  const isUntyped = neighbors.some(
    ({ content }) =>
      isList(content) && content.some((block) => isRecord(block) && 'text' in block && !('type' in block)),
  );
  return isUntyped ? { text } : { type: 'text', text };
}
