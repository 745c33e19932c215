import type { Json } from '../../../ports/codec.ts';
import { isRecord, type JsonRecord, stringAt } from '../json.ts';

/** A member of a conversation's mapping. */
export type Node = {
  /** Its key: what other nodes name as their parent. */
  readonly id: string;
  /** null: a root. */
  readonly parentId: string | null;
  readonly message: JsonRecord | null;
};

/** A record `{key: node}`; null: it is no node. */
export function readNode(value: Json | undefined): Node | null {
  if (value === undefined || !isRecord(value)) return null;
  const [member] = Object.entries(value);
  if (member === undefined) return null;
  const [id, node] = member;
  if (!isRecord(node)) return { id, parentId: null, message: null };
  const { message } = node;
  return { id, parentId: stringAt(node, 'parent') ?? null, message: isRecord(message) ? message : null };
}
