import type { Entry } from '../../../core/transcript.ts';
import type { CodecSession } from '../../../ports/codec.ts';
import { refuseDeepNesting } from '../deep-nesting.ts';
import { idAt, isRecord, stringAt } from '../json.ts';
import { findCuts, readContext } from './context.ts';
import { decodeNode } from './message.ts';
import { renderSummary } from './render.ts';
import { buildTree, type Tree } from './tree.ts';

/** Remembers of each conversation, by the line at which it begins, which node is the current one. */
export function createSession(): CodecSession {
  const currentIds = new Map<number, string>();
  const treeOf = (entries: readonly Entry[]): Tree => buildTree(entries, currentIds.get(entries[0]?.line ?? 0));
  return {
    decode: (value) => refuseDeepNesting('a message that is', () => decodeNode(value)),
    openList: (around, line) => {
      if (!isRecord(around)) return {};
      const current = stringAt(around, 'current_node');
      if (current !== undefined) currentIds.set(line, current);
      const conversation = idAt(around, 'conversation_id') ?? idAt(around, 'id');
      return conversation === undefined ? {} : { conversation };
    },
    readContext: (entries) => readContext(treeOf(entries), entries),
    legalCuts: (entries) => findCuts(treeOf(entries)),
    renderSummary,
  };
}
